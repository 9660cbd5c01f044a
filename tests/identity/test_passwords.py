"""Passwords: how they are kept, and what wrong ones are answered."""

from __future__ import annotations

from dataclasses import replace

import pytest
from argon2 import PasswordHasher

from quotatree.core.errors import Refused
from quotatree.identity.errors import Unauthenticated
from quotatree.identity.passwords import Passwords
from tests.identity.signing_in import CHEAP, NOW_MS, PASSWORD, with_password


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
