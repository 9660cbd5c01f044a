"""One job is tried: when it is promoted, when it waits for its delay, and when idle room is no longer a way out (P4, P11)."""

from __future__ import annotations

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Claim, Idle, Phase
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope, SelfLevel, SelfLevels
from quotatree.core.model.resources import Resources
from quotatree.core.model.unit import GPU_SECOND
from quotatree.core.planning import applying
from quotatree.core.planning import attempt as one_attempt
from quotatree.core.planning.asking import attempt
from quotatree.core.planning.outcome import Failed, alone
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Step
from quotatree.core.search.victims import Found, NotFound, Prospect, Request, cost_without_ladder, search
from tests.core.building import ALL, MINUTE, World, child, cluster, root, self_level, submit


def test_an_idle_job_is_promoted_only_when_all_it_runs_fits_the_quota() -> None:
    state = cluster(4, root(4), child("a", 2))
    other = submit(state, "other", "a", (1, 1000), priority=2)
    job = submit(state, "big", "a", (1, 2000), idle=Idle.ALLOW)
    plan(state, 0)
    plan(state, 1)
    assert (job.phase, job.claim) == (Phase.RUNNING, Claim.IDLE)
    apply(state, ev.JobEnded(other.id), 2)
    assert [type(d) for d in plan(state, 2).decisions] == [say.Promote]


def test_who_stopped_at_idle_preempts_when_another_took_the_idle_room_p4() -> None:
    world = World()
    world.root(8)
    world.quota("a", 4, self_level=self_level(6, 1, Scope.OWN))
    world.quota("b", 4)
    world.run("victim", "a", 4)
    world.submit("only", "b", 4, priority=9, idle=Idle.ONLY)
    world.submit("allow", "a", 4, priority=6, idle=Idle.ALLOW)
    assert world.plan() == [("Start", "only"), ("Evict", "victim"), ("Hold", "allow")]


def test_replicas_that_are_missing_wait_for_the_preemption_delay_p11() -> None:
    world = World()
    world.root(8, self_level=self_level(9, 1, Scope.OWN), preemption_delay_ms=5 * MINUTE)
    job = world.run("service", "r", 1, 2, module=Module.EAS, priority=9, min_replicas=1)
    world.run("victim", "r", 6)
    world.now_ms = 60 * MINUTE
    world.event(ev.JobResized(job.id, replicas=4))
    assert world.plan() == []
    assert ("Evict", "victim") in world.plan(65 * MINUTE)


