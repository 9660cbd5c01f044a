"""One user with a password that is quickly checked."""

from __future__ import annotations

from argon2 import PasswordHasher

from quotatree.access.directory import Directory
from quotatree.access.values import User
from quotatree.identity.passwords import Passwords

NOW_MS = 1_800_000_000_000
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PASSWORD = "correct horse battery"


def with_password(passwords: Passwords) -> Directory:
    return (
        Directory().with_user(User("ann", password=passwords.hash(PASSWORD))).with_user(User("no-password"))
    )
