"""API tokens: `qt_` and 43 random characters. Shown once; only the hash is kept.

The first 10 characters are the token's id, by which it is found and named; the other 33, with 196 bits, stay secret.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from quotatree.access.directory import Directory
from quotatree.access.values import TokenInfo
from quotatree.core import Refused
from quotatree.identity.errors import Unauthenticated
from quotatree.identity.secret import SECRET_LENGTH, hash_of, matches, new_secret

PREFIX: Final = "qt_"
ID_LENGTH: Final = 10
_NOT_FOUND_HASH: Final = "0" * 64


class NewToken(NamedTuple):
    """A new token. `text` is shown to the user once and not kept; `info` goes into the directory."""

    text: str
    info: TokenInfo


def new_token(
    user: str, name: str, now_ms: int, expires_ms: int | None = None, *, read_only: bool = False
) -> NewToken:
    if expires_ms is not None and expires_ms <= now_ms:
        raise Refused("expires", expires_ms, "W2", "lies in the past")
    text = PREFIX + new_secret()
    info = TokenInfo(
        _id_of(text), user, name, hash_of(text), now_ms, expires_ms=expires_ms, read_only=read_only
    )
    return NewToken(text, info)


def authenticate_token(directory: Directory, text: str, now_ms: int) -> TokenInfo:
    """The token with this text, if it is valid now. Wrong, expired and revoked ones raise the same Unauthenticated."""
    well_formed = text.startswith(PREFIX) and len(text) == len(PREFIX) + SECRET_LENGTH
    token = directory.tokens.get(_id_of(text)) if well_formed else None
    right = matches(text, token.secret_hash if token is not None else _NOT_FOUND_HASH)
    user = directory.users.get(token.user) if token is not None else None
    if token is None or user is None or user.disabled or not right or not token.valid(now_ms):
        raise Unauthenticated("the token is wrong, expired or revoked")
    return token


def _id_of(text: str) -> str:
    return text[len(PREFIX) : len(PREFIX) + ID_LENGTH]
