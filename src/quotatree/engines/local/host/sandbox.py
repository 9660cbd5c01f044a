"""What of the machine does a job see? Its own processes, files and shared memory, and nothing of another workspace.

A job that is kept apart has a pid namespace of its own (it sees and signals nobody else), an IPC namespace, and a mount
namespace in which the engine's directory holds only what is the job's own, and /tmp and shared memory are private. The
network is the machine's: services, notebooks and ranks meet on loopback.

    leave = new_pid_namespace()    # in the supervisor: the next fork is the first process of a new namespace
    ...fork...
    leave()
    enter(view, user)              # in that process, while it is still root

Plain system calls, since root needs no helper for them (ADR 0035). What a kernel or a container does not permit is found
out by `main`, in a process of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from quotatree.engines.local.host.users import User

NEW_MOUNTS = 0x00020000
NEW_IPC = 0x08000000
NEW_PIDS = 0x20000000

NO_SUID, NO_DEVICES, NO_EXEC, BIND, RECURSIVE, PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
PR_SET_NO_NEW_PRIVS = 38

SHARED = ("/tmp", "/var/tmp")
"""Places where everybody may write; a job kept apart has one of its own there."""
SHARED_MEMORY = ("/dev/shm", "/run/lock")

_libc = ctypes.CDLL(None, use_errno=True)


class View:
    """What a job sees of the file system.

    `hidden`: directories that look empty to it. `own`: what it sees of them nevertheless, with the rights it has there.
    `scratch`: what is /tmp for it. `wished`: directories that it may reach by itself and that stay where they are.
    """

    __slots__ = ("hidden", "own", "scratch", "wished")

    def __init__(self, hidden: list[str], own: list[str], scratch: str, wished: list[str]) -> None:
        self.hidden = hidden
        self.own = own
        self.scratch = scratch
        self.wished = wished


def new_pid_namespace() -> Callable[[], None]:
    """Let the next process that is forked be the first of a new pid namespace; call what is returned after the fork."""
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def leave() -> None:
        try:
            _check(_libc.setns(own, NEW_PIDS))
        finally:
            os.close(own)

    try:
        _check(_libc.unshare(NEW_PIDS))
    except OSError:
        os.close(own)
        raise
    return leave


def enter(view: View, user: User) -> None:
    """Make this process, and all that come of it, see no more than the view. For root, in a new pid namespace."""
    os.umask(0o022)  # what is made here must let the job pass
    _check(_libc.unshare(NEW_MOUNTS | NEW_IPC))
    _mount(None, "/", None, RECURSIVE | PRIVATE)
    hidden = [os.path.realpath(path) for path in view.hidden]
    covered = [place for place in SHARED if os.path.isdir(place) and not os.path.islink(place)]
    # Opened before anything is covered: afterwards these paths lead elsewhere.
    kept = [(path, _directory(os.path.realpath(own))) for own in view.own for path in _names(own, hidden[0])]
    with _Rights(user):  # what others have closed to the user stays closed
        for path in map(os.path.realpath, view.wished):
            if any(_is_below(path, place) for place in covered) and not any(
                _is_below(path, place) for place in hidden
            ):
                with contextlib.suppress(
                    OSError
                ):  # then it is not there for the job, and that is said where it is used
                    kept.append((path, _directory(path)))
    scratch = _directory(view.scratch)
    for place in covered:
        _mount(_path(scratch), place, None, BIND)
    for place in SHARED_MEMORY:
        if os.path.isdir(place) and not os.path.islink(place):
            _mount("tmpfs", place, "tmpfs", NO_SUID | NO_DEVICES, "mode=1777")
    if os.path.isdir("/dev/mqueue"):
        _mount("mqueue", "/dev/mqueue", "mqueue", NO_SUID | NO_DEVICES | NO_EXEC)
    for path in hidden:
        _mount("tmpfs", _path(_made(path)), "tmpfs", NO_SUID | NO_DEVICES, "mode=755,size=1m")
    for path, directory in kept:
        _mount(_path(directory), _path(_made(path)), None, BIND | RECURSIVE)
    _mount("proc", "/proc", "proc", NO_SUID | NO_DEVICES | NO_EXEC)


def give_up_privileges() -> None:
    """Let neither this process nor what it executes gain rights by set-user-id programs."""
    _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def main() -> None:
    """Try whether namespaces can be made; exit 0 if so, else say why not."""
    try:
        leave = new_pid_namespace()
        pid = os.fork()
        if pid == 0:
            _try_mounts()
        leave()
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code:
            sys.exit(f"mount and IPC namespaces: {os.strerror(code)}")
    except OSError as error:
        sys.exit(f"pid namespaces: {error.strerror}")


def _try_mounts() -> None:
    try:
        _check(_libc.unshare(NEW_MOUNTS | NEW_IPC))
        _mount(None, "/", None, RECURSIVE | PRIVATE)
        _mount("proc", "/proc", "proc", NO_SUID | NO_DEVICES | NO_EXEC)
    except OSError as error:
        os._exit(error.errno or 1)
    os._exit(0)


class _Rights:
    """While it lasts, files are opened with the rights of a user."""

    def __init__(self, user: User) -> None:
        self._user = user
        self._groups = os.getgroups()

    def __enter__(self) -> None:
        os.setgroups(self._user.groups())
        os.setegid(self._user.gid)
        os.seteuid(self._user.uid)

    def __exit__(self, *_: object) -> None:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(self._groups)


def _directory(path: str) -> int:
    return os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _made(path: str) -> int:
    """Open a directory, and make what of its path is missing. Links are not followed: the job may have put them there."""
    found = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    for name in path.split("/")[1:]:
        above = found
        try:
            found = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):  # another replica was faster
                os.mkdir(name, 0o755, dir_fd=above)
            found = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
        finally:
            os.close(above)
    return found


def _names(path: str, engine: str) -> list[str]:
    """The paths by which a job knows a directory of its own: where it lies, and below the engine's, if a link led there."""
    real = os.path.realpath(path)
    above, _, below = path.rpartition("/jobs/")
    linked = f"{engine}/jobs/{below}" if below and os.path.realpath(above) == engine else real
    return list(dict.fromkeys([real, linked]))


def _is_below(path: str, place: str) -> bool:
    return path.startswith(f"{place}/")


def _path(fd: int) -> str:
    return f"/proc/self/fd/{fd}"


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str = "") -> None:
    _check(_libc.mount(_bytes(source), _bytes(target), _bytes(kind), flags, _bytes(options or None)), target)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else os.fsencode(text)


def _check(result: int, path: str | None = None) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), path)
