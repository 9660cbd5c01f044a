"""What is one replica doing? Its process with all that came of it, from fork until nothing is left.

    starting ── exec ──> running ──┬─ stop ──> stopping ── grace over ──┐
        │                          │              └─ all gone ──────────┼──> gone
        └── exec failed ───────────┴─ main process ended ──> killing ───┘

In `stopping` everything of the tree may use its grace, also when the main process ended first: a shell dies at once of
the SIGTERM on which its child writes a checkpoint. In `killing` nothing may.
"""

from __future__ import annotations

import fcntl
import os
import signal

from quotatree.engines.local.host import process_tree
from quotatree.engines.local.host.identity import Identity, stat
from quotatree.engines.local.supervisor import spawn
from quotatree.engines.local.supervisor.loop import now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from quotatree.engines.local.host.cgroups import Group
    from quotatree.engines.local.supervisor.log_writer import ReplicaLog
    from quotatree.engines.local.supervisor.loop import Loop, Timer

STARTING, RUNNING, STOPPING, KILLING, GONE = "starting", "running", "stopping", "killing", "gone"

READ_BYTES = 256 * 1024
READS_A_TURN = 4
"""Reads from one replica before the others have their turn: endless output must not hold them up."""

BYTES_A_SECOND = 128 * 1024 * 1024
"""A replica that prints faster waits for us: output that is thrown away within the second is not worth a whole core."""

KILL_AGAIN_SECONDS = 0.01
LONGEST_KILL_AGAIN_SECONDS = 1.0
UNKILLABLE_SECONDS = 10.0
"""A process that survives SIGKILL that long hangs in the kernel, often in a driver, and keeps its devices till it ends."""


class Ended:
    """How a main process ended."""

    __slots__ = ("code", "signum", "why_not_started")

    def __init__(self, *, code: int = 0, signum: int = 0, why_not_started: str = "") -> None:
        self.code = code
        self.signum = signum
        self.why_not_started = why_not_started

    @property
    def well(self) -> bool:
        return not (self.code or self.signum or self.why_not_started)

    def words(self) -> str:
        if self.why_not_started:
            return self.why_not_started
        if self.signum:
            return f"was killed by signal {signal_name(self.signum)}"
        return f"exited with code {self.code}"


