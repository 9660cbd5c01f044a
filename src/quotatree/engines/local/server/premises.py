"""May jobs run here, and as whom? The engine's directory, its name, and the user that jobs run as.

Jobs never run as root unless `root` is named. The user must be able to reach its working directory, so every directory
above it must let others pass.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import stat
import sys
from pathlib import Path

from quotatree.engines.local.files.layout import EngineDir
from quotatree.engines.local.host import users
from quotatree.engines.local.server.namespace_check import why_no_namespaces
from quotatree.engines.local.server.unix_users import UnixUsers, UserSettings

_SET_RUN_AS = "name users for the jobs: serve --user-range FIRST-LAST, one for each workspace, or --run-as USER, one for all"


class Premises:
    def __init__(
        self,
        directory: Path,
        run_as: str | None,
        settings: UserSettings = UserSettings(),  # noqa: B008 - frozen
        *,
        jobs: Path | None = None,
    ) -> None:
        """`jobs`: where directories of jobs live; None: with the engine."""
        self._jobs = jobs
        self.directory = EngineDir(directory)
        self._run_as = run_as
        self._settings = settings
        self.users = UnixUsers(self.directory, run_as, settings)
        self._engine_id = ""
        self._not_apart: str | None = None  # not tried yet

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
        if os.geteuid() == 0 and self._run_as is None and not self._settings.given:
            return (
                f"this server runs as root, and jobs must not: {_SET_RUN_AS} (root itself must be named too)"
            )
        if self._settings.given and os.geteuid() != 0:
            return "users.range and users.map need a server that runs as root"
        try:
            known = [users.find(name) for name in sorted(set(self._settings.map.values()))]
            if not self._settings.given or self._run_as is not None:
                known.append(users.find(self._run_as))
        except LookupError as error:
            return f"{error}; {_SET_RUN_AS}"
        if self._settings.range is not None:
            known.append(
                users.User(
                    "of a workspace", self._settings.range[0], self._settings.range[0], "/", listed=False
                )
            )
        return next(filter(None, map(self._out_of_reach, known)), None)

    def _out_of_reach(self, user: users.User) -> str | None:
        barred = _barred(self.directory.path, user)
        if barred is not None:
            return f"user {user.name} cannot reach {self.directory.path}: {barred} lets nobody pass; chmod o+x it"
        return None

    @property
    def notices(self) -> tuple[str, ...]:
        """What the operator should know: why nothing can run here, or how far jobs are kept apart."""
        said = self.refusal
        if said is None:
            said = self.users.shared_by_all or self.not_apart
        return () if not said else (said,)

    @property
    def not_apart(self) -> str:
        """What jobs of different workspaces see of each other although they have users of their own; "" if nothing."""
        if not self.users.apart:
            return ""
        if self._not_apart is None:
            self._not_apart = why_no_namespaces()
        if not self._not_apart:
            return ""
        return (
            "jobs have users of their own, but see each other's processes and /tmp: "
            f"namespaces are not permitted here ({self._not_apart})"
        )

    def user(self, workspace: str) -> users.User:
        """The user that a workspace's jobs run as. Raises LookupError if there is none, or only root could run as them."""
        return self.users.of(workspace)

    @property
    def apart(self) -> bool:
        """Whether jobs are kept apart by namespaces, and not by their users alone."""
        return self.users.apart and not self.not_apart

    def prepare(self) -> None:
        """Make the engine's directories and its id, where they are missing. Raises OSError."""
        os.makedirs(self.directory.path, exist_ok=True)
        if self._jobs is not None:
            _link(self.directory.jobs, os.path.abspath(self._jobs))
        os.makedirs(self.directory.jobs, exist_ok=True)
        for path in (self.directory.path, self.directory.jobs):
            os.chmod(path, 0o711)
        self._engine_id = _engine_id(self.directory.engine_file, self._engine_id)


def _link(link: str, directory: str) -> None:
    """Let `link` lead to a directory elsewhere. Raises OSError if jobs live in another place already."""
    os.makedirs(directory, exist_ok=True)
    try:
        os.symlink(directory, link)
    except FileExistsError:
        if os.path.realpath(link) == os.path.realpath(directory):
            return
        with contextlib.suppress(OSError):
            os.rmdir(link)  # nothing was in it
            os.symlink(directory, link)
            return
        said = f"jobs live in {os.path.realpath(link)} already: move them to jobs_dir {directory} and make {link} a link to it"
        raise OSError(errno.EEXIST, said) from None


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
    groups = {user.gid} if user.is_us else set(user.groups())
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
