"""Browser sessions: a random cookie, of which only the hash is kept, and a second secret against forged requests."""

from __future__ import annotations

from typing import Final, NamedTuple

from quotatree.access.directory import Directory
from quotatree.access.errors import Forbidden
from quotatree.access.values import SessionInfo, TokenInfo
from quotatree.identity.errors import Unauthenticated
from quotatree.identity.secret import hash_of, matches, new_secret

LIFETIME_MS: Final = 12 * 3_600_000


class NewSession(NamedTuple):
    """A new session. `cookie` and `csrf` go to the browser and are not kept; `info` goes into the directory."""

    cookie: str
    csrf: str
    info: SessionInfo


def new_session(
    user: str, now_ms: int, lifetime_ms: int = LIFETIME_MS, token: TokenInfo | None = None
) -> NewSession:
    """A session of the user. One that was opened with a token ends with it at the latest."""
    cookie, csrf = new_secret(), new_secret()
    expires_ms = now_ms + lifetime_ms
    if token is not None:
        cookie = f"{token.id}.{cookie}"
        expires_ms = expires_ms if token.expires_ms is None else min(expires_ms, token.expires_ms)
    return NewSession(cookie, csrf, SessionInfo(_key(cookie), user, hash_of(csrf), now_ms, expires_ms))


def authenticate_session(directory: Directory, cookie: str, now_ms: int) -> SessionInfo:
    """The session of a cookie; raises Unauthenticated if there is none, it has expired, or its user is disabled.

    So does a session whose token has been revoked.

    It is found by the cookie's hash, so the time of the search says nothing about any cookie.
    """
    session = directory.sessions.get(_key(cookie))
    user = directory.users.get(session.user) if session is not None else None
    if session is None or user is None or user.disabled or now_ms >= session.expires_ms:
        raise Unauthenticated("the session has ended; sign in again")
    token = token_of(directory, session)
    if token is not None and not token.valid(now_ms):
        raise Unauthenticated("the session has ended; sign in again")
    return session


def token_of(directory: Directory, session: SessionInfo) -> TokenInfo | None:
    """The token that the session was opened with, whose rights it has; None: by another way."""
    return None if session.token is None else directory.tokens[session.token]


def check_csrf(session: SessionInfo, csrf: str) -> None:
    """Raise Forbidden unless `csrf` is the session's second secret. Browsers send it with every change, in a header."""
    if not matches(csrf, session.csrf_hash):
        raise Forbidden("csrf", (), "the request does not carry the session's CSRF token")


def _key(cookie: str) -> str:
    """What a session is kept under: the cookie's hash, behind the id of the token that it was opened with."""
    token, dot, _ = cookie.rpartition(".")
    return f"{token}{dot}{hash_of(cookie)}"