class Replica:
    """One life of a replica: when it is started again after a failure, that is another object with the same log."""

    def __init__(
        self,
        number: int,
        loop: Loop,
        log: ReplicaLog,
        *,
        group: Group | None,
        strays: Callable[[int], Iterable[int]],
        started: Callable[[Replica], None],
        gone: Callable[[Replica], None],
        notice: Callable[[str], None],
    ) -> None:
        """`strays` returns, for the number of a replica, the pids of the supervisor's children that it did not start itself
        and that may belong to this replica. `gone` is called once, when nothing is left.
        """
        self.number = number
        self.state = STARTING
        self.told = False  # to stop, by an order
        self.memory_mib = 0
        self.ran_out_of_memory = False
        self.ended: Ended | None = None
        self.identity: Identity | None = None
        self.port = 0
        self._loop = loop
        self._log = log
        self._group = group
        self._strays = strays
        self._on_started = started
        self._on_gone = gone
        self._notice = notice
        self._pidfd = self._output = self._exec_pipe = self._verdict = -1
        self._apart = False  # kept apart: its main process is the first of a pid namespace, above the program
        self._command: spawn.Command | None = None
        self._why_not_started = ""
        self._deadline: float | None = None
        self._timer: Timer | None = None
        self._allowance, self._second_began = BYTES_A_SECOND, now()
        self._reaped = False
        self._killing_since = 0.0

    # What the run's course may do

    def start(self, command: spawn.Command) -> None:
        """Start the command. Raises OSError when the machine has no room for another process; then nothing has happened."""
        self._command = command
        group = self._group
        spawned = spawn.spawn(
            command,
            join_limits=group.join if group is not None else _no_limits,
            adopts=group is None,
        )
        try:
            self.identity = Identity.of(spawned.pid)
            self._pidfd = os.pidfd_open(spawned.pid)
        except OSError:  # no further file can be opened: a process that cannot be watched may not run
            spawned.undo()
            raise
        self._output, self._exec_pipe, self._verdict = spawned.output, spawned.exec_pipe, spawned.verdict
        self._apart = spawned.verdict >= 0
        self._loop.watch(self._pidfd, self._main_ended)
        self._loop.watch(self._output, self._read_output)
        self._loop.watch(self._exec_pipe, self._exec_known)
        if self._apart:
            self._loop.watch(self._verdict, self._verdict_known)

    def stop(self, grace_seconds: float) -> None:
        """Send SIGTERM to all processes, and SIGKILL to those left after the grace. A second call can only shorten it."""
        if self.state in (KILLING, GONE):
            return
        deadline = now() + grace_seconds
        if self._deadline is not None and self._deadline <= deadline:
            return
        self._deadline = deadline
        if self.state != STOPPING:
            self.state = STOPPING
            self._terminate()
        self._set_timer(deadline, self.kill)

    def kill(self) -> None:
        """Kill all processes of the replica at once."""
        if self.state == GONE:
            return
        self.state = KILLING
        self.look()

    @property
    def ended_well_by_itself(self) -> bool:
        """Whether the main process succeeded without being told to stop; what it left may still be in the midst of a kill."""
        return self.state in (KILLING, GONE) and not self.told and self.ended is not None and self.ended.well

    @property
    def alive(self) -> bool:
        return self.state != GONE

    def in_its_group(self) -> set[int]:
        """Pids in the replica's control group, which surely belong to it; empty without a group."""
        return set() if self._group is None else {process.pid for process in self._group.processes()}

    def never_began(self, ended: Ended) -> None:
        """End the replica when no process could be started for it."""
        if self._group is not None:
            self._group.remove()
        self.ended = ended
        self.state = GONE
        self._loop.after(0, lambda: self._on_gone(self))

    # What the supervisor sees

    def look(self) -> None:
        """End the replica if no process of it is left; in `killing`, kill those that are. Called when any child ended."""
        if self.state == KILLING:
            if left := self._kill_all():
                self._kill_again(left)
                return
        elif self.state != STOPPING or self.ended is None or self._remains():
            return
        if self.ended is not None:
            self._over()

    def _main_ended(self) -> None:
        # Not reaped yet: as long as its pid is taken, its process group cannot be another program's.
        assert self.identity is not None
        result = os.waitid(os.P_PID, self.identity.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if result is None:
            return
        self._loop.unwatch(self._pidfd)
        self._verdict_known()
        if self.ended is not None:  # the program ended before the first process of its namespace
            self.look()
        elif result.si_code == os.CLD_EXITED:
            self._program_ended(Ended(code=result.si_status))
        else:
            self._program_ended(Ended(signum=result.si_status))

    def _verdict_known(self) -> None:
        """Hear how a program that is kept apart ended; others of its namespace may still run."""
        if self._verdict < 0:
            return
        said = os.read(self._verdict, 100).decode()
        self._loop.unwatch(self._verdict)
        os.close(self._verdict)
        self._verdict = -1
        if said:
            code = os.waitstatus_to_exitcode(int(said))
            self._program_ended(Ended(code=code) if code >= 0 else Ended(signum=-code))

    def _program_ended(self, how: Ended) -> None:
        self._exec_known()
        self.ended = Ended(why_not_started=self._why_not_started) if self._why_not_started else how
        self.ran_out_of_memory = self._group is not None and self._group.out_of_memory()
        if self.state == STOPPING:
            self.look()
        else:
            self.kill()

    def _exec_known(self) -> None:
        if self._exec_pipe < 0:
            return
        said = os.read(self._exec_pipe, 200).decode()
        self._loop.unwatch(self._exec_pipe)
        os.close(self._exec_pipe)
        self._exec_pipe = -1
        if said:
            step, code = said.split()
            assert self._command is not None
            self._why_not_started = spawn.failure(step, int(code), self._command)
            return  # it is about to end, and has ended only when the kernel says so
        if self.state == STARTING:
            self.state = RUNNING
        self._on_started(self)

    def _read_output(self) -> None:
        for _ in range(READS_A_TURN):
            try:
                data = os.read(self._output, READ_BYTES)
            except BlockingIOError:
                break
            if not data:  # it closed its output, and goes on for all we know
                self._close_output()
                return
            self._log.add(data)
            self._allowance -= len(data)
        if self._allowance <= 0:
            self._wait_with_reading()

    def _wait_with_reading(self) -> None:
        """Stop reading until the second is over in which the replica printed all it may; then the next second begins."""
        over = self._second_began + 1.0
        if now() < over:
            self._loop.unwatch(self._output)
            self._loop.at(over, self._read_again)
        self._second_began, self._allowance = max(now(), over), BYTES_A_SECOND

    def _read_again(self) -> None:
        if self._output >= 0:
            self._loop.watch(self._output, self._read_output)

    # Signals and the end

    def _terminate(self) -> None:
        """Send SIGTERM to each process once: to some programs a second one means "at once"."""
        assert self.identity is not None
        # Found before the first signal: the children of a process that dies of it become ours, and are not looked for there yet.
        found = [(process, stat(process.pid)) for process in self._remains()]
        grouped = self.identity.pid if self.ended is None and self._signal_group(signal.SIGTERM) else 0
        for process, known in found:
            if known is not None and known.group != grouped:
                process.send(signal.SIGTERM)

    def _signal_group(self, signum: int) -> bool:
        """Signal the process group. False if it has no process: all are gone, or the main process has not made it yet."""
        assert self.identity is not None
        try:
            os.killpg(self.identity.pid, signum)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def _kill_all(self) -> int:
        """Kill every process of the replica; return how many were still there."""
        assert self.identity is not None
        if not self._reaped:
            self._signal_group(signal.SIGKILL)
        left = process_tree.kill(self._roots())
        if self._group is not None:
            left += self._group.kill()
        return left

    def _kill_again(self, left: int) -> None:
        self._killing_since = self._killing_since or now()
        lasting = now() - self._killing_since
        if lasting > UNKILLABLE_SECONDS:
            self._notice(f"replica {self.number}: {left} of its processes do not die and are waited for")
        wait = min(max(KILL_AGAIN_SECONDS, lasting / 4), LONGEST_KILL_AGAIN_SECONDS)
        self._set_timer(now() + wait, self.look)

    def _remains(self) -> list[Identity]:
        found = process_tree.below(self._roots())
        if self._group is not None:
            known = {process.pid for process in found}
            found += [p for p in self._group.processes() if p.pid not in known]
        return found

    def _roots(self) -> list[int]:
        assert self.identity is not None
        if self.ended is None or self._apart:
            return [self.identity.pid]
        return list(self._strays(self.number))

    def _over(self) -> None:
        assert self.identity is not None
        if self._timer is not None:
            self._timer.cancel()
        self._drain()
        self._loop.unwatch(
            self._pidfd
        )  # a verdict may come first: then its end is not to be looked at any more
        os.waitid(os.P_PID, self.identity.pid, os.WEXITED | os.WNOHANG)
        self._reaped = True
        os.close(self._pidfd)
        if self._group is not None:
            self._group.remove()
        self.state = GONE
        self._on_gone(self)

    def _drain(self) -> None:
        """Read what the replica printed before it ended and is still in the pipe: at most a pipe full.

        Anything beyond that is being written now, by a process that is not of the replica and was given its output.
        """
        if self._output < 0:
            return
        left = fcntl.fcntl(self._output, fcntl.F_GETPIPE_SZ)
        while left > 0:
            try:
                data = os.read(self._output, min(left, READ_BYTES))
            except BlockingIOError:
                break
            if not data:
                break
            self._log.add(data)
            left -= len(data)
        self._close_output()

    def _close_output(self) -> None:
        self._loop.unwatch(self._output)
        os.close(self._output)
        self._output = -1

    def _set_timer(self, at: float, call: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.at(at, call)


def signal_name(signum: int) -> str:
    try:
        return signal.Signals(signum).name.removeprefix("SIG")
    except ValueError:
        return str(signum)


def _no_limits() -> None:
    """Stands for `Group.join` where no control group could be had."""
