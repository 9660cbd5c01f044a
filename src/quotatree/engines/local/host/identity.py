"""Is this still the process we mean? A pid is used again; (pid, start time, boot) never is.

Signals go through a pidfd that is opened first and compared afterwards: between the two the number cannot change hands.
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

GONE_STATES = frozenset("ZXx")
"""States of ended processes. Zombies run nothing and hold nothing; their parent may be slow to wait for them."""


class Identity:
    """One process, never confused with another. `started` is in clock ticks since boot, as the kernel keeps it."""

    __slots__ = ("boot", "pid", "started")

    def __init__(self, pid: int, started: int, boot: str) -> None:
        self.pid = pid
        self.started = started
        self.boot = boot

    @staticmethod
    def of(pid: int) -> Identity | None:
        """Identity of the process that has this pid now, even if it is a zombie; None if there is none."""
        found = stat(pid)
        return None if found is None else Identity(pid, found.started, boot_id())

    @staticmethod
    def read(entry: dict[str, Any]) -> Identity:
        """The identity in a journal line."""
        return Identity(int(entry["pid"]), int(entry["started"]), str(entry["boot"]))

    def fields(self) -> dict[str, Any]:
        """The identity as fields of a journal line."""
        return {"pid": self.pid, "started": self.started, "boot": self.boot}

    def alive(self) -> bool:
        if self.boot != boot_id():
            return False
        found = stat(self.pid)
        return found is not None and found.started == self.started and not found.gone

    def pidfd(self) -> int | None:
        """An open handle on exactly this process, readable once it ended; None if it is gone. The caller closes it."""
        if self.boot != boot_id():
            return None
        try:
            fd = os.pidfd_open(self.pid)
        except OSError:
            return None
        found = stat(self.pid)
        if found is None or found.started != self.started or found.gone:
            os.close(fd)
            return None
        return fd

    def send(self, signum: int) -> bool:
        """Send a signal to exactly this process. False if it is gone or not ours to signal; then no process got it."""
        fd = self.pidfd()
        if fd is None:
            return False
        try:
            signal.pidfd_send_signal(fd, signum)
        except (ProcessLookupError, PermissionError):
            return False
        finally:
            os.close(fd)
        return True


class Stat:
    """The fields of /proc/PID/stat that tell whose process it is and whether it runs."""

    __slots__ = ("group", "parent", "session", "started", "state", "threads")

    def __init__(self, state: str, parent: int, group: int, session: int, threads: int, started: int) -> None:
        self.state = state
        self.parent = parent
        self.group = group
        self.session = session
        self.threads = threads
        self.started = started

    @property
    def gone(self) -> bool:
        """Whether the process has ended. One whose first thread ended while others run looks like a zombie, and is none."""
        return self.state in GONE_STATES and self.threads <= 1


def stat(pid: int) -> Stat | None:
    """Fields of a process; None if there is no such process. Raises OSError if no further file can be opened to look."""
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    try:
        raw = os.read(fd, 4096)
    except OSError:
        return None
    finally:
        os.close(fd)
    # The second field is the program's name in parentheses, and may itself hold spaces and parentheses.
    fields = raw[raw.rfind(b")") + 2 :].split()
    if len(fields) < 20:
        return None
    parent, group, session, threads, started = (int(fields[n]) for n in (1, 2, 3, 17, 19))
    return Stat(fields[0].decode(), parent, group, session, threads, started)


_boot = ""


def boot_id() -> str:
    global _boot  # noqa: PLW0603 — it cannot change while this process lives
    if not _boot:
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
            _boot = file.read().strip()
    return _boot
