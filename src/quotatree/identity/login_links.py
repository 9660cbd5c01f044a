"""Login links: an address that signs its holder in once, soon, and in this server's lifetime only.

The code stands in the address's fragment, which browsers neither send nor log; the console's page hands it over by POST.
So a link that is only looked at, by a preview in a chat, is not used up. Links are kept in memory: a restart makes them void.
"""

from __future__ import annotations

import threading
from typing import Final, NamedTuple

from quotatree.identity.errors import Unauthenticated
from quotatree.identity.secret import hash_of, new_secret

LIFETIME_MS: Final = 15 * 60_000
MOST: Final = 1000
"""More links than that are not kept: the oldest one becomes void."""


class LoginLink(NamedTuple):
    """A new link. `path` is what follows the server's address; its secret is not kept."""

    path: str
    expires_ms: int


class _Kept(NamedTuple):
    user: str
    expires_ms: int


class LoginLinks:
    """Links that have not been used yet. Methods may be called from any thread."""

    def __init__(self, lifetime_ms: int = LIFETIME_MS) -> None:
        self._lifetime_ms = lifetime_ms
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}

    def make(self, user: str, now_ms: int) -> LoginLink:
        code, expires_ms = new_secret(), now_ms + self._lifetime_ms
        with self._lock:
            while len(self._kept) >= MOST:
                del self._kept[next(iter(self._kept))]
            self._kept[hash_of(code)] = _Kept(user, expires_ms)
        return LoginLink(f"/login#link={code}", expires_ms)

    def take(self, code: str, now_ms: int) -> str:
        """The user whom the link signs in; the link is used up. Raises Unauthenticated if it is void."""
        with self._lock:
            found = self._kept.pop(hash_of(code), None)
        if found is None or now_ms >= found.expires_ms:
            raise Unauthenticated("the login link was used, has expired or is wrong; ask for another one")
        return found.user
