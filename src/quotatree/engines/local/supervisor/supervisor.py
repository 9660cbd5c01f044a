"""Who watches over the processes of one run when nobody else may be there? One small process that outlives the server.

It reads its orders from a file, runs replicas, and writes what happened to its journal; files are all that connects it
with the engine. What the events mean for the run is the course's business (`course.py`).

    python -I -S -c "import sys; sys.path.insert(0, SOURCE);
                     from quotatree.engines.local.supervisor.supervisor import main; main()" RUN_DIRECTORY [LOCK_FD]

LOCK_FD is the open lock of the run, taken by the engine and inherited (`birth.py`).

On stdin: one line of JSON with the secrets. Without a whole line it ends and leaves no trace.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import traceback

from quotatree.engines.local.files import journal
from quotatree.engines.local.files.layout import RunDir
from quotatree.engines.local.host import cgroups, environment, open_files, users
from quotatree.engines.local.host.identity import Identity, boot_id
from quotatree.engines.local.supervisor import address, spawn
from quotatree.engines.local.supervisor.chronicle import Chronicle
from quotatree.engines.local.supervisor.log_writer import ReplicaLog
from quotatree.engines.local.supervisor.loop import Loop
from quotatree.engines.local.supervisor.replica import Ended, Replica
from quotatree.engines.local.supervisor.replica_command import Commands
from quotatree.engines.local.supervisor.strays import Strays
from quotatree.engines.local.supervisor.training import Training

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from quotatree.engines.local.files.journal import Entry
    from quotatree.engines.local.supervisor.course import Course, Order
    from quotatree.engines.local.supervisor.replica_command import Arguments


LOOK_SECONDS = 1.0
"""How often orders and the checkpoint file are looked at unasked, in case a signal was lost."""

LOOKS_AWAY = 3
"""A run whose directory is not found so often in a row has none any more: it can neither get orders nor report."""

DEFAULT_LOG_MIB = 10


def main(arguments: list[str] | None = None) -> None:
    told = sys.argv[1:] if arguments is None else arguments
    lock = int(told[1]) if len(told) > 1 else None
    if lock is not None:
        os.set_inheritable(lock, False)  # first of all: no process of ours may hold it when we are gone
    open_files.allow_many()
    secrets = read_secrets(0)
    if secrets is not None:
        supervise(RunDir(told[0]), secrets, lock)


def born(run_dir: str, secrets: Mapping[str, str], lock: int | None = None) -> None:
    """Supervise a run in a fork of the nursery, with the run's lock if the engine gave it. Never returns."""
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        supervise(RunDir(run_dir), secrets, lock)
        code = 0
    finally:
        os._exit(code)


def warm_up() -> None:
    """Load and find out what every supervisor needs and is the same for all, before they are forked."""
    import quotatree.engines.local.supervisor.notebook
    import quotatree.engines.local.supervisor.service  # noqa: F401 — only loaded, so that all share them

    boot_id()
    cgroups.find_hierarchies()
    users.find(None)
    address.first_outgoing_port()


def read_secrets(fd: int) -> dict[str, str] | None:
    """The secrets, read as one line of JSON; None if the sender died before the line was whole."""
    raw = b""
    while part := os.read(fd, 65536):
        raw += part
    if not raw.endswith(b"\n"):
        return None
    told = json.loads(raw)["secrets"]
    return {str(name): str(value) for name, value in told.items()}


