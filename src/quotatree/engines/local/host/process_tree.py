"""Which processes belong to a replica, also those that fled? By parenthood, which nobody can put off.

A supervisor is a subreaper: a process that loses its parent, whatever session it made for itself and whatever it did to
its environment, becomes the supervisor's own child. So the tree below a supervisor is everything it ever started.
"""

from __future__ import annotations

import os
import signal

from quotatree.engines.local.host.environment import MARK
from quotatree.engines.local.host.identity import Identity, boot_id, stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

STOPPING_ROUNDS = 8


def children(pid: int) -> list[int]:
    """Pids of the children of a process, zombies included. Empty if the process is gone."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found.extend(int(child) for child in file.read().split())
        except FileNotFoundError:
            if os.path.exists(f"/proc/{pid}/task/{thread}/stat"):
                return _children_by_search(pid)  # a kernel without that file
        except OSError:
            continue
    return found


def below(pids: Iterable[int]) -> list[Identity]:
    """These processes and all their descendants that still run.

    A pid whose parent is not the process that listed it is left out: the pid was reused, or its process lost that
    parent and is found among the supervisor's own children.
    """
    todo: list[tuple[int, int]] = [(pid, 0) for pid in pids]
    seen, found = set[int](), []
    while todo:
        pid, parent = todo.pop()
        known = stat(pid)
        if pid in seen or known is None or parent not in (0, known.parent):
            continue
        seen.add(pid)
        if not known.gone:
            found.append(Identity(pid, known.started, boot_id()))
        todo.extend((child, pid) for child in children(pid))
    return found


def marked(beginning: str) -> list[Identity]:
    """All processes on the machine whose mark has this beginning, as far as we may look. For when a supervisor is gone."""
    found = []
    for pid in _all_pids():
        identity = Identity.of(pid)
        if identity is not None and mark_of(pid).startswith(beginning) and identity.alive():
            found.append(identity)
    return found


def mark_of(pid: int) -> str:
    """The mark that a process was started with; "" if it has none, is gone, or is not ours to read."""
    beginning = f"{MARK}=".encode()
    for variable in _environment(pid).split(b"\0"):
        if variable.startswith(beginning):
            return variable[len(beginning) :].decode("utf-8", "replace")
    return ""


def _environment(pid: int) -> bytes:
    """Environment of a process, from any of its threads: the first may have ended, and then shows none."""
    if found := _contents(f"/proc/{pid}/environ"):
        return found
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return b""
    others = (_contents(f"/proc/{pid}/task/{thread}/environ") for thread in threads if thread != str(pid))
    return next(filter(None, others), b"")


def _contents(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def in_sessions(sessions: Iterable[int]) -> list[Identity]:
    """All processes of these sessions. The caller must know that their leaders are ours."""
    wanted = set(sessions)
    found = []
    for pid in _all_pids():
        known = stat(pid)
        if known is not None and known.session in wanted and not known.gone:
            found.append(Identity(pid, known.started, boot_id()))
    return found


def kill(roots: Iterable[int]) -> int:
    """Kill these processes and all below them; return how many were found. The caller repeats this until it is 0.

    They are stopped first, until no new one turns up: processes that fork faster than they are counted would get away.
    """
    roots = list(roots)
    known: dict[tuple[int, int], Identity] = {}
    for _ in range(STOPPING_ROUNDS):
        new = [p for p in below(roots) if (p.pid, p.started) not in known]
        if not new:
            break
        for process in new:
            known[process.pid, process.started] = process
            process.send(signal.SIGSTOP)
    for process in known.values():
        process.send(signal.SIGKILL)
    return len(known)


def _all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _children_by_search(pid: int) -> list[int]:
    return [other for other in _all_pids() if (known := stat(other)) is not None and known.parent == pid]
