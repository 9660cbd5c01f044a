"""Tokens: what is kept of them, and what wrong ones are answered."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from quotatree.access.directory import Directory
from quotatree.access.values import User
from quotatree.core.errors import Refused
from quotatree.identity.errors import Unauthenticated
from quotatree.identity.secret import new_secret
from quotatree.identity.tokens import ID_LENGTH, NewToken, authenticate_token, new_token

NOW_MS = 1_800_000_000_000


def with_token(expires_ms: int | None = None) -> tuple[Directory, NewToken]:
    token = new_token("ann", "laptop", NOW_MS, expires_ms)
    return Directory().with_user(User("ann")).with_token(token.info), token


def test_a_token_opens_until_it_expires():
    people, token = with_token(NOW_MS + 1000)
    assert re.fullmatch(r"qt_[0-9A-Za-z]{43}", token.text)
    assert authenticate_token(people, token.text, NOW_MS + 999) is people.tokens[token.info.id]
    with pytest.raises(Unauthenticated):
        authenticate_token(people, token.text, NOW_MS + 1000)


def test_only_a_hash_of_a_token_is_kept():
    people, token = with_token()
    kept = people.tokens[token.info.id]
    assert token.text.startswith(f"qt_{kept.id}")
    secret = token.text[3 + ID_LENGTH :]
    assert all(secret not in str(getattr(kept, name)) for name in kept.__dataclass_fields__)
    assert len(kept.secret_hash) == 64


def test_every_wrong_token_is_answered_alike():
    people, token = with_token()
    last = "A" if token.text[-1] != "A" else "B"
    wrong = [
        (people, ""),
        (people, "qt_"),
        (people, token.text[:-1]),
        (people, token.text[:-1] + last),
        (people, token.text + "A"),
        (people, "qx_" + token.text[3:]),
        (people, "qt_" + new_secret()),
        (people, "qt_" + "ä" * 43),
        (people, "qt_" + "\ud800" * 43),
        (people.token_revoked(token.info.id, NOW_MS), token.text),
        (people.with_user(User("ann", disabled=True)), token.text),
    ]
    said = set()
    for directory, text in wrong:
        with pytest.raises(Unauthenticated) as caught:
            authenticate_token(directory, text, NOW_MS)
        said.add(str(caught.value))
    assert len(said) == 1
    assert authenticate_token(people, token.text, NOW_MS).user == "ann"


def test_a_token_cannot_take_the_place_of_another_or_expire_before_it_is_made():
    people, token = with_token()
    with pytest.raises(Refused, match="taken"):
        people.with_token(replace(token.info, secret_hash="0" * 64))
    with pytest.raises(Refused, match="past"):
        new_token("ann", "laptop", NOW_MS, NOW_MS)
