"""Which unix user do the jobs of a workspace run as? A fixed one where the settings map it, else its own from a range.

Numbers of the range are given out in the order in which workspaces first run something, and never to a second one: the
files of a workspace that is gone belong to nobody else. The table is a file of the engine, written whole.
"""

from __future__ import annotations

import json
import os
import pwd
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from quotatree.engines.local.files.layout import EngineDir
from quotatree.engines.local.host import users
from quotatree.engines.local.host.users import User

LOWEST_UID: Final = 1000
HIGHEST_UID: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class UserSettings:
    """`range`: first and last uid to give to workspaces. `map`: workspaces that have a user of their own, by name."""

    range: tuple[int, int] | None = None
    map: Mapping[str, str] = field(default_factory=dict)

    @property
    def given(self) -> bool:
        return self.range is not None or bool(self.map)


class UnixUsers:
    def __init__(self, directory: EngineDir, run_as: str | None, settings: UserSettings) -> None:
        """`run_as`: the user of workspaces that have no other; None: the server's own."""
        self._directory = directory
        self._run_as = run_as
        self._settings = settings
        self._lock = threading.Lock()
        self._given: dict[str, int] | None = None

    @property
    def apart(self) -> bool:
        """Whether workspaces have users of their own, so that their jobs are kept apart."""
        return self._settings.given and os.geteuid() == 0

    @property
    def shared_by_all(self) -> str:
        """Why the jobs of all workspaces run as one user, with what to do about it; "" if they do not."""
        if self.apart and (self._settings.range is not None or self._run_as is None):
            return ""
        one = users.name_of(os.geteuid()) if self._run_as is None else self._run_as
        who = f"jobs of {'most' if self.apart else 'all'} workspaces run as the user {one} and can read and stop each other"
        if os.geteuid() != 0:
            return (
                f"{who}: this server is for one team; for several run it as root with --user-range FIRST-LAST"
            )
        return f"{who}: name users of their own with --user-range FIRST-LAST, such as 70000-70999"

    def sample(self) -> User:
        """A user as jobs have them, to try things out with; no number is given away for it. Raises LookupError."""
        if not self.apart:
            return users.find(self._run_as)
        if self._settings.range is None:
            return users.find(next(iter(self._settings.map.values())))
        first = self._settings.range[0]
        return User(f"quotatree-{first}", first, first, "/", listed=False)

    def of(self, workspace: str) -> User:
        """The user of a workspace's jobs. Raises LookupError, with what to do, if there is none."""
        if self._settings.given and os.geteuid() != 0:
            raise LookupError("only root can run the jobs of each workspace as a user of its own")
        fixed = self._settings.map.get(workspace)
        if fixed is not None:
            return users.find(fixed)
        if self._settings.range is None:
            return users.find(self._run_as)
        uid = self._uid(workspace, *self._settings.range)
        return User(f"quotatree-{uid}", uid, uid, self._directory.home(uid), listed=False)

    def _uid(self, workspace: str, first: int, last: int) -> int:
        with self._lock:
            if self._given is None:
                self._given = _read(self._directory.users_file)
            known = self._given.get(workspace)
            if known is not None:
                return known
            taken = {*self._given.values(), *(entry.pw_uid for entry in pwd.getpwall())}
            uid = next((uid for uid in range(first, last + 1) if uid not in taken), None)
            if uid is None:
                raise LookupError(
                    f"all users from {first} to {last} are given to other workspaces: widen users.range"
                )
            _write(self._directory.users_file, {**self._given, workspace: uid})
            self._given[workspace] = uid
            return uid


def _read(path: str) -> dict[str, int]:
    try:
        return {str(name): int(uid) for name, uid in json.loads(Path(path).read_text("utf-8")).items()}
    except FileNotFoundError:
        return {}


def _write(path: str, given: Mapping[str, int]) -> None:
    """Replace the file, and be sure that it is on the disk: a number forgotten would be given to a second workspace."""
    fresh = f"{path}.new"
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(fd, "w", encoding="utf-8") as file:
        json.dump(dict(given), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)
