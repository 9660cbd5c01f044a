"""A8, J4: whatever is sent, an event is applied, or refused with nothing changed; it never raises anything else."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings

from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from tests.profiles import by_profile
from tests.property import happenings
from tests.property.nonsense import nonsense
from tests.property.snapshot import snapshot
from tests.property.test_promises import RANDOM
from tests.property.walk import Walk, begin, step
from tests.property.worlds import chance

WALKS = by_profile(quick=40, deep=200, long=20_000)


@given(RANDOM)
@settings(max_examples=WALKS)
def test_an_event_is_applied_or_refused_and_then_nothing_has_changed(random: Random) -> None:
    walk = begin(random)
    for _ in range(4):
        step(random, walk, check=False)
        for _ in range(12):
            make = nonsense if chance(random, 80) else happenings.anything_at_all
            event = make(random, walk.state, walk.now_ms)
            if event is None:
                continue
            before = snapshot(walk.state)
            try:
                apply(walk.state, event, walk.now_ms)
            except Refused:
                assert snapshot(walk.state) == before, f"refused, yet something changed: {event}"
        assert_sound(walk)


def assert_sound(walk: Walk) -> None:
    """Check what a wrong event could have spoiled: the accounts, and that a plan can be made."""
    walk.check_accounting()
    walk.plan(check=False)
