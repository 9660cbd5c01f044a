"""Where it is certain that there are victims, a search finds some, and where it is certain that there are none, none, whatever
bounds limit what may be taken together (S8, Q8, P15)."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from quotatree.core.model.policy import ChildLevel, Priorities, Scope
from quotatree.core.model.resources import Resources
from quotatree.core.planning import attempt
from quotatree.core.search import ladder, solvers
from quotatree.core.search.node_offer import TOP_RUNG
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.quota_cover import too_little_may_go
from quotatree.core.search.trial import Trial
from quotatree.core.search.victims import (
    Found,
    NotFound,
    Prospect,
    Request,
    prospect_of,
    search,
    surely_found,
    surely_none,
)
from tests.core.building import ALL, MINUTE, World, self_level

TEAMS = 4


def crowded(random: Random, reserved: bool) -> World:
    """Teams that may take from each other, on full nodes; with parts that are reserved, most of which bind."""
    world = World(nodes=3, gpus=4)
    below = ChildLevel(Priorities(1, 9), ALL) if random.random() < 0.5 else None
    world.root(12, child_level=below, min_runtime_ms=random.choice([0, 0, 0, 80 * MINUTE]))
    for number in range(TEAMS):
        kept = Resources(random.choice([0, 1000, 2000, 3000]) if reserved else 0)
        scope = random.choice(list(Scope))
        policy = self_level(6, 5, scope)
        world.quota(f"t{number}", 3, reserved=kept, self_level=policy)
    for number in range(random.randrange(8, 16)):
        team, size = f"t{random.randrange(TEAMS)}", random.choice([0.5, 0.5, 1, 1])
        world.now_ms = random.randrange(100 * MINUTE)
        if sum(node.whole_free for node in world.state.nodes) > 1:
            world.run(
                f"runs-{number:02}", team, size, cpus=random.randrange(1, 20), priority=random.randrange(1, 8)
            )
    world.now_ms = 100 * MINUTE
    for number in range(6):
        quota = random.choice(["r", *(f"t{team}" for team in range(TEAMS))])
        cpus = random.choice([0, 0, 90])
        world.submit(
            f"waits-{number}", quota, random.choice([1, 1, 2, 3]), cpus=cpus, priority=random.randrange(5, 10)
        )
    return world


@pytest.mark.parametrize("reserved", [False, True])
def test_what_is_certain_is_found(reserved: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    met: Counter[str] = Counter()

    def checked(request: Request, prospect: Prospect | None = None) -> Found | NotFound:
        found = search(request, prospect)
        if surely_found(request, prospect_of(request)):
            assert isinstance(found, Found)
            met["with bounds" if request.signature.binds() else "without"] += 1
        elif isinstance(found, Found):
            met["found all the same"] += 1
        return found

    monkeypatch.setattr(attempt, "search", checked)
    for seed in range(60):
        crowded(Random(seed), reserved).plan()
    assert met["with bounds" if reserved else "without"] > 10
    assert not reserved or met["found all the same"]


@pytest.mark.parametrize("reserved", [False, True])
def test_who_certainly_has_no_victims_finds_none(reserved: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Q8: too little is certain where those who may go alone are too few. Then a search that does not ask this finds nobody, either."""
    met: Counter[str] = Counter()

    def never(trial: Trial) -> bool:
        del trial
        return False

    def in_full(request: Request) -> Found | NotFound:
        with pytest.MonkeyPatch.context() as patch:
            for asking in (ladder, solvers):
                patch.setattr(asking, "too_little_may_go", never)
            return search(request)

    def checked(request: Request, prospect: Prospect | None = None) -> Found | NotFound:
        found = in_full(request)
        too_little = too_little_may_go(Trial(request, TOP_RUNG, Overlay(request.state)))
        certain = surely_none(request, prospect_of(request))
        met["too little"] += too_little
        met["none"] += certain
        met["found"] += isinstance(found, Found)
        assert not isinstance(found, Found) or not (too_little or certain)
        return search(request, prospect)

    monkeypatch.setattr(attempt, "search", checked)
    for seed in range(60):
        crowded(Random(seed), reserved).plan()
    assert met["found"] > 10
    assert met["none"] > 10
    assert (met["too little"] > 10) is reserved


def test_nothing_is_certain_where_bounds_may_forbid_it() -> None:
    """Q8: all that the node could lose is reserved."""
    asked: list[bool] = []
    for kept in (0, 3):
        world = World(nodes=1, gpus=4)
        world.root(4)
        world.quota("a", 1, self_level=self_level(6, 5))
        world.quota("b", 3, reserved=Resources(kept * 1000))
        for number in range(4):
            world.run(f"runs-{number}", "b" if number else "a", 1, priority=1 if number else 9)
        world.submit("waits", "a", 2, priority=9)

        def noted(request: Request, prospect: Prospect) -> bool:
            asked.append(surely_found(request, prospect))
            return asked[-1]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(attempt, "surely_found", noted)
            world.plan()
    assert asked == [True, False]
