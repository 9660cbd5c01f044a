"""How many replicas should a service that follows its demand want (P16)?

A service says between which figures its `replicas` may move, and how many requests in flight one replica shall have. What
is seen of the demand comes in samples; two windows over them damp the answer. It rises to what every sample of a short
window asks for, so that a spike starts nothing, and falls to the most that any sample of a long one asks for, so that a lull
stops nothing. Between what makes it rise and what lets it fall lies a margin, in which it stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from quotatree.core.errors import Refused
from quotatree.core.model.job import JobSpec
from quotatree.core.model.policy import Module

UP_AFTER_MS: Final = 6_000
"""A demand that is seen for so long raises the number of replicas."""
DOWN_AFTER_MS: Final = 300_000
"""Unless a service says otherwise, a demand must have been lower for so long before it lowers that number."""
LONGEST_DOWN_AFTER_MS: Final = 3_600_000
MOST_TARGET: Final = 1_000_000
FALL_MARGIN_PERCENT: Final = 10
"""With so much less than the target in flight at each replica that would stay, one that is too many goes."""
LONGEST_GAP_MS: Final = 15_000
"""After so long without a sample nothing is known of the time before: both windows begin anew."""


@dataclass(frozen=True, slots=True)
class Autoscale:
    """Bounds of `replicas`, and the requests in flight that one replica shall have, in thousandths of a request."""

    min_replicas: int
    max_replicas: int
    target_milli: int
    down_after_ms: int = DOWN_AFTER_MS


class Sample(NamedTuple):
    """Requests in flight in thousandths, on average over the `span_ms` that end at `at_ms`. `number`: which one it is."""

    at_ms: int
    in_flight_milli: int
    span_ms: int
    number: int


@dataclass(frozen=True, slots=True)
class Demand:
    """What was seen of one run: samples, oldest first, that reach back without a gap to `since_ms`."""

    run: int
    since_ms: int
    samples: tuple[Sample, ...]


class Move(NamedTuple):
    """Another number of replicas, and the figure that it rests on, which held for `over_ms`."""

    replicas: int
    in_flight_milli: int
    over_ms: int


def check_autoscale(auto: Autoscale, spec: JobSpec) -> None:
    """Raise Refused unless a job that asks for this can follow its demand in such bounds."""
    low, high = auto.min_replicas, auto.max_replicas
    if spec.module is not Module.EAS:
        raise _refused("autoscale", spec.module.value, "only a service (EAS) has requests to follow")
    if low < 1:
        raise _refused("autoscale.min", low, "must be at least 1")
    if low > high:
        raise _refused("autoscale.min", low, f"must be at most {high} (autoscale.max)")
    if not 0 < auto.target_milli <= MOST_TARGET * 1000:
        said = auto.target_milli / 1000
        raise _refused("autoscale.target", said, f"must be above 0 and at most {MOST_TARGET} requests")
    if not 0 <= auto.down_after_ms <= LONGEST_DOWN_AFTER_MS:
        raise _refused("autoscale.down_after", f"{auto.down_after_ms / 1000:g}s", "must be at most 1h")
    if len(spec.groups) != 1:
        raise _refused(
            "autoscale", len(spec.groups), "only a job of one group can have more or fewer replicas"
        )
    if spec.max_replicas is not None:
        raise _refused(
            "max_replicas",
            spec.max_replicas,
            f"autoscale.max ({high}) says how many at most: leave it out, or resize it to the replicas first",
        )
    if not low <= spec.wanted_replicas <= high:
        raise _refused(
            "replicas", spec.wanted_replicas, f"must be {low}..{high}, within which autoscale moves it"
        )
    if spec.min_replicas is not None and spec.min_replicas > low:
        raise _refused(
            "min_replicas", spec.min_replicas, f"must be at most {low}, to which autoscale may lower replicas"
        )


def with_sample(auto: Autoscale, known: Demand | None, run: int, sample: Sample) -> Demand:
    """What is known with one more sample. Samples that no window reaches any more are dropped."""
    if (
        known is None
        or known.run != run
        or sample.at_ms - sample.span_ms - known.samples[-1].at_ms > LONGEST_GAP_MS
    ):
        return Demand(run, sample.at_ms - sample.span_ms, (sample,))
    oldest_ms = sample.at_ms - max(UP_AFTER_MS, auto.down_after_ms)
    kept = tuple(one for one in known.samples if one.at_ms > oldest_ms)
    return Demand(run, known.since_ms, (*kept, sample))


def next_move(auto: Autoscale, replicas: int, known: Demand) -> Move | None:
    """To how many replicas the demand leads from this number, or None if it stays. Never outside the bounds."""
    within = _within(auto, replicas)
    if within != replicas:
        return Move(within, known.samples[-1].in_flight_milli, 0)
    least = _over(known, UP_AFTER_MS, min)
    if least is not None:
        risen = _within(auto, _needed(least, auto.target_milli, 100))
        if risen > replicas:
            return Move(risen, least, UP_AFTER_MS)
    most = _over(known, auto.down_after_ms, max)
    if most is not None:
        fallen = _within(auto, _needed(most, auto.target_milli, 100 - FALL_MARGIN_PERCENT))
        if fallen < replicas:
            return Move(fallen, most, auto.down_after_ms)
    return None


def _over(known: Demand, window_ms: int, pick: Callable[[list[int]], int]) -> int | None:
    """The smallest or largest figure in the window that ends now; None if less than the window is known."""
    now_ms = known.samples[-1].at_ms
    if now_ms - known.since_ms < window_ms:
        return None
    inside = [one.in_flight_milli for one in known.samples if one.at_ms > now_ms - window_ms]
    return pick(inside or [known.samples[-1].in_flight_milli])


def _needed(in_flight_milli: int, target_milli: int, percent: int) -> int:
    """How many replicas that have at most this percentage of the target each."""
    return -(-in_flight_milli * 100 // (target_milli * percent))


def _within(auto: Autoscale, replicas: int) -> int:
    return max(auto.min_replicas, min(auto.max_replicas, replicas))


def _refused(field: str, value: object, message: str) -> Refused:
    return Refused(field, value, "P16", message)
