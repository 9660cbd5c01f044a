"""Can the user of a job work in the directory that it names? It is tried out as that user when the job is submitted.

A server that is root sees everything, its jobs do not. Whether a directory is missing or closed to the user is not said
apart: otherwise any job could ask root what there is on the machine.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from typing import Any, Final

from quotatree.engines.local.host.users import User

TRY_SECONDS: Final = 5.0
KNOWN_SECONDS: Final = 10.0
MOST_KNOWN: Final = 1_000
TRY: Final = 'cd -- "$1" && test -r .'


class WorkdirCheck:
    """Tries directories out, and remembers each for KNOWN_SECONDS: a thousand jobs at once name the same one."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], tuple[float, bool]] = {}
        self._lock = threading.Lock()

    def why_not(self, user: User, workdir: Any) -> str | None:
        """Why the user cannot work there, and what to do; None if they can, or it is no absolute path, which others refuse."""
        if not isinstance(workdir, str) or not os.path.isabs(workdir) or "\0" in workdir or user.is_us:
            return None
        if self._can_enter(user, workdir):
            return None
        return (
            f"workdir = {workdir!r}: there is no such directory on this machine, or jobs of this workspace, which run as "
            f"{user.name}, may not read and enter it: let them (chmod, chown), or leave it out and name files by their path"
        )

    def _can_enter(self, user: User, workdir: str) -> bool:
        key, now = (user.uid, workdir), time.monotonic()
        with self._lock:
            at, can = self._known.get(key, (-KNOWN_SECONDS, False))
        if now - at < KNOWN_SECONDS:
            return can
        can = _tried(user, workdir)
        with self._lock:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[key] = (now, can)
        return can


def _tried(user: User, workdir: str) -> bool:
    """Whether it works. A machine that cannot try it does not refuse: the run itself will tell."""
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", TRY, "sh", workdir],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            timeout=TRY_SECONDS,
            check=False,
            user=user.uid,
            group=user.gid,
            extra_groups=user.groups(),
        )
    except (OSError, subprocess.SubprocessError):
        return True
    return done.returncode == 0