def test_a_victim_is_booked_with_all_replicas_that_it_takes_along_p13() -> None:
    """A service of 2 + 6 GPUs goes as a whole: 8 GPUs are freed, and what each replica loses is counted (P6)."""
    world = World()
    world.root(8, self_level=self_level(9, 1, Scope.OWN))
    service = world.run("service", "r", 1, 8, module=Module.EAS, min_replicas=2)
    world.submit("large", "r", 8, priority=9)
    made = plan(world.state, 0).decisions
    (eviction,) = [d for d in made if isinstance(d, say.Evict)]
    (hold,) = [d for d in made if isinstance(d, say.Hold)]
    assert hold.preemption is not None
    (victim,) = hold.preemption.victims
    core, wanted = 2 * (40 + 3600), 6 * (40 + 3600 // 8)
    assert victim.freed == Resources(8000)
    assert victim.lost_work == eviction.lost_work == service.lost_last == (core + wanted) * GPU_SECOND
    assert victim.cost == eviction.cost == victim.lost_work, "priority 1 weighs 1"


def test_what_idle_borrowers_gave_back_includes_their_surplus_p13() -> None:
    world = World()
    world.root(8)
    spec = world.spec("service", "r", 1, 4, module=Module.EAS, min_replicas=1, idle=Idle.ONLY)
    world.event(ev.JobAdopted(spec, 0, idle=True))
    world.run("other", "r", 4)
    world.submit("large", "r", 4)
    (hold,) = [d for d in plan(world.state, 0).decisions if isinstance(d, say.Hold)]
    assert hold.reason.text == "took back 4 GPU from idle borrowers or surplus replicas"


def test_a_failure_names_the_version_of_the_state_as_it_is_again_a8() -> None:
    """Surplus that left for a loan comes back when that is not enough; the version in between is none that will last."""
    world = World()
    world.root(8)
    world.quota("a", 4, self_level=self_level(6, 1, Scope.LEVEL))
    world.quota("b", 4)
    world.run("other", "b", 4, priority=9)
    world.run("service", "a", 1, 1, module=Module.EAS, max_replicas=4)
    assert world.plan() == [("Start", "service")] * 3
    job = world.submit("large", "a", 6, priority=6)
    state, tree = world.state, job.quota.tree
    cls = job.quota.queue.of_job[job.id]
    state.begin()
    outcome = attempt(state, job, cls, world.now_ms, alone(state))
    assert isinstance(outcome, Failed)
    assert outcome.failure.version == tree.version
    assert cls.still_fails(outcome.failure, world.now_ms, state.change)


def test_what_victims_cost_without_the_ladder_is_asked_only_of_those_that_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """P5, S8: `high` finds victims twice, the first time in vain, since `top` could take from it and goes first."""
    asked: list[set[str]] = []

    def noted(found: Found) -> int:
        asked.append({unit.job.id for unit in found.units})
        return cost_without_ladder(found)

    monkeypatch.setattr(applying, "cost_without_ladder", noted)
    world = World()
    world.root(8, child_level=ChildLevel(Priorities(1, 9), ALL))
    world.quota("a", 8, self_level=self_level(6, 5, Scope.OWN))
    for number in range(8):
        world.run(f"runs-{number}", "a", 1, priority=1 + number // 4)
    world.submit("high", "a", 2, priority=9)
    world.submit("top", "r", 2, priority=1)
    evicted = [f"runs-{number}" for number in range(4)]
    taken = [("Evict", evicted[0]), ("Evict", evicted[1]), ("Hold", "top")]
    assert world.plan() == [*taken, ("Evict", evicted[2]), ("Evict", evicted[3]), ("Hold", "high")]
    assert asked == [{*evicted[:2]}, {*evicted[2:]}]


def test_surplus_that_goes_with_a_core_counts_without_the_ladder_too_p5() -> None:
    """P13: before a loan the surplus of `service` would leave by itself. Its core goes, and takes it along: 40 GPU-seconds more."""
    world = World(nodes=2, gpus=2)
    world.event(ev.NodeJoined(NodeSpec("n2", gpus=3)))
    world.root(7)
    takes = (
        SelfLevel(Priorities(9, 9), Priorities(6, 8), ALL, Scope.OWN),
        SelfLevel(Priorities(9, 9), Priorities(1, 5), frozenset({Module.DLC}), Scope.SIBLINGS),
    )
    world.quota("a", 5, self_level=SelfLevels(takes))
    for name, quota in (("x", "r"), ("y", "r")):
        world.submit(name, quota, 1)
    world.submit("low", "a", 1, 2)
    world.submit("service", "a", 1, 2, priority=8, min_replicas=2, max_replicas=4)
    plan(world.state, 0)
    world.now_ms = 1000
    world.submit("new", "a", 2, priority=9)
    (held,) = (d for d in plan(world.state, 1000).decisions if isinstance(d, say.Hold))
    assert held.preemption is not None
    assert [(v.job, len(v.replicas)) for v in held.preemption.victims] == [("service", 3)]
    assert held.preemption.cost == (41 * 2 * 128 + 40) * GPU_SECOND
    assert held.preemption.cost_without_ladder == held.preemption.cost


@pytest.mark.parametrize("scope", [Scope.LEVEL, Scope.SIBLINGS])
def test_who_is_overtaken_is_not_told_whom_it_would_take_s8(
    scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`low` is tried first and could start, so `top` goes before it; only then is it asked whose work `low` takes."""
    asked: list[str] = []

    def noted(request: Request, prospect: Prospect | None = None) -> Found | NotFound:
        if request.job is not None and not request.signature.only_own:
            asked.append(request.job.id)
        return search(request, prospect)

    monkeypatch.setattr(one_attempt, "search", noted)
    world = World(nodes=2, gpus=4)
    world.root(8, child_level=ChildLevel(Priorities(1, 9), ALL))
    world.quota("a", 4, self_level=self_level(6, 5, scope))
    world.quota("b", 4)
    for number in range(8):
        world.run(f"runs-{number}", "a" if number < 4 else "b", 1, priority=9 if number < 4 else 1)
    world.submit("top", "r", 1, priority=1)
    world.submit("low", "a", 1, priority=9)
    made = world.plan()
    assert [who for what, who in made if what == "Hold"] == ["top", "low"]
    assert asked.index("top") < asked.index("low")


def test_a_step_that_touches_a_higher_priority_is_not_told_as_protected_p13() -> None:
    """P4: `b` is above its min, but what it runs has priority 5, and `low` beside it has 1. Nothing is reserved."""
    world = World(gpus=4)
    world.root(4)
    world.quota("a", 1, self_level=self_level(6, 5))
    for name in ("b", "c"):
        world.quota(name, 1)
    world.run("own", "a", 1, priority=9)
    for number in range(2):
        world.run(f"lent-{number}", "b", 1, priority=5)
    world.run("low", "c", 1, priority=1)
    world.submit("new", "a", 1, priority=6)
    (held,) = (d for d in plan(world.state, 0).decisions if isinstance(d, say.Hold))
    assert held.preemption is not None
    assert [v.job for v in held.preemption.victims] == ["low"]
    (passed,) = (t.reason.text for t in held.preemption.tried if t.step is Step.SIBLINGS_ABOVE_MIN)
    assert passed == (
        "siblings above their min: found no eligible units that are enough"
        " and leave reserved parts, mins and higher priorities alone"
    )


def test_a_job_that_surplus_gave_way_to_is_overtaken_in_the_state_as_it_was_p12() -> None:
    """`borrower` would take a sibling's work onto a loan, after the surplus of its own quota has left; `above` goes first (S8).

    What `above` starts on is not the room that the surplus would have left for `borrower`.
    """
    world = World(nodes=2)
    world.root(16, child_level=ChildLevel(Priorities(1, 9), ALL))
    world.quota("a", 8, self_level=self_level(6, 5))
    world.quota("b", 8)
    world.submit("service", "a", 1, module=Module.EAS, priority=9, max_replicas=3)
    for number in range(5):
        world.run(f"own-{number}", "a", 1, priority=9)
    for number in range(8):
        world.run(f"theirs-{number}", "b", 1, priority=2)
    assert world.plan() == [("Start", "service")] * 3
    world.submit("borrower", "a", 4, priority=9)
    world.submit("above", "r", 1, priority=1)
    assert [made for made in world.plan(MINUTE) if made[0] == "Hold"] == [
        ("Hold", "above"),
        ("Hold", "borrower"),
    ]
