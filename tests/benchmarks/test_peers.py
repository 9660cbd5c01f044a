"""The rule that our victims stand beside, as it is usually written and with our knowledge, on a node that fits a screen."""

from __future__ import annotations

import pytest

from benchmarks import peers
from exact.problem import WHOLE_GPU, Group, NodeFree, Place, Problem, Unit


def unit(name: str, device: int, cost: int, priority: int, started_at: int) -> Unit:
    return Unit(name, cost, priority, (Place(0, ((device, WHOLE_GPU),)),), started_at=started_at)


NODE = (
    unit("old-and-fresh", 0, cost=10, priority=1, started_at=1),
    unit("new-and-stale", 1, cost=90, priority=1, started_at=2),
    unit("important", 2, cost=1, priority=2, started_at=3),
)


@pytest.mark.parametrize(("informed", "taken"), [(False, "new-and-stale"), (True, "old-and-fresh")])
def test_the_usual_rule_takes_the_newest_and_the_informed_one_who_loses_least(informed: bool, taken: str):
    """Neither goes up to priority 2, where less would be lost."""
    problem = Problem((NodeFree((0, 0, 0)),), NODE, (Group(1, WHOLE_GPU),))
    found = peers.evict(problem, informed=informed)
    assert found is not None
    assert [one.id for one in found] == [taken]
