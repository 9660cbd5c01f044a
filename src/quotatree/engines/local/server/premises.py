"""May jobs run here, and as whom? The engine's directory, its name, and the user that jobs run as.

Jobs never run as root unless `root` is named. The user must be able to reach its working directory, so every directory
above it must let others pass.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
import sys
from pathlib import Path

from quotatree.engines.local.files.layout import EngineDir
from quotatree.engines.local.host import users

_SET_RUN_AS = "name the user that jobs run as: serve --run-as USER, or QUOTATREE_RUN_AS"


class Premises:
    def __init__(self, directory: Path, run_as: str | None) -> None:
        self.directory = EngineDir(directory)
        self._run_as = run_as
        self._engine_id = ""

    @property
    def engine_id(self) -> str:
        """Id that tells our processes from those of every other engine on this machine."""
        if not self._engine_id:
            self._engine_id = _engine_id(self.directory.engine_file)
        return self._engine_id

    @property
    def refusal(self) -> str | None:
        """Why nothing can run here, and what to do about it; None if jobs can run."""
        if not sys.platform.startswith("linux"):
            return "the local engine runs processes on Linux only; use the timer engine here"
        if os.geteuid() == 0 and self._run_as is None:
            return (
                f"this server runs as root, and jobs must not: {_SET_RUN_AS} (root itself must be named too)"
            )
        try:
            user = users.find(self._run_as)
        except LookupError as error:
            return f"{error}; {_SET_RUN_AS}"
        barred = _barred(self.directory.path, user)
        if barred is not None:
            return f"user {user.name} cannot reach {self.directory.path}: {barred} lets nobody pass; chmod o+x it"
        return None

    @property
    def notices(self) -> tuple[str, ...]:
        return () if self.refusal is None else (self.refusal,)

    def user(self) -> users.User:
        """The user that jobs run as. Raises LookupError if there is no such user, or only root could run as them."""
        return users.find(self._run_as)

    def prepare(self) -> None:
        """Make the engine's directories and its id, where they are missing. Raises OSError."""
        os.makedirs(self.directory.path, exist_ok=True)
        os.makedirs(self.directory.jobs, exist_ok=True)
        for path in (self.directory.path, self.directory.jobs):
            os.chmod(path, 0o711)
        self._engine_id = _engine_id(self.directory.engine_file, self._engine_id)


def _engine_id(path: str, known: str = "") -> str:
    try:
        return _read_id(path)
    except FileNotFoundError:
        fresh = f"{path}.{os.getpid()}"
        Path(fresh).write_text(json.dumps({"id": known or secrets.token_hex(8)}) + "\n", encoding="ascii")
        try:
            os.link(fresh, path)  # the first process to do so names the engine
        except FileExistsError:
            pass
        finally:
            os.unlink(fresh)
        return _read_id(path)


def _read_id(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return str(json.load(file)["id"])


def _barred(path: str, user: users.User) -> str | None:
    """The first directory from the root down to `path` that the user may not pass through, or None."""
    if user.uid == 0:
        return None
    groups = {user.gid} if user.is_us else set(os.getgrouplist(user.name, user.gid))
    for above in reversed([Path(path), *Path(path).parents]):
        try:
            found = above.stat()
        except FileNotFoundError:
            return None  # not made yet: we make it passable
        if above == Path(path) and found.st_uid == os.geteuid():
            continue  # ours: `prepare` makes it passable
        bit = stat.S_IXOTH
        if found.st_uid == user.uid:
            bit = stat.S_IXUSR
        elif found.st_gid in groups:
            bit = stat.S_IXGRP
        if not found.st_mode & bit:
            return str(above)
    return None
