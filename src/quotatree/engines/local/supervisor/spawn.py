"""How does a replica's process come to life? Fork, become what it shall be, exec; what goes wrong is said by step.

It gets its own session and process group, the run's user, a working directory, one pipe for all it prints, and it dies
with its supervisor. Whether exec came about is known by a pipe that exec closes: end of file is success, and anything
else is the step that failed.

A command with a view is kept apart (`sandbox.py`): the process that is forked is the first of a pid namespace, and the program
its child (`first_process.py`).
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import signal
import warnings  # noqa: F401 - execvpe wants it, and after the change of user our library may be out of reach

from quotatree.engines.local.host import open_files, sandbox, users
from quotatree.engines.local.supervisor import first_process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from quotatree.engines.local.host.sandbox import View
    from quotatree.engines.local.host.users import User

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
JOB_UMASK = 0o022

_libc = ctypes.CDLL(None, use_errno=True)


class Spawned:
    __slots__ = ("exec_pipe", "output", "pid", "verdict")

    def __init__(self, pid: int, output: int, exec_pipe: int, verdict: int) -> None:
        self.pid = pid
        self.output = output  # read end, not blocking
        self.exec_pipe = exec_pipe  # ends with exec, or says why there was none
        self.verdict = verdict  # says how a program that is kept apart ended; -1: it is not kept apart

    def undo(self) -> None:
        """Kill the process and close its pipes, as if it had never been."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        for fd in (self.output, self.exec_pipe, self.verdict):
            if fd >= 0:
                os.close(fd)


class Command:
    """What to run, and as which user; with a view, kept apart."""

    __slots__ = ("arguments", "environment", "user", "view", "workdir")

    def __init__(
        self,
        arguments: list[str],
        environment: dict[str, str],
        workdir: str,
        user: User,
        view: View | None = None,
    ) -> None:
        self.arguments = arguments
        self.environment = environment
        self.workdir = workdir
        self.user = user
        self.view = view


class _Pipes:
    """The pipes between a supervisor and a replica's process; each end is closed once."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.read: dict[str, int] = {}
        self.write: dict[str, int] = {}
        try:
            for name in names:
                self.read[name], self.write[name] = os.pipe2(os.O_CLOEXEC)
        except OSError:
            self.close(self.read)
            self.close(self.write)
            raise

    @staticmethod
    def close(ends: dict[str, int]) -> None:
        while ends:
            os.close(ends.popitem()[1])


def become_subreaper() -> None:
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def spawn(command: Command, *, join_limits: Callable[[], None], adopts: bool) -> Spawned:
    """Start a process. Raises OSError if there can be no further one.

    `join_limits` runs in the child while it still has our rights. `adopts`: orphans below the process become its
    children and not ours, so that they are known to belong to it as long as it lives.
    """
    pipes = _Pipes(("output", "exec") if command.view is None else ("output", "exec", "verdict"))
    parent = os.getpid()
    leave = _same_namespace
    # Blocked, so that no signal finds the child with our handlers; what comes meanwhile is delivered once they are reset.
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        if command.view is not None:
            leave = sandbox.new_pid_namespace()
        try:
            pid = os.fork()
            if pid == 0:
                _in_child(command, parent, pipes, join_limits, adopts)
        finally:
            leave()
    except OSError:
        pipes.close(pipes.read)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        pipes.close(pipes.write)
    os.set_blocking(pipes.read["output"], False)
    return Spawned(pid, pipes.read["output"], pipes.read["exec"], pipes.read.get("verdict", -1))


def _same_namespace() -> None:
    """Stands for the way back from a new namespace where none was made."""


def failure(step: str, code: int, command: Command) -> str:
    """Why a start failed, in words for the user who submitted the job. `code` is the errno, 0 if there was none."""
    name, why = command.arguments[0], os.strerror(code) if code else "its arguments or variables are no text"
    if step == "exec" and code == errno.ENOENT:
        if "/" in name and os.path.exists(os.path.join(command.workdir, name)):
            return f"command not found: the interpreter that {name} names in its first line"
        return f"command not found: {name}"
    if step == "exec":
        return f"command cannot be run: {name}: {why}"
    if step == "workdir":
        return f"working directory cannot be used: {command.workdir}: {why}{_whose(command)}"
    if step == "apart":
        return f"cannot be kept apart from other jobs on this machine: {why}"
    if step == "user":
        return f"cannot run as user {command.user.name}: {why}"
    return f"cannot be started ({step}): {why}"


def _whose(command: Command) -> str:
    """Words on the owner of the working directory, "" if it is the job's user or unknown.

    Most often the server was given another user since the directory was made.
    """
    try:
        owner = os.stat(command.workdir).st_uid
    except OSError:
        return ""
    if owner == command.user.uid:
        return ""
    return f" (it belongs to {users.name_of(owner)}, and jobs run as {command.user.name})"


def _in_child(
    command: Command,
    parent: int,
    pipes: _Pipes,
    join_limits: Callable[[], None],
    adopts: bool,
) -> None:
    """Become the command, in the forked child; never returns. A step that fails is written to the pipe for exec."""
    step, told = "session", pipes.write["exec"]
    try:
        signal.set_wakeup_fd(-1)
        pipes.close(pipes.read)  # else we would never see that the supervisor has closed its ends
        os.setsid()
        step = "output"
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(pipes.write["output"], 1)
        os.dup2(pipes.write["output"], 2)
        step = "limits"
        join_limits()
        open_files.as_usual()
        if command.view is not None:
            step = "apart"
            sandbox.enter(command.view, command.user)
            sandbox.give_up_privileges()
        step = "user"
        command.user.become()
        step = "death"
        if adopts:
            prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # after the change of user, which takes it back
        if _is_orphan(command, parent, told):
            os._exit(127)  # the supervisor died before the kernel knew of our wish
        if command.view is not None:
            step = "apart"
            program = os.fork()
            if program != 0:
                first_process.watch(program, pipes.write["verdict"])
        step = "workdir"
        os.umask(JOB_UMASK)
        os.chdir(command.workdir)
        step = "exec"
        _as_if_never_touched()
        os.execvpe(command.arguments[0], command.arguments, command.environment)
    except OSError as error:
        os.write(told, f"{step} {error.errno or 0}".encode())
    except BaseException:
        os.write(told, f"{step} 0".encode())
    os._exit(127)


def _is_orphan(command: Command, parent: int, told: int) -> bool:
    """Whether the supervisor is gone. In a pid namespace it has no pid for us, but nobody else reads what we tell."""
    if command.view is None:
        return os.getppid() != parent
    poll = select.poll()
    poll.register(told, 0)
    return bool(poll.poll(0))


def _as_if_never_touched() -> None:
    """Reset signals to what a fresh process has, and only then let in those that came meanwhile.

    Python ignores SIGPIPE, the program that started the server may have ignored more, and a SIGTERM that met a handler
    of ours would be swallowed: the job would never get it.
    """
    for signum in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if signal.getsignal(signum) is not signal.SIG_DFL:
            signal.signal(signum, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def prctl(option: int, value: int) -> None:
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
