"""What is each bound of model/effort.py worth? `python -m benchmarks.bounds` plans with others in its place.

Small full clusters on which one job of up to three shapes waits, larger ones, and some hard families at a quarter of their first size. One
plan is made with each value and taken back. What differs is a decision, or only where a replica stands; dearer are victims that cost more.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import NamedTuple

from benchmarks.hard_families import FAMILIES
from benchmarks.hard_worlds import LATER
from benchmarks.instances import Instance, instances
from benchmarks.measure import Table
from benchmarks.world import request_of, state_of
from quotatree.core import JobSpec, ReplicaGroup, Shape, State, apply, plan
from quotatree.core import events as ev
from quotatree.core.errors import Refused
from quotatree.core.model import effort

TRIED = {
    "EXACT": (1_000, 3_000, 30_000),
    "FEW": (0, 12, 48),
    "ONE_BY_ONE": (1, 16, 256),
    "BEGINNINGS": (0, 4_096),
    "ORDERS": (1, 24),
    "PACKINGS": (0, 100, 5_000),
    "BORROWERS": (16, 1_024),
    "TURNS": (2, 64),
    "STAND_INS": (0, 4, 64),
    "NODES_KEPT": (6_400, 64_000, 6_400_000),
}


SMALL_FAMILIES = {
    "n fair borrowers",
    "n units on a node",
    "n shapes over own work",
    "n gangs of two shapes",
    "n shapes over reserved shares",
    "n borrowers of whole nodes",
}


class Made(NamedTuple):
    """One plan: what was decided, what its victims cost, what it spent, and where jobs got places."""

    decided: str
    cost: int
    work: int


class Case(NamedTuple):
    """A state and when it is planned."""

    state: State
    now_ms: int

    def planned(self) -> Made:
        """Return the plan, which is taken back."""
        before = self.state.work.done
        self.state.begin()
        try:
            made = plan(self.state, self.now_ms)
        finally:
            self.state.rollback()
        preemptions = [getattr(decision, "preemption", None) for decision in made.decisions]
        cost = sum(preemption.cost for preemption in preemptions if preemption is not None)
        return Made(repr(made), cost, self.state.work.done - before)


def bounds() -> Table:
    """Compare plans with other values of each bound."""
    table = Table(
        "Bounds of effort: what other values would change",
        ("bound", "is", "would be", "plans", "that differ", "dearer", "work", "most work of one plan"),
        note="Work is counted in units of about five microseconds, as a part of what it is with the values that are.",
    )
    differ: dict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    plans = work = most = 0
    for case in [*_clusters(), *_families()]:
        case.planned()  # builds its indexes
        usual = case.planned()
        plans, work, most = plans + 1, work + usual.work, max(most, usual.work)
        for name, values in TRIED.items():
            for value in values:
                with _set(name, value):
                    other = case.planned()
                seen = differ[name, value]
                seen[0] += other.decided != usual.decided
                seen[1] += other.cost > usual.cost
                seen[2] += other.work
                seen[3] = max(seen[3], other.work)
    for (name, value), (unlike, dearer, spent, largest) in differ.items():
        table.add(
            name, f"{getattr(effort, name):,}", f"{value:,}", plans, unlike, dearer, f"{100 * spent / work:.0f} %",
            f"{largest:,} ({most:,})",
        )  # fmt: skip
    return table


@contextmanager
def _set(name: str, value: int) -> Iterator[None]:
    """Let a bound have another value wherever it is used."""
    usual = getattr(effort, name)
    users = [
        module
        for path, module in list(sys.modules.items())
        if path.startswith("quotatree.core") and hasattr(module, name)
    ]
    try:
        for module in users:
            setattr(module, name, value)
        yield
    finally:
        for module in users:
            setattr(module, name, usual)


def _clusters() -> Iterator[Case]:
    for gpus, count in ((32, 60), (128, 30), (512, 10)):
        for given in instances(count, gpus, first_seed=1_000):
            yield _with(given, request_of(given))
            several = _of_several_shapes(given)
            if several is not None:
                yield several


def _with(given: Instance, spec: JobSpec) -> Case:
    state = state_of(given)
    apply(state, ev.JobSubmitted(spec), given.now_ms)
    return Case(state, given.now_ms)


def _of_several_shapes(given: Instance) -> Case | None:
    random = Random(given.seed)
    shapes = [
        Shape(random.choice((500, 1_000, 2_000, 3_000, 4_000)), 0, 0) for _ in range(random.randint(2, 3))
    ]
    groups = tuple(ReplicaGroup(random.randint(1, 4), shape) for shape in dict.fromkeys(shapes))
    asked = request_of(given)
    try:
        return _with(
            given, JobSpec(asked.id, asked.quota, groups, asked.submitted_ms, priority=asked.priority)
        )
    except Refused:
        return None


def _families() -> Iterator[Case]:
    for family in FAMILIES:
        if family.name in SMALL_FAMILIES:
            yield Case(family.build(max(1, family.first // 4)), LATER)


if __name__ == "__main__":
    print(bounds().text())
