"""As whom do jobs run? As the user the engine was given; a server that is not root can only be itself."""

from __future__ import annotations

import os
import pwd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class User:
    """A unix user. `listed`: the machine knows it by name; one that is not has its own group and no others."""

    __slots__ = ("gid", "home", "listed", "name", "uid")

    def __init__(self, name: str, uid: int, gid: int, home: str, *, listed: bool = True) -> None:
        self.name = name
        self.uid = uid
        self.gid = gid
        self.home = home
        self.listed = listed

    @property
    def is_us(self) -> bool:
        return self.uid == os.geteuid()

    def groups(self) -> list[int]:
        return os.getgrouplist(self.name, self.gid) if self.listed else [self.gid]

    def become(self) -> None:
        """Make this process run as the user for good. Without root that is possible only for our own user."""
        if self.is_us:
            return
        os.setgroups(self.groups())
        os.setresgid(self.gid, self.gid, self.gid)
        os.setresuid(self.uid, self.uid, self.uid)


def find(name: str | None) -> User:
    """The user of this name; with None, the user of this process. Raises LookupError with what is wrong."""
    try:
        entry = pwd.getpwuid(os.geteuid()) if name is None else pwd.getpwnam(name)
    except KeyError:
        if name is None:  # in a container a user needs no entry
            return User(str(os.geteuid()), os.geteuid(), os.getegid(), "/", listed=False)
        raise LookupError(f"there is no user {name} on this machine") from None
    if os.geteuid() not in (0, entry.pw_uid):
        raise LookupError(f"only root can run jobs as {entry.pw_name}")
    return User(entry.pw_name, entry.pw_uid, entry.pw_gid, entry.pw_dir)


def of_spec(spec: Mapping[str, Any]) -> User:
    """The user that the spec of a run names: by its number if no name is known for it. Raises LookupError."""
    if "uid" not in spec:
        return find(spec.get("user"))
    uid = int(spec["uid"])
    if os.geteuid() not in (0, uid):
        raise LookupError(f"only root can run jobs as user {uid}")
    return User(str(spec["user"]), uid, uid, str(spec["home"]), listed=False)


def name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
