"""What would help is told as a change that does help (X1)."""

from __future__ import annotations

from dataclasses import replace

from quotatree.core import events as ev
from quotatree.core.explanation import explain
from quotatree.core.model.job import Idle, JobId
from quotatree.core.model.policy import Module
from quotatree.core.model.quota import QuotaId
from quotatree.core.reasons import Code
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


def borrowers(job: Idle, *, below: bool = False) -> World:
    """`a` borrows all of 8 GPUs, and a job of `b` waits for 2 of them."""
    world = World()
    world.root(8)
    if below:
        world.quota("lab", 8)
    for name in ("a", "b"):
        world.quota(name, 2, parent="lab" if below else "r")
    for number in range(8):
        world.submit(f"borrows-{number}", "a", 1, idle=Idle.ONLY)
    world.plan()
    world.submit("waits", "b", 2, idle=job, priority=3)
    return world


def test_a_job_that_is_idle_only_is_told_that_it_could_run_regular_x1_i1() -> None:
    world = borrowers(Idle.ONLY)
    assert world.plan() == []
    texts = [one.text for one in explain(world.state, JobId("waits"), 0).helps]
    assert "work worth 2 GPU in r ends, regular or idle" in texts
    assert (
        "submitted with idle: allow, or without idle, it could start as regular work; 2 unit(s) would leave for it"
        in texts
    )


def test_fair_borrowing_is_named_where_it_would_help_on_the_lowest_quota_x1_i4() -> None:
    world = borrowers(Idle.ONLY, below=True)
    assert world.plan() == []
    texts = [one.text for one in explain(world.state, JobId("waits"), 0).helps]
    assert "fair_idle on lab: 2 unit(s) of idle work of a would leave" in texts
    spec = world.state.quotas[QuotaId("lab")].spec
    world.event(ev.QuotaUpdated(replace(spec, fair_idle=True)))
    assert [decision for decision, _ in world.plan()] == ["Evict", "Evict"]


def test_a_job_that_may_run_idle_is_told_of_both_claims_x1_i1() -> None:
    """`waits` may be regular or idle: b is full, and so is the tree."""
    world = World()
    world.root(8)
    world.quota("a", 6)
    world.quota("b", 2)
    world.run("full", "b", 2, priority=9)
    world.run("beside", "a", 6, priority=9)
    world.submit("waits", "b", 1, idle=Idle.ALLOW, priority=3)
    world.plan()
    told = explain(world.state, JobId("waits"), 0)
    assert {Code.OwnQuotaFull, Code.IdleRoomShort} <= {reason.code for reason in told.reasons}
    texts = [one.text for one in told.helps]
    assert "work worth 1 GPU in b ends, or b is scaled up" in texts
    assert "work worth 1 GPU in r ends, regular or idle" in texts
    assert {holder.quota for holder in told.holders} == {"a", "b"}


def test_an_idle_limit_that_is_reached_may_be_raised_x1_i2() -> None:
    world = World()
    world.root(8)
    world.quota("a", 4, idle_limit_milli=2000)
    world.submit("borrows", "a", 2, idle=Idle.ONLY)
    world.submit("waits", "a", 2, idle=Idle.ONLY)
    world.plan()
    (one,) = explain(world.state, JobId("waits"), 0).helps
    assert one.text == "idle work of a ends, or the idle_limit of a is raised"


def test_as_much_work_is_to_end_as_is_missing_and_no_more_x1() -> None:
    """8 GPUs are wanted and 6 are free."""
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 8)
    world.run("small", "a", 2, priority=9)
    world.submit("waits", "a", 8, priority=3)
    world.plan()
    texts = [one.text for one in explain(world.state, JobId("waits"), 0).helps]
    assert "work worth 2 GPU in a ends, or a is scaled up" in texts


def test_as_much_idle_work_is_to_end_as_is_missing_x1_i2() -> None:
    world = World()
    world.root(8)
    world.quota("a", 2)
    world.quota("b", 2)
    world.submit("borrows", "a", 5, idle=Idle.ONLY)
    world.plan()
    world.submit("waits", "b", 5, idle=Idle.ONLY)
    assert world.plan() == []
    texts = [one.text for one in explain(world.state, JobId("waits"), 0).helps]
    assert "work worth 2 GPU in r ends, regular or idle" in texts
