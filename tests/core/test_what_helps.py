"""What would help is told as a change that does help (X1)."""

from __future__ import annotations

from quotatree.core import events as ev
from quotatree.core.explanation import explain
from quotatree.core.model.job import JobId
from quotatree.core.model.policy import Module
from tests.core.building import World, self_level


def test_a_borrowers_policy_that_stands_in_the_way_of_a_return_is_named_x1_p15() -> None:
    """`high` could take `home` again, so nothing of the loan is claimable; without its right over siblings `low` goes."""
    world = World(nodes=2)
    world.root(16)
    world.quota("lender", 8)
    world.quota("borrower", 8, self_level=self_level(6, 5))
    world.run("high", "borrower", 8, priority=7)
    world.run("low", "borrower", 8, priority=3, module=Module.EAS)
    world.submit("home", "lender", 4, priority=4)
    assert world.plan() == []
    (spares,) = [one for one in explain(world.state, JobId("home"), 0).helps if "spares" in one.text]
    assert spares.text.startswith(
        "the self-level policy of borrower spares siblings: 1 unit(s) would be evicted"
    )
    assert (spares.change, spares.quota) == ("policies", "borrower")
    assert spares.spec is not None
    world.event(ev.QuotaUpdated(spares.spec))
    assert world.plan() == [("Evict", "low"), ("Hold", "home")], "what was said is what happens (X0)"
