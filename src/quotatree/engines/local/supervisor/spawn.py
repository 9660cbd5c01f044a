"""How does a replica's process come to life? Fork, become what it shall be, exec; what goes wrong is said by step.

It gets its own session and process group, the run's user, a working directory, one pipe for all it prints, and it dies
with its supervisor. Whether exec came about is known by a pipe that exec closes: end of file is success, and anything
else is the step that failed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import warnings  # noqa: F401 - execvpe wants it, and after the change of user our library may be out of reach

from quotatree.engines.local.host import open_files, users

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from quotatree.engines.local.host.users import User

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
JOB_UMASK = 0o022

_libc = ctypes.CDLL(None, use_errno=True)


class Spawned:
    __slots__ = ("exec_pipe", "output", "pid")

    def __init__(self, pid: int, output: int, exec_pipe: int) -> None:
        self.pid = pid
        self.output = output  # read end, not blocking
        self.exec_pipe = exec_pipe  # ends with exec, or says why there was none

    def undo(self) -> None:
        """Kill the process and close its pipes, as if it had never been."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.output)
        os.close(self.exec_pipe)


class Command:
    """What to run, and as which user."""

    __slots__ = ("arguments", "environment", "user", "workdir")

    def __init__(self, arguments: list[str], environment: dict[str, str], workdir: str, user: User) -> None:
        self.arguments = arguments
        self.environment = environment
        self.workdir = workdir
        self.user = user


def become_subreaper() -> None:
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def spawn(command: Command, *, join_limits: Callable[[], None], adopts: bool) -> Spawned:
    """Start a process. Raises OSError if there can be no further one.

    `join_limits` runs in the child while it still has our rights. `adopts`: orphans below the process become its
    children and not ours, so that they are known to belong to it as long as it lives.
    """
    output_read, output_write = os.pipe2(os.O_CLOEXEC)
    try:
        exec_read, exec_write = os.pipe2(os.O_CLOEXEC)
    except OSError:
        os.close(output_read)
        os.close(output_write)
        raise
    parent = os.getpid()
    # Blocked, so that no signal finds the child with our handlers; what comes meanwhile is delivered once they are reset.
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        pid = os.fork()
        if pid == 0:
            _in_child(command, parent, output_write, exec_write, join_limits, adopts)
    except OSError:
        os.close(output_read)
        os.close(exec_read)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        os.close(output_write)
        os.close(exec_write)
    os.set_blocking(output_read, False)
    return Spawned(pid, output_read, exec_read)


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
    output: int,
    told: int,
    join_limits: Callable[[], None],
    adopts: bool,
) -> None:
    """Become the command, in the forked child; never returns. A step that fails is written to `told`."""
    step = "session"
    try:
        signal.set_wakeup_fd(-1)
        os.setsid()
        step = "output"
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        step = "limits"
        join_limits()
        open_files.as_usual()
        step = "user"
        command.user.become()
        step = "death"
        if adopts:
            prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # after the change of user, which takes it back
        if os.getppid() != parent:
            os._exit(127)  # the supervisor died before the kernel knew of our wish
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