def supervise(run_dir: RunDir, secrets: Mapping[str, str], lock: int | None = None) -> None:
    """Supervise a run until it is over. Returns at once if another process does, or one did before."""
    os.umask(0o077)
    os.chdir("/")
    if lock is None:
        lock = os.open(run_dir.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # no matter if we were born with it
    except BlockingIOError:
        return
    if journal.read(run_dir.journal)[0]:
        return  # it was supervised before: what ran then is lost and not begun again
    with open(run_dir.spec, encoding="utf-8") as file:
        spec = json.load(file)
    spawn.become_subreaper()
    try:
        Supervisor(run_dir, spec, secrets, lock).run()
    except BaseException:
        # Our processes die with us. The engine ends the run, and takes the reason from what is written here.
        with open(run_dir.crash, "a", encoding="utf-8") as file:
            traceback.print_exc(file=file)
        raise


class Supervisor:
    """The facts of a run and what can be done about it. Courses use all that is public."""

    def __init__(
        self, run_dir: RunDir, spec: dict[str, Any], secrets: Mapping[str, str], lock: int = -1
    ) -> None:
        """`lock`: the open lock of the run, by which a directory that was moved or removed is noticed; -1: not watched."""
        self.run_dir = run_dir
        self.spec = spec
        self.program: dict[str, Any] = spec["program"]
        self.grace_seconds = spec["grace_ms"] / 1000
        self.loop = Loop()
        self.replicas: dict[int, Replica] = {}
        self.wanted: dict[int, Order] = {}  # ordered to run, and not told to stop
        self.own_children: set[int] = set()  # pids of helpers that belong to no replica
        self._lock = lock
        self._looks_away = 0
        self._chronicle = Chronicle(run_dir, str(spec["job"]), int(spec["run"]))
        self._strays = Strays(self.replicas, self.own_children, self._mark)
        self._groups = cgroups.find(str(spec["engine"])) if spec.get("limits", True) else cgroups.NONE
        self._logs: dict[int, ReplicaLog] = {}
        self._orders_offset = 0
        self._concluded = False
        self._lost = ""  # why the run ends, if by no order
        self._failed = ""  # why the run has failed, if the engine said so
        self._checkpoint_file = run_dir.job.checkpoint_file
        self._checkpoint_seen = _touched(self._checkpoint_file)
        self.ports = address.Ports(run_dir.engine.ports)
        self._meeting_port = 0  # of the ranks of this attempt
        self._commands = Commands(run_dir, spec, secrets)
        self._course = _course(self)

    def run(self) -> None:
        identity = Identity.of(os.getpid())
        assert identity is not None
        self.loop.on_signal(signal.SIGUSR1, self._read_orders)
        self.loop.on_signal(signal.SIGCHLD, self._child_ended)
        for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self.loop.on_signal(signum, self._told_to_end)
        # Only now: the engine may signal us as soon as it reads this line.
        self.journal_add({"is": "supervising", **identity.fields()})
        self.new_attempt()
        self._look()
        while not self._concluded or self._chronicle.behind:
            self._chronicle.tell()
            self.loop.turn()
        self._chronicle.tell()
        self._groups.tidy()

    # For courses: processes

    def launch(self, order: Order, *, port: int = 0, command: Arguments | None = None) -> Replica | None:
        """Start a process for this replica. None if the machine could not; the course then hears of it by `gone`."""
        number = int(order["replica"])
        port = port or int(self.program.get("port") or 0) or self.ports.choose()
        log = self._log(number)
        group, unlimited = self._groups.make(self._group_name(number), order)
        if unlimited and self.spec.get("limits", True):
            self.notice(unlimited)
        replica = Replica(
            number,
            self.loop,
            log,
            group=group,
            strays=self._strays.of,
            started=self._course.started,
            gone=self._gone,
            notice=self.notice,
        )
        replica.port = port
        replica.memory_mib = int(order.get("memory_mib") or 0)
        self.replicas[number] = replica
        try:
            replica.start(self._commands.of(order, port, self._meeting_port, command))
        except (OSError, LookupError) as error:
            replica.never_began(Ended(why_not_started=f"cannot be started: {_words(error)}"))
            return None
        assert replica.identity is not None
        paths = group.paths if group is not None else []
        identity = replica.identity.fields()
        self.journal_add({"is": "started", "replica": number, "port": port, "groups": paths, **identity})
        return replica

    def new_attempt(self) -> None:
        """Choose a new port for the ranks to meet at: the old one may not be free yet."""
        old, self._meeting_port = self._meeting_port, self.ports.choose()
        self.ports.release(old)

    # For courses: what happened

    def confirm(self, replica: int) -> None:
        self._chronicle.confirm(replica)

    def left(self, replica: int) -> None:
        """Report that a replica that was told to stop is gone."""
        if self.wanted.pop(replica, None) is not None:
            self._chronicle.left(replica)

    def exited(self, outcome: str, detail: str) -> None:
        self._conclude({"is": "exited", "outcome": outcome, "detail": detail})

    def over(self) -> None:
        """End the run: all replicas were told to stop and have left."""
        if self._failed:
            self.exited("failed", self._failed)
        elif self._lost:
            self._conclude({"is": "lost", "detail": self._lost})
        else:
            self._conclude({"is": "over"})

    def notice(self, text: str) -> None:
        """Write down something that the owner of the job should know, unless it was said before."""
        self._chronicle.notice(text)

    def tell_load(self, in_flight_milli: int, span_ms: int) -> None:
        """Tell the engine how many requests were in flight on average. Nobody need hear it: the next figure follows soon."""
        self._chronicle.tell_load(in_flight_milli, span_ms)

    def journal_add(self, entry: Entry) -> None:
        self._chronicle.add(entry)

    # Events

    def _look(self) -> None:
        self.loop.after(LOOK_SECONDS, self._look)
        self._read_orders()
        self._see_checkpoint()
        self._see_directory()

    def _read_orders(self) -> None:
        entries, self._orders_offset = journal.read(self.run_dir.orders, self._orders_offset)
        for entry in entries:
            if self._concluded:
                return
            self._obey(entry)

    def _obey(self, entry: Entry) -> None:
        match entry.get("do"):
            case "start":
                new = [order for order in entry["replicas"] if int(order["replica"]) not in self.wanted]
                self.wanted.update({int(order["replica"]): order for order in new})
                self._course.start(new)
            case "stop":
                asked = entry.get("replicas")
                numbers = [n for n in self.wanted if asked is None or n in asked]
                self._course.stop(numbers, entry["grace_ms"] / 1000)
            case "fail":
                self._failed = str(entry["detail"])
                self._course.stop(list(self.wanted), self.grace_seconds)
            case _:
                self._course.order(entry)

    def _told_to_end(self) -> None:
        """Stop all replicas, with their grace: a signal told us to end, perhaps because the machine goes down."""
        self._lost = "its supervisor was told by a signal to end"
        self._course.stop(list(self.wanted), self.grace_seconds)

    def _see_directory(self) -> None:
        """Stop the run once its directory was moved or removed: a server with another directory gives our GPUs to others."""
        self._looks_away = (
            0 if self._lock < 0 or _leads_to(self.run_dir.lock, self._lock) else self._looks_away + 1
        )
        if self._looks_away == LOOKS_AWAY:
            removed = (
                os.fstat(self._lock).st_nlink == 0
            )  # and its checkpoints with it: there is nothing to save
            self._lost = "its directory was removed" if removed else "its directory was moved"
            self._course.stop(list(self.wanted), 0.0 if removed else self.grace_seconds)

    def _child_ended(self) -> None:
        self._strays.reap()
        for replica in list(self.replicas.values()):
            if replica.alive:
                replica.look()

    def _gone(self, replica: Replica) -> None:
        self._strays.reap()
        self.ports.release(replica.port)
        self._see_checkpoint()
        self._course.gone(replica)

    def _see_checkpoint(self) -> None:
        touched = _touched(self._checkpoint_file)
        if touched is not None and touched != self._checkpoint_seen:
            self._checkpoint_seen = touched
            self.journal_add({"is": "checkpoint"})

    def _conclude(self, entry: Entry) -> None:
        self._see_checkpoint()
        self._concluded = True
        for log in self._logs.values():
            log.close()
        self.journal_add(entry)

    # What belongs to a replica by its number

    def _log(self, number: int) -> ReplicaLog:
        log = self._logs.get(number)
        if log is None:
            limit_bytes = int(self.program.get("log_mib", DEFAULT_LOG_MIB)) * 1024 * 1024
            log = ReplicaLog(
                self.run_dir.replica_logs(number),
                limit_bytes,
                trouble=lambda text: self.notice(f"replica {number}: {text}"),
            )
            self._logs[number] = log
        return log

    def _mark(self, number: int) -> str:
        return environment.mark(
            str(self.spec["engine"]), str(self.spec["job"]), int(self.spec["run"]), number
        )

    def _group_name(self, number: int) -> str:
        return cgroups.group_name(str(self.spec["job"]), int(self.spec["run"]), number)


def _course(supervisor: Supervisor) -> Course:
    """The course for the run's module. Only what a run needs is imported: most are training runs."""
    module = supervisor.spec["module"]
    if module == "EAS":
        from quotatree.engines.local.supervisor.service import Service

        return Service(supervisor)
    if module == "DSW":
        from quotatree.engines.local.supervisor.notebook import Notebook

        return Notebook(supervisor)
    return Training(supervisor)


def _touched(path: str) -> int | None:
    """When the file was last modified, in ns; None if it is missing. Links are not followed: the job may put one there."""
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return None


def _leads_to(path: str, fd: int) -> bool:
    """Whether the path leads to this open file; True also if that cannot be found out just now."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(fd))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _words(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


if __name__ == "__main__":
    main()
