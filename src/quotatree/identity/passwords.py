"""Is this the user's password? argon2id; the answer takes as long for a user who does not exist."""

from __future__ import annotations

from threading import BoundedSemaphore
from typing import Final, NamedTuple

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from quotatree.access.directory import Directory
from quotatree.core import Refused
from quotatree.identity.errors import Unauthenticated
from quotatree.identity.guesses import Guesses
from quotatree.identity.secret import new_secret

SHORTEST: Final = 10
LONGEST: Final = 1024
AT_ONCE: Final = 2
"""How many hashes are computed at once: each takes 64 MiB and a core, and logins must not starve the server."""


class Verified(NamedTuple):
    """A user whose password was right. `new_hash`, if not None, replaces the stored one: the parameters have changed."""

    user: str
    new_hash: str | None


class Passwords:
    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._nobody = self._hasher.hash(new_secret())
        self._guesses = Guesses()
        self._room = BoundedSemaphore(AT_ONCE)

    def hash(self, password: str) -> str:
        """The hash for `User.password`. A refusal never repeats the password."""
        if not SHORTEST <= len(password) <= LONGEST:
            raise Refused("password", "…", "W2", f"must have {SHORTEST} to {LONGEST} characters")
        with self._room:
            return self._hasher.hash(password)

    def verify(
        self, directory: Directory, name: str, password: str, now_ms: int, address: str = ""
    ) -> Verified:
        """The user with this password. Raises TooManyFailures or Unauthenticated.

        The words and the time are the same whether the user does not exist, is disabled or has no password.
        """
        self._guesses.begin(name, address, now_ms)
        user = directory.users.get(name)
        stored = user.password if user is not None and not user.disabled else None
        right = self._is(stored or self._nobody, password)
        if stored is None or not right:
            raise Unauthenticated("wrong user name or password")
        self._guesses.succeeded(name, address)
        stale = self._hasher.check_needs_rehash(stored)
        return Verified(name, self.hash(password) if stale else None)

    def _is(self, stored: str, password: str) -> bool:
        with self._room:
            try:
                return self._hasher.verify(stored, password[: LONGEST + 1])
            except (VerificationError, InvalidHashError):
                return False
