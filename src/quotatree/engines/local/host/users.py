"""As whom do jobs run? As the user the engine was given; a server that is not root can only be itself."""

from __future__ import annotations

import os
import pwd


class User:
    __slots__ = ("gid", "home", "name", "uid")

    def __init__(self, name: str, uid: int, gid: int, home: str) -> None:
        self.name = name
        self.uid = uid
        self.gid = gid
        self.home = home

    @property
    def is_us(self) -> bool:
        return self.uid == os.geteuid()

    def become(self) -> None:
        """Make this process run as the user for good. Without root that is possible only for our own user."""
        if self.is_us:
            return
        os.initgroups(self.name, self.gid)
        os.setresgid(self.gid, self.gid, self.gid)
        os.setresuid(self.uid, self.uid, self.uid)


def find(name: str | None) -> User:
    """The user of this name; with None, the user of this process. Raises LookupError with what is wrong."""
    try:
        entry = pwd.getpwuid(os.geteuid()) if name is None else pwd.getpwnam(name)
    except KeyError:
        if name is None:  # in a container a user needs no entry
            return User(str(os.geteuid()), os.geteuid(), os.getegid(), "/")
        raise LookupError(f"there is no user {name} on this machine") from None
    if os.geteuid() not in (0, entry.pw_uid):
        raise LookupError(f"only root can run jobs as {entry.pw_name}")
    return User(entry.pw_name, entry.pw_uid, entry.pw_gid, entry.pw_dir)


def name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
