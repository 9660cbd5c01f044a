"""How many replicas does a demand lead to (P16)? By examples, and by random demands: within bounds, damped, at rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotatree.core.errors import Refused
from quotatree.core.model.autoscale import (
    LONGEST_GAP_MS,
    UP_AFTER_MS,
    Autoscale,
    Demand,
    Sample,
    check_autoscale,
    next_move,
    with_sample,
)
from quotatree.core.model.job import JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.policy import Module
from quotatree.core.model.quota import QuotaId

TICK_MS = 2_000
AUTO = Autoscale(1, 4, 8_000, down_after_ms=60_000)
SERVICE = JobSpec(
    JobId("s"), QuotaId("q"), (ReplicaGroup(2, Shape(1000, 0, 0)),), 0, module=Module.EAS, min_replicas=1
)


class Watched:
    """A service whose demand is played, one sample every two seconds. `sizes`: what it wanted after each."""

    def __init__(self, auto: Autoscale = AUTO, replicas: int = 1) -> None:
        self.auto = auto
        self.replicas = replicas
        self.now_ms = 1_000_000
        self.known: Demand | None = None
        self.sizes: list[int] = []
        self.figures: list[tuple[int, int]] = []

    def play(self, in_flight: Iterable[float], run: int = 1) -> Watched:
        for figure in in_flight:
            self.now_ms += TICK_MS
            sample = Sample(self.now_ms, round(figure * 1000), TICK_MS, self.now_ms)
            self.known = with_sample(self.auto, self.known, run, sample)
            move = next_move(self.auto, self.replicas, self.known)
            if move is not None:
                assert move.replicas != self.replicas
                self.replicas = move.replicas
                self.figures.append((move.in_flight_milli, move.over_ms))
            self.sizes.append(self.replicas)
        return self


def test_it_rises_to_what_the_demand_needs_once_that_has_lasted() -> None:
    seen = Watched().play([20] * 4)
    assert seen.sizes == [1, 1, 3, 3], "after three samples of two seconds"
    assert seen.figures == [(20_000, UP_AFTER_MS)]


def test_a_spike_starts_nothing() -> None:
    assert set(Watched().play([2, 2, 2, 100, 100, 2, 2]).sizes) == {1}


def test_it_rises_to_the_least_of_what_was_seen() -> None:
    assert Watched().play([2, 2, 30, 9, 30]).sizes[-1] == 2


def test_it_falls_only_when_the_demand_was_low_all_the_while() -> None:
    seen = Watched(replicas=4).play([0] * 29)
    assert set(seen.sizes) == {4}, "58 seconds"
    assert seen.play([0]).replicas == 1
    lull = Watched(replicas=4).play([0] * 20).play([31]).play([0] * 29)
    assert lull.replicas == 4
    assert lull.play([0]).replicas == 1


def test_it_falls_no_lower_than_the_most_that_was_seen_needs_with_a_margin() -> None:
    assert Watched(replicas=4).play([7.2] * 60).replicas == 1
    assert Watched(replicas=4).play([7.3] * 60).replicas == 2, "one replica would be at more than nine tenths"
    assert Watched(replicas=1).play([7.3] * 60).replicas == 1, "and yet it is enough for one"


def test_without_a_wait_it_falls_at_the_next_sample() -> None:
    assert Watched(replace(AUTO, down_after_ms=0), replicas=4).play([0]).replicas == 1


def test_after_a_gap_or_in_another_run_nothing_is_known() -> None:
    seen = Watched().play([20, 20])
    seen.now_ms += LONGEST_GAP_MS + 1
    assert seen.play([20, 20]).replicas == 1
    assert seen.play([20]).replicas == 3
    assert Watched().play([20, 20]).play([20, 20], run=2).replicas == 1


def test_outside_its_bounds_it_is_moved_into_them_at_once() -> None:
    assert Watched(replicas=9).play([50]).replicas == 4
    assert Watched(replace(AUTO, min_replicas=2), replicas=1).play([0]).replicas == 2


@pytest.mark.parametrize(
    ("changes", "of_job", "field", "says"),
    [
        ({"min_replicas": 5}, {}, "autoscale.min", "at most 4"),
        ({"min_replicas": 0}, {}, "autoscale.min", "at least 1"),
        ({"target_milli": 0}, {}, "autoscale.target", "above 0"),
        ({"down_after_ms": 3_600_001}, {}, "autoscale.down_after", "at most 1h"),
        ({}, {"module": Module.DLC, "min_replicas": None}, "autoscale", "only a service"),
        ({}, {"max_replicas": 6}, "max_replicas", "leave it out"),
        ({"max_replicas": 1}, {}, "replicas", "must be 1..1"),
        ({"min_replicas": 2}, {"min_replicas": None, "groups": SERVICE.groups * 2}, "autoscale", "one group"),
        ({"min_replicas": 1}, {"min_replicas": 2}, "min_replicas", "at most 1"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_field(
    changes: dict[str, Any], of_job: dict[str, Any], field: str, says: str
) -> None:
    with pytest.raises(Refused, match=says) as refused:
        check_autoscale(replace(AUTO, **changes), replace(SERVICE, **of_job))
    assert (refused.value.field, refused.value.rule) == (field, "P16")


def test_a_lawful_one_is_not_refused() -> None:
    check_autoscale(AUTO, SERVICE)


# -- whatever the demand ---------------------------------------------------------------------------------------------

AUTOS = st.builds(
    lambda low, more, target, ticks: Autoscale(low, low + more, target, ticks * TICK_MS),
    st.integers(1, 5), st.integers(0, 20), st.integers(1, 40_000), st.integers(0, 40),
)  # fmt: skip
LOADS = st.lists(st.integers(0, 800_000).map(lambda milli: milli / 1000), min_size=1, max_size=80)


@given(AUTOS, LOADS, st.integers(1, 40))
def test_it_never_leaves_its_bounds(auto: Autoscale, loads: list[float], first: int) -> None:
    seen = Watched(auto, first).play(loads)
    assert all(auto.min_replicas <= size <= auto.max_replicas for size in seen.sizes)


@given(AUTOS, LOADS, st.integers(0, 800_000))
def test_under_a_constant_demand_it_comes_to_rest_with_enough_and_not_too_many(
    auto: Autoscale, before: list[float], milli: int
) -> None:
    """Once both windows have seen nothing else, it moves at most once, and then no more."""
    ticks = max(UP_AFTER_MS, auto.down_after_ms) // TICK_MS + 1
    seen = Watched(auto).play(before).play([milli / 1000] * ticks)
    moves = len(seen.figures)
    seen.play([milli / 1000] * ticks * 3)
    assert len(seen.figures) == moves
    enough = -(-milli // auto.target_milli)
    most = -(-milli * 10 // (auto.target_milli * 9))
    low, high = auto.min_replicas, auto.max_replicas
    assert max(low, min(high, enough)) <= seen.replicas <= max(low, min(high, most))


@given(AUTOS, st.integers(0, 400_000), st.lists(st.integers(-4, 4), min_size=120, max_size=120))
def test_a_demand_that_trembles_does_not_make_it_tremble(
    auto: Autoscale, milli: int, percents: list[int]
) -> None:
    """Within 4 % of one figure: after the first windows it may still rise or fall, but it never does both."""
    auto = replace(auto, down_after_ms=min(auto.down_after_ms, 20 * TICK_MS))
    calm = max(UP_AFTER_MS, auto.down_after_ms) // TICK_MS + 1
    seen = Watched(auto).play([milli / 1000] * calm)
    before = len(seen.sizes)
    seen.play([milli * (100 + percent) / 100_000 for percent in percents])
    steps = [b - a for a, b in zip(seen.sizes[before - 1 :], seen.sizes[before:], strict=False) if a != b]
    assert all(step > 0 for step in steps) or all(step < 0 for step in steps)


@given(AUTOS, LOADS)
def test_what_is_kept_does_not_grow_with_time(auto: Autoscale, loads: list[float]) -> None:
    seen = Watched(auto).play(loads)
    assert seen.known is not None
    assert len(seen.known.samples) <= max(UP_AFTER_MS, auto.down_after_ms) // TICK_MS + 1
