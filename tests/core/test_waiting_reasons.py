"""Every waiting job has a reason, and a list of jobs has the same one as explain (X1)."""

from __future__ import annotations

from typing import Any

import pytest

from quotatree.core import events as ev
from quotatree.core import waiting_reasons
from quotatree.core.changes.apply import apply
from quotatree.core.explanation import explain
from quotatree.core.model.job import Idle, Job, JobId, Placed, Shape
from quotatree.core.model.node import NodeSpec, NodeState
from quotatree.core.model.policy import Module, Priorities, Scope, SelfLevel, SelfLevels, Strategy
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Resources
from quotatree.core.planning.asking import attempt
from quotatree.core.planning.outcome import Outcome
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code, Step
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import Settings, State
from quotatree.core.waiting_reasons import foremost_reasons
from tests.core.building import ALL, MINUTE, World, bounds, root, self_level, submit


def test_an_idle_job_that_is_still_leaving_is_told_so_x1() -> None:
    """A free GPU stands on n1, but what runs on n0 must end before the job runs again."""
    state = State()
    for name, gpus in (("n0", 2), ("n1", 1)):
        apply(state, ev.NodeJoined(NodeSpec(name, gpus=gpus)), 0)
    apply(state, ev.NodeChanged("n1", NodeState.CORDONED), 0)
    apply(state, ev.QuotaCreated(root(3)), 0)
    submit(state, "idle", "r", (1, 1000), idle=Idle.ONLY)
    plan(state, 0)
    apply(state, ev.NodeChanged("n1", NodeState.READY), 1)
    submit(state, "wide", "r", (1, 2000), now_ms=1)
    plan(state, 1)
    told = explain(state, JobId("idle"), 1)
    assert [(r.code, dict(r.facts)) for r in told.reasons] == [(Code.StillLeaving, {"replicas": "1"})]


def test_an_idle_job_kept_from_the_nodes_of_a_guard_is_told_so_x1() -> None:
    world = World(nodes=2, gpus=4)
    world.state.settings = Settings(starvation_guard_ms=10 * MINUTE)
    world.root(8, strategy=Strategy.TRAVERSE)
    world.run("one", "r", 1)
    world.run("two", "r", 4)
    world.submit("gang", "r", 4)
    world.plan()
    world.plan(11 * MINUTE)
    world.submit("idle", "r", 1, idle=Idle.ONLY)
    world.plan()
    (reason,) = explain(world.state, JobId("idle"), world.now_ms).reasons
    assert reason.text == "r keeps 4 GPU free for gang, which has waited too long"
    assert world.state.jobs[JobId("idle")].told == reason, "the plan says the same"


@pytest.mark.parametrize("restarted", [False, True])
def test_a_job_that_every_plan_puts_off_is_told_who_would_take_it_x1(restarted: bool) -> None:
    """S8: once `first` had started, a's loan would be larger than `nine` protects (P15), and `asker` would take it."""
    world = World(nodes=2, gpus=3)
    world.root(6)
    takes_most = SelfLevel(Priorities(9, 9), Priorities(1, 8), ALL, Scope.LEVEL)
    takes_little = SelfLevel(Priorities(2, 8), Priorities(1, 1), ALL, Scope.LEVEL)
    world.quota("a", 1, self_level=SelfLevels.of(takes_most, takes_little), strategy=Strategy.TRAVERSE)
    world.quota("b", 2, self_level=self_level(4, 3))
    world.run("other", "r", 3, priority=9)
    world.run("nine", "a", 1, priority=9)
    world.run("late", "a", 0.7, priority=4)
    world.submit("asker", "b", 2, priority=4)
    world.submit("first", "a", 0.6, priority=3)
    assert world.plan() == []
    state = restore(snapshot(world.state)) if restarted else world.state
    (reason,) = explain(state, JobId("first"), 0).reasons
    assert reason.text == "starting it now would only make it a victim of asker"


def test_a_job_whose_idle_start_is_put_off_is_not_told_that_it_runs_idle_x1() -> None:
    """S8: once `guarded` ran idle its guard would end, and `other` would take its devices."""
    world = World(nodes=2, gpus=2)
    world.state.settings = Settings(starvation_guard_ms=10 * MINUTE)
    world.root(4)
    world.quota("a", 2)
    world.run("top", "r", 2)
    world.run("below", "a", 2)
    world.submit("guarded", "a", 2, idle=Idle.ALLOW)
    world.plan()
    world.plan(11 * MINUTE)
    world.submit("other", "r", 2)
    world.plan()
    world.event(ev.JobEnded(JobId("top")))
    assert world.plan() == []
    told = explain(world.state, JobId("guarded"), world.now_ms)
    assert [(r.code, dict(r.facts).get("preemptor")) for r in told.reasons] == [
        (Code.WouldBeTaken, "other"),
        (Code.OwnQuotaFull, None),
    ]


