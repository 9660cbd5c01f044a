"""Tokens, passwords, sessions and the first start: what is kept, what is answered, and to whom."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from argon2 import PasswordHasher

from quotatree.access.check import PLATFORM, may
from quotatree.access.directory import Directory
from quotatree.access.errors import Forbidden
from quotatree.access.roles import Action
from quotatree.access.values import User
from quotatree.core.errors import Refused
from quotatree.identity.backoff import MOST_KEPT, Backoff
from quotatree.identity.errors import TooManyFailures, Unauthenticated
from quotatree.identity.first_start import first_start
from quotatree.identity.passwords import FREE_BY_ADDRESS, FREE_BY_USER, Passwords
from quotatree.identity.secret import new_secret
from quotatree.identity.sessions import (
    LIFETIME_MS,
    authenticate_session,
    check_csrf,
    expired_sessions,
    new_session,
)
from quotatree.identity.tokens import ID_LENGTH, NewToken, authenticate_token, new_token

NOW_MS = 1_800_000_000_000
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PASSWORD = "correct horse battery"


def with_token(expires_ms: int | None = None) -> tuple[Directory, NewToken]:
    token = new_token("ann", "laptop", NOW_MS, expires_ms)
    return Directory().with_user(User("ann")).with_token(token.info), token


# -- tokens --------------------------------------------------------------------------------------------------------


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


# -- passwords -----------------------------------------------------------------------------------------------------


def with_password(passwords: Passwords) -> Directory:
    return (
        Directory().with_user(User("ann", password=passwords.hash(PASSWORD))).with_user(User("no-password"))
    )


def test_the_right_password_is_recognised():
    passwords = Passwords(CHEAP)
    assert passwords.verify(with_password(passwords), "ann", PASSWORD, NOW_MS) == ("ann", None)


def test_by_default_passwords_are_kept_as_argon2id():
    kept = Passwords().hash(PASSWORD)
    assert kept.startswith("$argon2id$v=19$m=65536,")


class Counting(Passwords):
    """Counts how often a hash was really checked."""

    checked = 0

    def _is(self, stored: str, password: str) -> bool:
        self.checked += 1
        return super()._is(stored, password)


@pytest.mark.parametrize(
    ("change", "name", "password"),
    [
        ({}, "ann", "wrong"),
        ({}, "ann", ""),
        ({}, "ann", "x" * 5000),
        ({}, "nobody", PASSWORD),
        ({}, "no-password", ""),
        ({"disabled": True}, "ann", PASSWORD),
        ({"password": "not a hash"}, "ann", PASSWORD),
    ],
)
def test_every_wrong_login_is_answered_alike_and_after_the_same_work(change: dict, name: str, password: str):
    passwords = Counting(CHEAP)
    people = with_password(passwords)
    people = people.with_user(replace(people.user("ann"), **change))
    with pytest.raises(Unauthenticated, match=r"^wrong user name or password$"):
        passwords.verify(people, name, password, NOW_MS)
    assert passwords.checked == 1


def test_a_password_is_hashed_anew_when_the_parameters_have_changed():
    people = with_password(Passwords(CHEAP))
    dearer = Passwords(PasswordHasher(time_cost=2, memory_cost=16, parallelism=1))
    verified = dearer.verify(people, "ann", PASSWORD, NOW_MS)
    assert verified.new_hash is not None
    again = people.with_user(replace(people.user("ann"), password=verified.new_hash))
    assert dearer.verify(again, "ann", PASSWORD, NOW_MS).new_hash is None


@pytest.mark.parametrize("password", ["short", "x" * 1025])
def test_a_password_has_a_length_and_never_stands_in_the_refusal(password: str):
    with pytest.raises(Refused) as caught:
        Passwords(CHEAP).hash(password)
    assert password not in str(caught.value)


def test_guessing_slows_down_and_the_right_password_ends_that():
    passwords = Passwords(CHEAP)
    people = with_password(passwords)
    for _ in range(FREE_BY_ADDRESS + 1):
        with pytest.raises(Unauthenticated, match="wrong"):
            passwords.verify(people, "ann", "wrong", NOW_MS, "10.0.0.9")
    with pytest.raises(TooManyFailures) as caught:
        passwords.verify(people, "ann", PASSWORD, NOW_MS, "10.0.0.9")
    assert caught.value.retry_after_ms == 1000
    passwords.verify(people, "ann", PASSWORD, NOW_MS, "10.0.0.1")  # ann herself, elsewhere, is not locked out
    passwords.verify(people, "ann", PASSWORD, NOW_MS + 1000, "10.0.0.9")
    for _ in range(FREE_BY_ADDRESS):
        with pytest.raises(Unauthenticated, match="wrong"):
            passwords.verify(people, "ann", "wrong", NOW_MS + 1000, "10.0.0.9")


def test_many_addresses_do_not_help():
    passwords = Passwords(CHEAP)
    people = with_password(passwords)
    for number in range(FREE_BY_USER + 1):
        with pytest.raises(Unauthenticated, match="wrong"):
            passwords.verify(people, "ann", "wrong", NOW_MS, f"10.0.0.{number}")
    with pytest.raises(TooManyFailures):
        passwords.verify(people, "ann", "wrong", NOW_MS, "10.0.1.1")


def test_the_wait_doubles_up_to_a_quarter_of_an_hour():
    backoff = Backoff(free=0)
    now_ms, waits = 0, []
    for _ in range(14):
        backoff.begin("ann", now_ms)
        with pytest.raises(TooManyFailures) as caught:
            backoff.begin("ann", now_ms)
        waits.append(caught.value.retry_after_ms // 1000)
        now_ms += caught.value.retry_after_ms
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900]


def test_memory_of_failures_is_bounded():
    backoff = Backoff(free=0)
    for number in range(MOST_KEPT + 5):
        backoff.begin(str(number), 0)
    assert len(backoff._failures) == MOST_KEPT


# -- sessions ------------------------------------------------------------------------------------------------------


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


def test_expired_sessions_are_found_to_be_swept():
    old, young = new_session("ann", NOW_MS, 10), new_session("ann", NOW_MS, 20)
    people = Directory().with_user(User("ann")).with_session(old.info).with_session(young.info)
    assert expired_sessions(people, NOW_MS + 10) == (old.info.id_hash,)
    assert set(people.without_sessions(expired_sessions(people, NOW_MS + 10)).sessions) == {
        young.info.id_hash
    }


# -- first start ---------------------------------------------------------------------------------------------------


def test_the_first_start_makes_an_admin_with_one_token():
    made = first_start(Directory(), NOW_MS)
    assert made is not None
    token = authenticate_token(made.directory, made.token, NOW_MS)
    assert token.user == made.user
    assert may(made.directory, made.user, Action.MANAGE_USERS, PLATFORM)
    assert made.directory.user(made.user).password is None
    assert first_start(made.directory, NOW_MS) is None


def test_secrets_are_long_and_never_twice_the_same():
    made = {new_secret() for _ in range(100)}
    assert len(made) == 100
    assert {len(secret) for secret in made} == {43}
