"""A session lasts its time, and writes need its second secret."""

from __future__ import annotations

import pytest

from quotatree.access.directory import Directory
from quotatree.access.errors import Forbidden
from quotatree.access.values import User
from quotatree.identity.errors import Unauthenticated
from quotatree.identity.sessions import (
    LIFETIME_MS,
    authenticate_session,
    check_csrf,
    new_session,
    token_of,
)
from quotatree.identity.tokens import new_token

NOW_MS = 1_800_000_000_000


def test_a_session_lasts_its_time_and_only_hashes_are_kept():
    session = new_session("ann", NOW_MS)
    people = Directory().with_user(User("ann")).with_session(session.info)
    assert authenticate_session(people, session.cookie, NOW_MS + LIFETIME_MS - 1).user == "ann"
    for cookie, now_ms in (
        (session.cookie, NOW_MS + LIFETIME_MS),
        (session.csrf, NOW_MS),
        (session.info.id_hash, NOW_MS),
        ("", NOW_MS),
    ):
        with pytest.raises(Unauthenticated, match="sign in again"):
            authenticate_session(people, cookie, now_ms)
    kept = {session.info.id_hash, session.info.csrf_hash}
    assert kept.isdisjoint({session.cookie, session.csrf})


def test_a_session_of_a_disabled_user_is_over():
    session = new_session("ann", NOW_MS)
    people = Directory(
        users={"ann": User("ann", disabled=True)}, sessions={session.info.id_hash: session.info}
    )
    with pytest.raises(Unauthenticated):
        authenticate_session(people, session.cookie, NOW_MS)


def test_a_request_without_the_csrf_token_is_forbidden():
    session = new_session("ann", NOW_MS)
    check_csrf(session.info, session.csrf)
    for wrong in ("", session.cookie, session.info.csrf_hash):
        with pytest.raises(Forbidden, match="CSRF"):
            check_csrf(session.info, wrong)


def test_a_session_by_a_token_ends_with_the_token():
    token = new_token("ann", "ci", NOW_MS, NOW_MS + 10)
    session = new_session("ann", NOW_MS, token=token.info)
    assert (session.info.token, session.info.expires_ms) == (token.info.id, NOW_MS + 10)
    people = Directory().with_user(User("ann")).with_token(token.info).with_session(session.info)
    found = authenticate_session(people, session.cookie, NOW_MS)
    assert token_of(people, found) == token.info
    with pytest.raises(Unauthenticated, match="sign in again"):
        authenticate_session(people, session.cookie.partition(".")[2], NOW_MS)
    with pytest.raises(Unauthenticated, match="sign in again"):
        authenticate_session(people.token_revoked(token.info.id, NOW_MS), session.cookie, NOW_MS)
