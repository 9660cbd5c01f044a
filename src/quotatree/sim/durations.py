"""How long do jobs like this one run? From finished ones: of the same user, quota and size, and of wider groups where these are few."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from quotatree.core import WHOLE_GPU

FEW: Final = 5
"""With fewer finished jobs than this, a wider group is looked at, and nothing is told of the widest: a quarter, half and three
quarters of five are three different jobs, and neither the shortest nor the longest is among them."""
GROUPS: Final = (
    "the same user, quota and size",
    "the same user and size",
    "the same quota and size",
    "the same size",
    "the same quota",
    "the whole tree",
)


class RunKind(NamedTuple):
    """What durations go by."""

    owner: str
    quota: str
    module: str
    gpu_milli: int


class Typical(NamedTuple):
    """Durations of finished jobs, shortest first, in milliseconds; `group` is an index of GROUPS."""

    durations: Sequence[int]
    group: int


class Durations:
    """What is known of finished jobs. Jobs of other modules never count: a notebook says nothing about training."""

    def __init__(self, finished: Iterable[tuple[RunKind, int]] = ()) -> None:
        self._known: dict[tuple[object, ...], list[int]] = {}
        self.count = 0
        for kind, ran_ms in finished:
            self.learn(kind, ran_ms)

    def learn(self, kind: RunKind, ran_ms: int) -> None:
        self.count += 1
        for key in _keys(kind):
            insort(self._known.setdefault(key, []), ran_ms)

    def typical(self, kind: RunKind) -> Typical | None:
        """The closest group with at least FEW finished jobs; None if not even the widest has so many."""
        for group, key in enumerate(_keys(kind)):
            found = self._known.get(key, ())
            if len(found) >= FEW:
                return Typical(found, group)
        return None


def left_ms(typical: Typical, ran_ms: int, share: float) -> int:
    """How much longer a job runs that has run for `ran_ms`: so that `share` of those that ran as long were over by then.

    Where all were over sooner, it is taken to run on for a part of what it has run.
    """
    longer = typical.durations[bisect_right(typical.durations, ran_ms) :]
    if not longer:
        return max(1, round(2 * share * ran_ms))
    return max(1, longer[min(len(longer) - 1, int(share * len(longer)))] - ran_ms)


def _keys(kind: RunKind) -> list[tuple[object, ...]]:
    """The groups a job is in, in the order of GROUPS. Sizes are alike from one power of two to the next."""
    size = -(-kind.gpu_milli // WHOLE_GPU).bit_length() if kind.gpu_milli >= WHOLE_GPU else kind.gpu_milli > 0
    return [
        (kind.module, "uqs", kind.owner, kind.quota, size),
        (kind.module, "us", kind.owner, size),
        (kind.module, "qs", kind.quota, size),
        (kind.module, "s", size),
        (kind.module, "q", kind.quota),
        (kind.module,),
    ]
