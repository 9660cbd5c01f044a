"""Can the user of jobs run Python? Most jobs are Python programs, and a server's own Python may lie where no job can look."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

from quotatree.engines.local.host.environment import PATH
from quotatree.engines.local.host.users import User

TRY_SECONDS: Final = 20.0
NAMES: Final = ("python", "python3")


def why_no_python(user: User) -> str:
    """What a job of this user cannot run, and what to do about it; "" if it can run `python`. It is tried out."""
    found = [name for name in NAMES if not _trouble(user, name)]
    if found == list(NAMES):
        return ""
    if found:
        return f"{user.name} finds `{found[0]}` and no `{NAMES[1 - NAMES.index(found[0])]}`: name the one that is there"
    why = _trouble(user, NAMES[1])
    return (
        f"{user.name} cannot run Python ({why}): install one for all users, or name its path in the command"
    )


def _trouble(user: User, name: str) -> str:
    """Why this name does not start a Python for the user, with the PATH that jobs have; "" if it does."""
    try:
        done = subprocess.run(
            [name, "-c", "pass"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd="/",
            env={"PATH": f"{PATH}:{os.path.dirname(sys.executable)}", "HOME": "/"},
            timeout=TRY_SECONDS,
            check=False,
            user=None if user.is_us else user.uid,
            group=None if user.is_us else user.gid,
            extra_groups=None if user.is_us else user.groups(),
        )
    except (OSError, subprocess.SubprocessError) as error:
        return getattr(error, "strerror", None) or str(error)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["it failed"])[-1]
