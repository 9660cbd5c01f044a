"""How does a supervisor come to life? In a session of its own, with the run's lock already in its hands.

The engine takes the lock and hands it to the supervisor, open file and all: from the moment in which a process may come
to be until its last one there is always somebody who holds it. A server killed in between finds the lock held, and so
never takes a run for gone that is only just beginning. A lock that is free says: nothing will come of this run any more.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import quotatree
from quotatree.engines.local.files import journal
from quotatree.engines.local.files.layout import JobDir, RunDir
from quotatree.engines.local.host.users import User
from quotatree.engines.local.supervisor.nursery import Nursery

LOSSES: Final = 10
SOON_SECONDS: Final = 5.0
SOURCE: Final = str(Path(quotatree.__file__).resolve().parents[1])


def make_directories(job: JobDir, run: RunDir, user: User) -> None:
    """Make the directories of a job and a run. Work and checkpoints belong to the user; only we may look into the rest."""
    for path, mode in ((job.path, 0o711), (job.runs, 0o700), (run.path, 0o700)):
        _directory(path, mode)
    if not user.listed and not user.is_us:
        _directory(os.path.dirname(user.home), 0o711)
        if _directory(user.home, 0o700) or _is_ours_and_empty(user.home):
            os.chown(user.home, user.uid, user.gid, follow_symlinks=False)
    for path in (job.work, job.checkpoints):
        if (_directory(path, 0o700) or _is_ours_and_empty(path)) and not user.is_us:
            os.chown(path, user.uid, user.gid, follow_symlinks=False)


def _directory(path: str, mode: int) -> bool:
    """Make a directory with exactly this mode; False if it exists already."""
    try:
        os.mkdir(path, mode)
    except FileExistsError:
        return False
    os.chmod(path, mode)  # mkdir leaves out what the umask forbids
    return True


def _is_ours_and_empty(path: str) -> bool:
    """Whether the directory still has to be given to the user, because a server was killed just after making it."""
    try:
        return os.lstat(path).st_uid == os.geteuid() and not os.listdir(path)
    except OSError:
        return False


def take_lock(run: RunDir) -> int | None:
    """Take the lock of a run; None while another process holds it, or if the run has no directory. Closing it frees it."""
    try:
        fd = os.open(run.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        return None  # the directory itself is gone
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def write_spec(run: RunDir, spec: Mapping[str, Any], orders: list[dict[str, Any]]) -> None:
    """Write the spec and the first orders of a run. Allowed only with the lock, and before the run was ever supervised."""
    _replace(run.orders, "".join(json.dumps(order, separators=(",", ":")) + "\n" for order in orders))
    _replace(run.spec, json.dumps(spec, separators=(",", ":")) + "\n")


def _replace(path: str, text: str) -> None:
    fresh = f"{path}.new"
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(fd, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(fresh, path)


def spawn_supervisor(nursery: Nursery, run: RunDir, lock: int, secrets: Mapping[str, str]) -> int | None:
    """Start a supervisor; return its pid, or None if there is one whose pid is not known. `lock` is closed in any case.

    A nursery that failed is asked once more, unless the lock is held: then a supervisor was started nevertheless.
    """
    try:
        return nursery.start(run.path, secrets, lock)
    except OSError:
        pass  # asked once more below
    finally:
        os.close(lock)
    again = take_lock(run)
    if again is None:
        return None
    try:
        return nursery.start(run.path, secrets, again)
    finally:
        os.close(again)


def is_held(run: RunDir) -> bool:
    """Whether a process supervises the run, or is just about to."""
    lock = take_lock(run)
    if lock is None:
        return os.path.exists(run.path)
    os.close(lock)
    return False


def end_of(run: RunDir) -> dict[str, Any]:
    """The last journal line for a run whose supervisor is gone without writing one.

    The run is lost, and will be started again, unless the supervisor broke by its own fault or something kills it each
    time: then the run has failed, since it would be started again for ever.
    """
    try:
        said = Path(run.crash).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        said = []
    now_ms = time.time_ns() // 1_000_000
    failed = {"at_ms": now_ms, "is": "exited", "outcome": "failed"}
    if said:
        return {**failed, "detail": f"its supervisor broke: {said[-1][:300]}"}
    lost = {"at_ms": now_ms, "is": "lost", "detail": "its supervisor was killed"}
    if _lost_soon_each_time(run, lost):
        why = f"its supervisor was killed {LOSSES} times in a row, each time within {SOON_SECONDS:g} s"
        return {**failed, "detail": f"{why} of the start"}
    return lost


def _lost_soon_each_time(run: RunDir, last: dict[str, Any]) -> bool:
    """Whether this run and the LOSSES - 1 before it were each lost within SOON_SECONDS of their start.

    Most likely the job kills its supervisor itself, since both may run as the same user.
    """
    number = int(os.path.basename(run.path))
    for earlier in range(number, number - LOSSES, -1):
        lines, _ = journal.read(run.job.run(earlier).journal)
        if earlier == number:
            lines.append(last)
        if not lines or lines[-1].get("is") != "lost":
            return False
        if lines[-1].get("at_ms", 0) - lines[0].get("at_ms", 0) > SOON_SECONDS * 1000:
            return False
    return True
