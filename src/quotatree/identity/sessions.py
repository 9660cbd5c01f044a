"""Browser sessions: `qs_` and random characters, a key that the console's page keeps. Only its hash is kept here.

The key is no cookie: a browser sends a cookie to every port of a host, so to the services of jobs too. The page
keeps it where browsers separate ports, and sends it with each request. So no request counts that another page
made the browser send.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from quotatree.access.directory import Directory
from quotatree.access.values import SessionInfo, TokenInfo
from quotatree.identity.errors import Unauthenticated
from quotatree.identity.secret import hash_of, new_secret

PREFIX: Final = "qs_"
LIFETIME_MS: Final = 12 * 3_600_000


class NewSession(NamedTuple):
    """A new session. `key` goes to the page and is not kept; `info` goes into the directory."""

    key: str
    info: SessionInfo


def new_session(
    user: str, now_ms: int, lifetime_ms: int = LIFETIME_MS, token: TokenInfo | None = None
) -> NewSession:
    """A session of the user. One that was opened with a token ends with it at the latest."""
    key, expires_ms = PREFIX + new_secret(), now_ms + lifetime_ms
    if token is not None:
        key = f"{PREFIX}{token.id}.{new_secret()}"
        expires_ms = expires_ms if token.expires_ms is None else min(expires_ms, token.expires_ms)
    return NewSession(key, SessionInfo(_kept_under(key), user, "", now_ms, expires_ms))


def authenticate_session(directory: Directory, key: str, now_ms: int) -> SessionInfo:
    """The session of a key; raises Unauthenticated if there is none, it has expired, or its user is disabled.

    So does a session whose token has been revoked.

    It is found by the key's hash, so the time of the search says nothing about any key.
    """
    session = directory.sessions.get(_kept_under(key))
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


def _kept_under(key: str) -> str:
    """What a session is kept under: the key's hash, behind the id of the token that it was opened with."""
    token, dot, _ = key.removeprefix(PREFIX).rpartition(".")
    return f"{token}{dot}{hash_of(key)}"
