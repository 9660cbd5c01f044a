"""Guessing passwords slows down, and cannot fill the memory."""

from __future__ import annotations

import pytest

from quotatree.identity.backoff import MOST_KEPT, Backoff
from quotatree.identity.errors import TooManyFailures, Unauthenticated
from quotatree.identity.guesses import FREE
from quotatree.identity.passwords import Passwords
from tests.identity.signing_in import CHEAP, NOW_MS, PASSWORD, with_password


def test_guessing_slows_down_and_the_right_password_ends_that():
    passwords = Passwords(CHEAP)
    people = with_password(passwords)
    for _ in range(FREE + 1):
        with pytest.raises(Unauthenticated, match="wrong"):
            passwords.verify(people, "ann", "wrong", NOW_MS, "10.0.0.9")
    with pytest.raises(TooManyFailures) as caught:
        passwords.verify(people, "ann", PASSWORD, NOW_MS, "10.0.0.9")
    assert caught.value.retry_after_ms == 1000
    passwords.verify(people, "ann", PASSWORD, NOW_MS, "10.0.0.1")  # ann herself, elsewhere, is not locked out
    passwords.verify(people, "ann", PASSWORD, NOW_MS + 1000, "10.0.0.9")
    for _ in range(FREE):
        with pytest.raises(Unauthenticated, match="wrong"):
            passwords.verify(people, "ann", "wrong", NOW_MS + 1000, "10.0.0.9")


def test_guesses_from_many_addresses_do_not_lock_the_right_user_out():
    passwords = Passwords(CHEAP)
    people = with_password(passwords)
    for number in range(60):
        with pytest.raises(Unauthenticated, match="wrong"):
            passwords.verify(people, "ann", "wrong", NOW_MS, f"10.0.0.{number}")
    passwords.verify(people, "ann", PASSWORD, NOW_MS, "10.0.1.1")


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
