"""What a job takes on a small cluster is the best of all lawful sets, and it waits only if there is none (P4, P5, P7)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from quotatree.core.model.job import ReplicaGroup, Shape
from quotatree.core.state import State
from tests.profiles import by_profile
from tests.property.every_set import Taken, best_of_all, crowded, may_be_counted, of_plan
from tests.property.frozen import frozen, moments
from tests.property.model import Model
from tests.property.worlds import pick

CASES = by_profile(quick=60, deep=300, long=10_000)
"""Clusters of each kind of job."""


def one(random: Random) -> list[ReplicaGroup]:
    return [ReplicaGroup(1, Shape(pick(random, 1000, 2000, 2000, 3000), 0, 0))]


def gang(random: Random) -> list[ReplicaGroup]:
    return [ReplicaGroup(random.randint(2, 3), Shape(pick(random, 1000, 1000, 2000), 0, 0))]


def shapes(random: Random) -> list[ReplicaGroup]:
    first = Shape(pick(random, 500, 1000, 2000), 0, 0)
    second = Shape(pick(random, 300, 1000, 3000), 1000, 0)
    return [ReplicaGroup(random.randint(1, 2), first), ReplicaGroup(random.randint(1, 2), second)]


WANTED: dict[str, Callable[[Random], list[ReplicaGroup]]] = {"one": one, "gang": gang, "shapes": shapes}


@pytest.mark.parametrize("wanted", WANTED)
def test_nothing_is_better_than_what_is_taken(wanted: str) -> None:
    compared = 0
    for seed in range(CASES):
        found = taken_and_best(wanted, seed)
        if found is not None:
            taken, best = found
            assert taken == best, f"{wanted} {seed}"
            compared += taken is not None
    assert compared > CASES // 8, "too few of the clusters need victims"


def taken_and_best(wanted: str, seed: int) -> tuple[Taken | None, Taken | None] | None:
    """Return what is taken for a random job on a random cluster, and the best set; None where no victims are compared."""
    random = Random(f"{wanted} {seed}")
    state = crowded(random, *WANTED[wanted](random))
    if state is None:
        return None
    if not may_be_counted(Model.of(state)):
        return None
    taken, best = compared(state)
    return None if taken == Taken(0, 0, 0, 0) else (taken, best)


@pytest.mark.parametrize("path", frozen("every_set"), ids=lambda path: path.stem)
def test_clusters_in_which_a_job_once_waited_or_took_others_though_these_sets_were_there(path: Path) -> None:
    ((walk, _),) = moments(path)
    taken, best = compared(walk.state)
    assert taken == best
    assert taken is not None


def compared(state: State) -> tuple[Taken | None, Taken | None]:
    best = best_of_all(Model.of(state))
    return of_plan(state), best
