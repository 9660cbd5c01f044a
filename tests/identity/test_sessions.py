"""A session lasts its time, and is found by its key alone."""

from __future__ import annotations

from dataclasses import astuple

import pytest

from quotatree.access.directory import Directory
from quotatree.access.values import SessionInfo, User
from quotatree.identity.errors import Unauthenticated
from quotatree.identity.secret import hash_of, new_secret
from quotatree.identity.sessions import LIFETIME_MS, PREFIX, authenticate_session, new_session, token_of
from quotatree.identity.tokens import new_token

NOW_MS = 1_800_000_000_000


def test_a_session_lasts_its_time_and_only_hashes_are_kept():
    session = new_session("ann", NOW_MS)
    people = Directory().with_user(User("ann")).with_session(session.info)
    assert authenticate_session(people, session.key, NOW_MS + LIFETIME_MS - 1).user == "ann"
    for key, now_ms in (
        (session.key, NOW_MS + LIFETIME_MS),
        (session.key[:-1], NOW_MS),
        (session.key.removeprefix(PREFIX), NOW_MS),
        (session.info.id_hash, NOW_MS),
        ("", NOW_MS),
    ):
        with pytest.raises(Unauthenticated, match="sign in again"):
            authenticate_session(people, key, now_ms)
    assert session.key not in str(astuple(session.info))


def test_a_session_of_a_disabled_user_is_over():
    session = new_session("ann", NOW_MS)
    people = Directory(
        users={"ann": User("ann", disabled=True)}, sessions={session.info.id_hash: session.info}
    )
    with pytest.raises(Unauthenticated):
        authenticate_session(people, session.key, NOW_MS)


def test_a_session_of_an_older_version_is_found_by_nothing():
    """It was kept under the hash of a cookie, which had no prefix."""
    cookie = new_secret()
    old = SessionInfo(hash_of(cookie), "ann", hash_of("csrf"), NOW_MS, NOW_MS + LIFETIME_MS)
    people = Directory().with_user(User("ann")).with_session(old)
    with pytest.raises(Unauthenticated):
        authenticate_session(people, PREFIX + cookie, NOW_MS)


def test_a_session_by_a_token_ends_with_the_token():
    token = new_token("ann", "ci", NOW_MS, NOW_MS + 10)
    session = new_session("ann", NOW_MS, token=token.info)
    assert (session.info.token, session.info.expires_ms) == (token.info.id, NOW_MS + 10)
    people = Directory().with_user(User("ann")).with_token(token.info).with_session(session.info)
    found = authenticate_session(people, session.key, NOW_MS)
    assert token_of(people, found) == token.info
    with pytest.raises(Unauthenticated, match="sign in again"):
        authenticate_session(people, PREFIX + session.key.partition(".")[2], NOW_MS)
    with pytest.raises(Unauthenticated, match="sign in again"):
        authenticate_session(people.token_revoked(token.info.id, NOW_MS), session.key, NOW_MS)