def test_a_list_of_jobs_has_a_reason_for_each_and_one_attempt_for_all_that_are_alike_x1(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    world.root(8, strategy=Strategy.TRAVERSE)
    world.run("full", "r", 8)
    waiting = [world.submit(f"small-{number}", "r", 1) for number in range(50)]
    waiting.append(world.submit("large", "r", 2))
    world.plan()
    assert waiting[1].told is None, "a plan tells only the first of those who are alike"
    tried: list[str] = []

    def counted(state: State, job: Job, *more: Any) -> Outcome:
        tried.append(job.id)
        return attempt(state, job, *more)

    monkeypatch.setattr(waiting_reasons, "attempt", counted)
    found = foremost_reasons(world.state, waiting, 0)
    assert tried == ["small-0", "large"]
    assert {found[job.id].code for job in waiting} == {Code.OwnQuotaFull}
    assert dict(found[JobId("large")].facts)["wanted"] == "2 GPU"


def test_a_service_is_told_what_all_its_missing_replicas_want_x1_p12() -> None:
    world = World(nodes=3)
    world.root(24)
    world.run("fill", "r", 4, 4, priority=2)
    service = world.run("service", "r", 4, 2, priority=7, module=Module.EAS)
    world.event(ev.JobResized(service.id, replicas=6))
    assert world.plan() == []
    told = explain(world.state, service.id, 0)
    assert [reason.text for reason in told.reasons[:2]] == [
        "2 replica(s) run; it wants 6 and can use 6",
        "r has 0 GPU free of its min 24 GPU, 16 GPU wanted",
    ]
    (scaled,) = [one for one in told.helps if one.change == "scale"]
    assert scaled.text == "work worth 16 GPU in r ends, or r is scaled up"
    assert scaled.draws == (("default", bounds(40)),)


def test_what_keeps_one_missing_replica_from_running_is_told_beside_what_keeps_all_x1_p12() -> None:
    """The quota has room for one of two, and no node has two free devices."""
    world = World(nodes=2, gpus=3)
    world.root(6)
    one = Shape(2000, 0, 0)
    service = world.run("service", "r", 2, priority=7, module=Module.EAS, places=(Placed(0, 0, (0, 1), one),))
    world.run("beside", "r", 2, priority=9, places=(Placed(0, 1, (0, 1), one),))
    world.event(ev.JobResized(service.id, replicas=3))
    assert world.plan() == []
    told = explain(world.state, service.id, 0)
    assert {Code.OwnQuotaFull, Code.NoPlacement} <= {reason.code for reason in told.reasons}
    free = [t.reason.code for t in told.tried if t.step is Step.FREE]
    assert free == [Code.OwnQuotaFull, Code.NoPlacement]


def test_who_stands_behind_a_head_has_another_reason_than_the_head_x1() -> None:
    world = World()
    world.root(8, strategy=Strategy.FIFO)
    world.run("full", "r", 8)
    waiting = [world.submit(name, "r", 1) for name in ("head", "second")]
    world.plan()
    found = foremost_reasons(world.state, waiting, 0)
    assert [found[job.id].code for job in waiting] == [Code.OwnQuotaFull, Code.BehindHead]


def test_beyond_so_many_attempts_a_list_says_what_was_told_last_x1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_reasons, "ATTEMPTS", 2)
    world = World()
    world.root(8, strategy=Strategy.TRAVERSE)
    world.run("full", "r", 8)
    waiting = [world.submit(f"job-{gpus}", "r", gpus) for gpus in range(1, 5)]
    world.plan()
    world.event(ev.QuotaScaled("r", bounds(4), mode=ev.ScaleMode.LAZY))
    found = foremost_reasons(world.state, waiting, 0)
    assert [dict(found[job.id].facts)["min"] for job in waiting] == ["4 GPU", "4 GPU", "8 GPU", "8 GPU"]


@pytest.mark.parametrize("idle", [Idle.NEVER, Idle.ONLY])
def test_a_job_whose_root_has_used_its_part_of_a_shared_pool_is_told_so_x1(idle: Idle) -> None:
    """Q1: of the 4 GPUs of pool b, r and s may take 2 each. Three are free, but r may take only one of them."""
    world = World(nodes=0)
    for name, pool, gpus in (("a0", "a", 2), ("b0", "b", 4)):
        world.event(ev.NodeJoined(NodeSpec(name, pool, gpus=gpus)))
    for name, draws in (("r", (("a", bounds(2)), ("b", bounds(2)))), ("s", (("b", bounds(2)),))):
        world.event(ev.QuotaCreated(QuotaSpec(QuotaId(name), draws=draws)))
    for node in range(2):
        world.run(f"on pool {node}", "r", 1, places=(Placed(0, node, (0,), Shape(1000, 0, 0)),))
    job = world.submit("job", "r", 2, idle=idle)
    assert world.plan() == []
    told = explain(world.state, job.id, 0)
    why = "r may take 2 GPU from pool b, which it shares; 1 GPU of that in use, 2 GPU wanted"
    assert told.reasons[0].text == why
    assert not any(r.code in (Code.NoPlacement, Code.IdleNoPlacement) for r in told.reasons)
    assert job.told == told.reasons[0], "the plan says the same"
    assert told.helps[0].text == "work of r in pool b ends, or r draws more from it"


def test_a_quota_that_is_full_by_a_reserved_part_is_told_beside_the_own_one_x1_q8() -> None:
    """2 GPUs of the root are free, and both are kept for b: a alone could be scaled up in vain."""
    world = World(gpus=9)
    world.root(9)
    world.quota("a", 2)
    world.quota("b", 3, reserved=Resources(2000))
    world.run("mine", "a", 2)
    world.run("top", "r", 5)
    world.submit("late", "a", 1)
    assert world.plan() == []
    told = [r for r in explain(world.state, JobId("late"), 0).reasons if r.code is not Code.NoPolicy]
    assert [(r.code, dict(r.facts)["quota"], dict(r.facts)["free"]) for r in told] == [
        (Code.OwnQuotaFull, "a", "0 GPU"),
        (Code.AncestorFull, "r", "0 GPU"),
    ]
