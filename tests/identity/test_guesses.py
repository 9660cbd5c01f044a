"""Those who guess wait; the right user at another address does not."""

from __future__ import annotations

import pytest

from quotatree.identity.errors import TooManyFailures
from quotatree.identity.guesses import FREE, GUESSES_OF_A_NAME, GUESSES_OF_AN_ADDRESS, MOST_KNOWN, Guesses

HOUR_MS = 3_600_000


def wait_ms(guesses: Guesses, name: str, address: str, now_ms: int) -> int:
    """How long the name must wait at the address; a try that is begun counts as wrong."""
    try:
        guesses.begin(name, address, now_ms)
    except TooManyFailures as refused:
        return refused.retry_after_ms
    return 0


def test_a_day_of_guessing_from_one_address_locks_the_user_out_nowhere_else():
    guesses = Guesses()
    now_ms = 0
    while now_ms < 24 * HOUR_MS:
        now_ms += max(1, wait_ms(guesses, "ann", "10.0.0.9", now_ms))
    assert wait_ms(guesses, "ann", "10.0.0.9", now_ms - 1) > 0
    assert wait_ms(guesses, "ann", "10.0.0.1", now_ms) == 0


def test_guessing_from_many_addresses_leaves_a_further_one_a_single_try_and_no_lock():
    guesses = Guesses()
    for number in range(1000):
        while wait_ms(guesses, "ann", f"10.0.{number // 250}.{number % 250}", 0) == 0:
            pass
    assert wait_ms(guesses, "ann", "192.168.0.1", 0) == 0, "the right password would be taken"
    assert wait_ms(guesses, "ann", "192.168.0.1", 0) == 0
    assert wait_ms(guesses, "ann", "192.168.0.1", 0) == 1000, "and was it wrong, the next ones wait"
    guesses.succeeded("ann", "192.168.0.2")
    assert [wait_ms(guesses, "ann", "192.168.0.3", 0) for _ in range(FREE + 1)] == [0] * (FREE + 1)


def test_many_addresses_try_less_than_each_of_them_may():
    guesses, tried = Guesses(), 0
    for number in range(200):
        while wait_ms(guesses, "ann", f"10.0.0.{number}", 0) == 0:
            tried += 1
    assert tried <= GUESSES_OF_A_NAME + FREE + 2 * 200


def test_one_address_that_guesses_many_names_waits_whatever_the_name():
    guesses = Guesses()
    guesses.begin("bob", "10.0.0.9", 0)
    guesses.succeeded("bob", "10.0.0.9")
    for number in range(GUESSES_OF_AN_ADDRESS + 1):
        assert wait_ms(guesses, f"user{number}", "10.0.0.9", 0) == 0
    assert wait_ms(guesses, "another", "10.0.0.9", 0) == 1000
    assert wait_ms(guesses, "another", "10.0.0.8", 0) == 0
    assert wait_ms(guesses, "bob", "10.0.0.9", 0) == 0, "who signed in from there before does not wait"
    now_ms = 0
    for number in range(50):
        now_ms += wait_ms(guesses, f"more{number}", "10.0.0.9", now_ms)
    assert wait_ms(guesses, "another", "10.0.0.9", now_ms) <= 60_000


def test_a_login_of_ones_own_between_guesses_does_not_help():
    guesses = Guesses()
    for number in range(GUESSES_OF_AN_ADDRESS + 1):
        guesses.begin(f"user{number}", "10.0.0.9", 0)
        guesses.begin("eve", "10.0.0.9", 0)
        guesses.succeeded("eve", "10.0.0.9")
    assert wait_ms(guesses, "ann", "10.0.0.9", 0) > 0


def test_a_right_password_is_no_guess_of_its_address():
    guesses = Guesses()
    for number in range(10 * GUESSES_OF_AN_ADDRESS):
        assert wait_ms(guesses, f"user{number}", "10.0.0.9", 0) == 0
        guesses.succeeded(f"user{number}", "10.0.0.9")


def test_addresses_of_one_network_of_ipv6_count_as_one():
    guesses = Guesses()
    waits = [wait_ms(guesses, "ann", f"2001:db8::{number:x}", 0) for number in range(FREE + 2)]
    assert waits[-1] > 0
    assert wait_ms(guesses, "ann", "2001:db8:0:1::1", 0) == 0
    assert wait_ms(guesses, "ann", "", 0) == 0


def test_memory_of_those_who_signed_in_is_bounded():
    guesses = Guesses()
    for number in range(MOST_KNOWN + 5):
        guesses.succeeded(f"user{number}", "10.0.0.9")
    assert len(guesses._known) == MOST_KNOWN


def test_a_try_that_must_wait_is_not_counted():
    guesses = Guesses()
    for _ in range(FREE + 1):
        guesses.begin("ann", "10.0.0.9", 0)
    for _ in range(1000):
        with pytest.raises(TooManyFailures):
            guesses.begin("ann", "10.0.0.9", 0)
    assert wait_ms(guesses, "bob", "10.0.0.9", 0) == 0
    assert wait_ms(guesses, "ann", "10.0.0.9", 1000) == 0
