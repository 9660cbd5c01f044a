"""Who lets the first person in? On the first start an admin is made, with one token that is shown once."""

from __future__ import annotations

from typing import Final, NamedTuple

from quotatree.access.directory import Directory
from quotatree.access.values import User
from quotatree.identity.tokens import new_token

ADMIN: Final = "admin"


class FirstStart(NamedTuple):
    """The directory with the new admin. The caller prints `token` once; the directory keeps only its hash."""

    directory: Directory
    user: str
    token: str


def first_start(directory: Directory, now_ms: int) -> FirstStart | None:
    """Make the first admin with a token; None if the directory has users already."""
    if directory.users:
        return None
    token = new_token(ADMIN, "first start", now_ms)
    admin = User(ADMIN, "made at the first start", platform_admin=True)
    return FirstStart(directory.with_user(admin).with_token(token.info), ADMIN, token.text)
