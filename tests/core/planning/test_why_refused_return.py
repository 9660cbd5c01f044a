"""A return that is refused is told among the steps that were tried, with whose policy stands in its way (P15, X1)."""

from __future__ import annotations

from quotatree.core.explanation import explain
from quotatree.core.model.job import JobId
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Strategy
from quotatree.core.reasons import Code, Reason, Step
from tests.core.building import ALL, World, self_level


def lent(high: int = 8, low: int = 8, own: int = 0) -> World:
    """`lender` 8 uses `own` GPUs, and `borrower` 8 the rest of 16, for a p7, which may take p1 to p5 in siblings, and a p3."""
    world = World(nodes=2)
    world.root(16)
    world.quota("lender", 8, strategy=Strategy.TRAVERSE)
    world.quota("borrower", 8, self_level=self_level(6, 5))
    world.run("high", "borrower", high, priority=7)
    world.run("low", "borrower", low, priority=3, module=Module.EAS)
    if own:
        world.run("own", "lender", own, priority=9)
    return world


def told(world: World, job: str) -> list[Reason]:
    """Why the return was not enough for a job, as explain tells it."""
    explanation = explain(world.state, JobId(job), world.now_ms)
    assert all(one.reason in explanation.reasons for one in explanation.tried)
    return [one.reason for one in explanation.tried if one.step is Step.RETURN]


def test_a_return_is_refused_where_the_borrowers_policy_could_take_the_job_again_p15() -> None:
    world = lent()
    world.submit("home", "lender", 4, priority=4)
    assert world.plan() == []
    (why,) = told(world, "home")
    assert why.code is Code.ReturnRefused
    assert dict(why.facts) == {"quota": "borrower", "loan": "8 GPU", "kept": "8 GPU", "claimable": "0 GPU"}


def test_a_return_that_is_too_small_is_told_with_what_may_be_claimed_p15() -> None:
    """The borrower's p7 may take `home` again, so that of the loan of 8 only what it does not use is claimable: 2."""
    world = World(nodes=2)
    world.root(16)
    world.quota("lender", 8, strategy=Strategy.TRAVERSE)
    world.quota("borrower", 8, self_level=self_level(6, 5))
    world.run("high", "borrower", 6, priority=7)
    for number in range(10):
        world.run(f"low-{number}", "borrower", 1, priority=3)
    world.submit("home", "lender", 8, priority=4)
    assert world.plan() == []
    (why,) = told(world, "home")
    assert dict(why.facts) == {"quota": "borrower", "loan": "8 GPU", "kept": "6 GPU", "claimable": "2 GPU"}


def test_a_return_that_finds_only_higher_priorities_blames_no_policy_p15() -> None:
    world = lent()
    world.submit("home", "lender", 4, priority=6)
    assert world.plan() == [("Evict", "low"), ("Hold", "home")]
    world = World(nodes=2)
    world.root(16)
    world.quota("lender", 8)
    world.quota("borrower", 8, self_level=self_level(6, 1))
    world.run("high", "borrower", 8, 2, priority=7)
    world.submit("home", "lender", 4, priority=4)
    assert world.plan() == []
    assert [why.code for why in told(world, "home")] == [Code.NoEligibleVictims]


def test_a_job_that_does_not_fit_its_own_min_is_told_so_of_the_return_p15() -> None:
    world = lent(high=8, low=2, own=6)
    world.submit("home", "lender", 4, priority=9)
    world.plan()
    (why,) = told(world, "home")
    assert why.code is Code.OwnQuotaFull
    assert dict(why.facts)["quota"] == "lender"


def test_a_job_below_the_lender_is_told_that_only_the_lenders_own_may_claim_p15() -> None:
    world = lent()
    world.quota("team", 4, parent="lender")
    world.submit("deep", "team", 4, priority=9)
    world.plan()
    assert [(why.code, dict(why.facts)) for why in told(world, "deep")] == [
        (Code.ReturnNotBelow, {"quota": "lender"})
    ]


def test_where_nobody_is_above_their_min_no_return_is_told_p15() -> None:
    world = World(nodes=2)
    world.root(16, child_level=ChildLevel(Priorities(1, 1), ALL))
    world.quota("a", 8, strategy=Strategy.TRAVERSE)
    world.quota("b", 8)
    world.run("full", "a", 8)
    world.run("beside", "b", 8)
    world.submit("waits", "a", 4)
    world.plan()
    assert told(world, "waits") == []
