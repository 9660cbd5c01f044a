"""The range of an estimate is what earlier answers kept to."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from quotatree.sim.calibration import ENOUGH, NEWEST, NOTICED_MS, Outcome, calibrated

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS


def test_fewer_than_thirty_outcomes_tell_no_range():
    alike = [Outcome(HOUR_MS, HOUR_MS)] * ENOUGH
    assert calibrated(alike[1:]) is None
    learned = calibrated(alike)
    assert learned is not None
    assert learned.outcomes == ENOUGH
    assert learned.range_ms(HOUR_MS) == (HOUR_MS, HOUR_MS)


def test_waits_that_are_too_short_to_notice_teach_nothing():
    short = [Outcome(HOUR_MS, NOTICED_MS)] * 100
    assert calibrated([*short, *[Outcome(HOUR_MS, HOUR_MS)] * (ENOUGH - 1)]) is None


def test_answers_that_were_twice_too_early_make_the_range_as_late():
    learned = calibrated([Outcome(10 * MINUTE_MS, 21 * MINUTE_MS)] * ENOUGH)
    assert learned is not None
    assert learned.range_ms(10 * MINUTE_MS) == (10 * MINUTE_MS, 21 * MINUTE_MS)
    assert learned.range_ms(4 * HOUR_MS)[1] == 2 * 4 * HOUR_MS + MINUTE_MS


def test_only_the_newest_outcomes_count():
    newest = [Outcome(HOUR_MS, HOUR_MS)] * NEWEST
    learned = calibrated([*newest, *[Outcome(HOUR_MS, 100 * HOUR_MS)] * 1_000])
    assert learned is not None
    assert (learned.outcomes, learned.range_ms(HOUR_MS)) == (NEWEST, (HOUR_MS, HOUR_MS))


def test_eight_of_ten_starts_like_the_earlier_ones_fall_into_the_range():
    rng = random.Random(7)

    def one() -> Outcome:
        told_ms = round(10 ** rng.uniform(5, 8))
        return Outcome(told_ms, 2 * MINUTE_MS + round(told_ms * rng.lognormvariate(0, 1)))

    learned = calibrated([one() for _ in range(NEWEST)])
    assert learned is not None
    later = [one() for _ in range(2_000)]
    within = [low <= real <= high for told, real in later for low, high in [learned.range_ms(told)]]
    assert 0.78 < sum(within) / len(within) < 0.9


WAITS = st.integers(0, 30 * 24 * HOUR_MS)


@given(st.lists(st.tuples(WAITS, WAITS), min_size=ENOUGH, max_size=60), WAITS)
def test_a_range_holds_the_likely_wait_and_no_time_before_now(pairs: list[tuple[int, int]], told_ms: int):
    learned = calibrated([Outcome(*pair) for pair in pairs])
    if learned is not None:
        shortest, longest = learned.range_ms(told_ms)
        assert 0 <= shortest <= told_ms <= longest
