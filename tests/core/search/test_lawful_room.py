"""What quotas with reserved parts may lose bounds what can be free on a node, for all shapes at once (Q8)."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from benchmarks.hard_searches import cpu_over_reserved_shares
from benchmarks.hard_worlds import LATER
from quotatree.core import decisions as say
from quotatree.core.model.job import Placed, Shape
from quotatree.core.model.policy import Module
from quotatree.core.model.quota import QuotaId
from quotatree.core.model.resources import Resources
from quotatree.core.model.rights import Work
from quotatree.core.planning.plan import plan
from quotatree.core.search import one_replica
from quotatree.core.search.eligible import Signature, sibling_clauses
from quotatree.core.search.fit import Tally, brought_by
from quotatree.core.search.lawful_room import lawful_room
from quotatree.core.search.node_offer import TOP_RUNG
from quotatree.core.search.one_replica import items_on
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.trial import Request, Trial
from tests.core.building import World, self_level

NODES = 2
UNITS = 7
URGENT = 9


def world(random: Random) -> World:
    """Two nodes with work of two siblings, which may each lose only part of what they have there."""
    made = World(nodes=NODES)
    made.root(8 * NODES)
    made.quota("high", 2, self_level=self_level(6, 5))
    for team in ("a", "b"):
        made.quota(
            team, 7, cpus=100, reserved=Resources(random.randint(0, 4) * 500, random.choice([0, 9_000]))
        )
    for node in range(NODES):
        for number in range(UNITS):
            gpu, cpus, team = random.choice([0.5, 1]), random.randint(0, 7), random.choice("ab")
            place = Placed(0, node, (number,), Shape(int(gpu * 1000), cpus * 1000, 0))
            made.run(f"runs-{node}-{number}", team, gpu, cpus=cpus, priority=1 + number % 5, places=(place,))
    return made


@pytest.mark.parametrize("seed", range(12))
def test_no_lawful_set_frees_more_than_the_bound(seed: int) -> None:
    random = Random(seed)
    state = world(random).state
    high = state.quotas[QuotaId("high")]
    clauses = sibling_clauses(high, URGENT, above_min_only=False)
    request = Request(
        state, high, Signature(Work(high, URGENT, Module.DLC), clauses, ("test",)), Resources(), 0
    )
    trial = Trial(request, TOP_RUNG, Overlay(state))
    if trial.protections is None:
        return
    room = lawful_room(trial)
    assert room is not None
    for node in state.nodes:
        for size in range(UNITS + 1):
            for units in combinations(list(node.units), size):
                if not trial.protections.allow(units):
                    continue
                tally = Tally(node)
                for unit in units:
                    tally.add(brought_by(node, unit))
                for shape in (Shape(g * 1000, c * 1000, 0) for g in range(1, 9) for c in range(100, 129, 2)):
                    assert not (tally.fits(shape) and room.excludes(node, shape)), (shape, units)


def test_shapes_that_no_lawful_set_helps_are_not_sought_on_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty shapes need nearly all CPU of a node, and each was a branch and bound over all nodes."""
    looked_at: list[str] = []

    def counted(trial: Trial, node: object, shape: Shape) -> object:
        looked_at.append(str(node))
        return items_on(trial, node, shape)  # type: ignore[arg-type]

    monkeypatch.setattr(one_replica, "items_on", counted)
    state = cpu_over_reserved_shares(20)
    made = plan(state, LATER)
    waits = [d for d in made.decisions if isinstance(d, say.Wait) and d.job.startswith("waits")]
    assert len(waits) == 19, "one finds a node that is not full"
    assert len(looked_at) <= 2 * len(state.nodes)
