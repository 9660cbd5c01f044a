"""Bugs that the property tests found, each as the smallest story that showed it."""

from __future__ import annotations

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.explanation import explain, exposure
from quotatree.core.model.job import Claim, Idle, JobId, JobSpec, Phase, ReplicaGroup, Shape
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope, Strategy
from quotatree.core.model.resources import Bounds
from quotatree.core.model.unit import GPU_SECOND, UnitKind
from quotatree.core.planning.plan import plan
from quotatree.core.state import State
from tests.core.building import child, cluster, root, self_level, submit


def test_an_idle_job_is_promoted_only_when_all_it_runs_fits_the_quota() -> None:
    state = cluster(4, root(4), child("a", 2))
    other = submit(state, "other", "a", (1, 1000), priority=2)
    job = submit(state, "big", "a", (1, 2000), idle=Idle.ALLOW)
    plan(state, 0)
    plan(state, 1)
    assert (job.phase, job.claim) == (Phase.RUNNING, Claim.IDLE)
    apply(state, ev.JobEnded(other.id), 2)
    assert [type(d) for d in plan(state, 2).decisions] == [say.Promote]


def test_a_core_resized_while_waiting_grows_its_surplus_later() -> None:
    state = cluster(4)
    job = submit(state, "j", "r", (2, 1000))
    apply(state, ev.JobResized(job.id, 1), 0)
    plan(state, 0)
    assert (len(job.core_indexes), len(job.surplus)) == (1, 1)


def test_a_job_stopped_while_idle_waits_as_regular_when_resubmitted() -> None:
    state = cluster(2)
    job = submit(state, "j", "r", (1, 1000), idle=Idle.ONLY)
    plan(state, 0)
    apply(state, ev.JobEnded(job.id, Phase.STOPPED), 1)
    apply(state, ev.JobResubmitted(job.id), 2)
    assert job.claim is Claim.REGULAR


def test_two_jobs_of_several_shapes_that_cannot_start_do_not_wake_each_other_for_ever() -> None:
    state = cluster(2, root(4, strategy=Strategy.TRAVERSE), nodes=2)
    submit(state, "idle", "r", (2, 2000), idle=Idle.ONLY)
    plan(state, 0)
    policy = self_level(9, 1, Scope.OWN)
    spec = root(4, strategy=Strategy.TRAVERSE, self_level=policy)
    apply(state, ev.QuotaUpdated(spec), 0)
    for name in ("one", "two"):
        submit(state, name, "r", (1, 1000), (3, 500), priority=9)
    plan(state, 1)
    assert plan(state, 1).decisions == ()


def test_a_second_group_may_stand_beside_the_first() -> None:
    state = cluster(2, nodes=2)
    job = submit(state, "j", "r", (1, 2000), (1, 1000))
    plan(state, 0)
    assert job.phase is Phase.RUNNING


def test_the_smaller_group_is_placed_first_where_only_that_fits() -> None:
    racks = ((("rack", "x"),), (("rack", "y"),))
    state = cluster(2, nodes=2, labels=racks)
    bound = Shape(1000, 0, 0, (), (("rack", "x"),))
    groups = (ReplicaGroup(1, Shape(2000, 0, 0)), ReplicaGroup(1, bound))
    apply(state, ev.JobSubmitted(JobSpec(JobId("j"), "r", groups, 0)), 0)
    plan(state, 0)
    assert state.jobs[JobId("j")].phase is Phase.RUNNING


def test_a_siblings_victim_frees_nothing_in_a_quota_that_may_not_borrow() -> None:
    policy = self_level(5, 4, Scope.SIBLINGS)
    state = cluster(4, root(4), child("a", 2, self_level=policy), child("b", 2))
    submit(state, "kept", "a", (1, 2000), priority=9)
    other = submit(state, "other", "b", (2, 1000), priority=1)
    plan(state, 0)
    apply(state, ev.QuotaScaled("a", Bounds(1000), mode=ev.ScaleMode.LAZY), 1)
    late = submit(state, "late", "a", (1, 1000), now_ms=1, priority=8)
    plan(state, 2)
    assert (other.phase, late.phase) == (Phase.RUNNING, Phase.WAITING)


def test_a_confirmed_start_begins_min_runtime_anew() -> None:
    policy = self_level(5, 4, Scope.OWN)
    state = cluster(1, root(1, self_level=policy, min_runtime_ms=60_000))
    job = submit(state, "old", "r", (1, 1000), priority=1)
    plan(state, 0)
    apply(state, ev.JobStarted(job.id, job.run), 50_000)
    submit(state, "new", "r", (1, 1000), now_ms=70_000, priority=9)
    assert not any(isinstance(d, say.Evict) for d in plan(state, 70_000).decisions)
    assert any(isinstance(d, say.Evict) for d in plan(state, 110_000).decisions)


def test_a_job_that_failed_of_its_preemption_limit_is_no_active_job_of_its_quota() -> None:
    policy = self_level(5, 4, Scope.OWN)
    state = cluster(1, root(1, self_level=policy))
    job = submit(state, "old", "r", (1, 1000), priority=1, max_preemptions=0)
    plan(state, 0)
    submit(state, "new", "r", (1, 1000), priority=9)
    plan(state, 1)
    assert job.phase is Phase.FAILED
    assert job.id not in job.quota.jobs


def test_resizing_a_held_job_plans_it_anew() -> None:
    state = cluster(2)
    old = submit(state, "old", "r", (1, 2000))
    plan(state, 0)
    apply(state, ev.JobCancelled(old.id), 1)
    job = submit(state, "new", "r", (2, 1000), now_ms=1, min_replicas=2)
    plan(state, 1)
    assert job.phase is Phase.HELD
    found = apply(state, ev.JobResized(job.id, 1), 2)
    assert [type(d) for d in found] == [say.Release]
    plan(state, 2)
    assert job.hold is not None
    assert len(job.hold.unit.places) == 1


@pytest.mark.parametrize(
    ("module", "minutes", "seconds_lost"),
    [(Module.DLC, 10, 40 + 600), (Module.DSW, 90, 40 + 3600), (Module.EAS, 90, 40 + 3600)],
)
def test_lost_work_of_each_module(module: Module, minutes: int, seconds_lost: int) -> None:
    state = cluster(2)
    job = submit(state, "j", "r", (1, 2000), module=module, priority=3)
    plan(state, 0)
    assert job.core is not None
    now_ms = minutes * 60_000
    assert job.core.lost_work(now_ms) == seconds_lost * 2 * GPU_SECOND
    assert job.core.cost(now_ms) == 4 * seconds_lost * 2 * GPU_SECOND


def test_lost_work_returns_to_zero_at_every_declared_checkpoint() -> None:
    state = cluster(2)
    job = submit(state, "j", "r", (1, 1000), checkpoint_interval_ms=300_000)
    plan(state, 0)
    assert job.core is not None
    assert job.core.lost_work(299_000) == (40 + 299) * GPU_SECOND
    assert job.core.lost_work(300_000) == 40 * GPU_SECOND
    assert job.core.cls.kind is UnitKind.CORE


def test_what_was_done_since_begin_is_taken_back() -> None:
    state = cluster(2)
    job = submit(state, "j", "r", (1, 1000))
    state.begin()
    plan(state, 0)
    assert job.phase is Phase.RUNNING
    state.rollback()
    assert (job.phase, job.core, state.nodes[0].free, job.quota.used) == (
        Phase.WAITING,
        None,
        [1000, 1000],
        [0, 0, 0],
    )
    assert job.id in job.quota.queue.of_job
    state.begin()
    with pytest.raises(RuntimeError):
        state.begin()


@pytest.mark.parametrize(
    ("strategy", "started"),
    [
        (Strategy.FIFO, set()),
        (Strategy.TRAVERSE, {"b", "c"}),
        (Strategy.INTELLIGENT, {"b", "c"}),
        (Strategy.BALANCE, set()),
    ],
)
def test_who_passes_a_blocked_head(strategy: Strategy, started: set[str]) -> None:
    state = queue_behind_a_blocked_head(strategy)
    plan(state, 1000)
    assert running(state) == {"busy"} | started


def test_balance_lets_two_and_then_three_be_tried() -> None:
    state = queue_behind_a_blocked_head(Strategy.BALANCE, second_gpus=3)
    plan(state, 1000)
    submit(state, "newer", "r", (1, 3000), now_ms=200_000, priority=5)
    plan(state, 200_000)
    plan(state, 301_000)
    assert running(state) == {"busy"}, "the head has stood for five minutes, the second has not"
    plan(state, 500_000)
    assert running(state) == {"busy", "c"}


def queue_behind_a_blocked_head(strategy: Strategy, second_gpus: int = 1) -> State:
    state = cluster(4, root(4, strategy=strategy))
    submit(state, "busy", "r", (1, 2000), priority=6)
    plan(state, 0)
    submit(state, "a", "r", (1, 4000), now_ms=1, priority=5)
    submit(state, "b", "r", (1, second_gpus * 1000), now_ms=2, priority=4)
    submit(state, "c", "r", (1, 1000), now_ms=3, priority=3)
    return state


def running(state: State) -> set[str]:
    return {job.id for job in state.jobs.values() if job.phase is Phase.RUNNING}


def test_a_victim_that_ends_during_its_grace_does_not_run_again() -> None:
    below = ChildLevel(Priorities(1, 3), frozenset(Module))
    state = cluster(8, root(8, child_level=below), child("r.a", 8))
    submit(state, "victim", "r.a", (1, 8000))
    plan(state, 0)
    submit(state, "boss", "r", (1, 8000))
    made = plan(state, 1_000)
    assert [d.job for d in made.decisions if isinstance(d, say.Evict)] == ["victim"]
    apply(state, ev.JobEnded(JobId("victim")), 2_000)
    assert state.jobs[JobId("victim")].phase is Phase.SUCCEEDED
    made = plan(state, 2_000)
    assert [d.job for d in made.decisions if isinstance(d, say.Start)] == ["boss"]
    apply(state, ev.JobEnded(JobId("boss")), 3_000)
    assert not plan(state, 3_000).decisions
    apply(state, ev.JobForgotten(JobId("victim")), 3_000)
    assert JobId("victim") not in state.jobs


def test_a_protected_job_is_spared_though_its_neighbour_on_the_node_costs_more() -> None:
    below = ChildLevel(Priorities(1, 3), frozenset(Module))
    young, old = child("r.young", 4, min_runtime_ms=3_600_000), child("r.old", 4)
    state = cluster(8, root(8, child_level=below), young, old)
    submit(state, "old", "r.old", (1, 4000))
    plan(state, 0)
    submit(state, "young", "r.young", (1, 4000), now_ms=1_800_000)
    plan(state, 1_800_000)
    submit(state, "boss", "r", (1, 4000), now_ms=1_900_000)
    made = plan(state, 1_900_000)
    assert [d.job for d in made.decisions if isinstance(d, say.Evict)] == ["old"]


def test_exposure_to_a_return_names_only_priorities_that_may_take() -> None:
    lender = child("r.lender", 8)
    borrower = child("r.borrower", 8, self_level=self_level(4, 1))
    state = cluster(8, root(16), lender, borrower, nodes=2)
    submit(state, "loan", "r.borrower", (2, 8000), priority=4)
    plan(state, 0)
    returns = [e for e in exposure(state, JobId("loan"), 0) if e.rule == "ReturnOfLoan"]
    assert [(e.quota, e.who) for e in returns] == [("r.lender", "jobs of r.lender with priority 4-9")]


def test_explain_groups_the_nodes_on_which_a_job_finds_no_place() -> None:
    state = cluster(8, root(32), nodes=4)
    for number in range(4):
        submit(state, f"half-{number}", "r", (1, 5000))
    plan(state, 0)
    submit(state, "wide", "r", (1, 8000))
    plan(state, 0)
    told = explain(state, JobId("wide"), 0)
    assert [(g.nodes, g.free_gpus, g.replicas_fit) for g in told.nodes] == [(4, 3, 0)]


def test_a_core_and_its_surplus_are_counted_once_for_a_gang() -> None:
    """The gang needs a slot on both nodes; the core and the surplus of the only victim free one."""
    below = ChildLevel(Priorities(1, 3), frozenset(Module))
    state = cluster(6, root(12, child_level=below), child("r.a", 12), nodes=2)
    submit(state, "keeps", "r.a", (1, 3000), priority=9)
    grows = submit(state, "grows", "r.a", (2, 3000), min_replicas=1, module=Module.EAS, priority=1)
    plan(state, 0)
    assert grows.running
    submit(state, "gang", "r", (2, 4000), priority=9)
    made = plan(state, 1_000)
    assert not [d for d in made.decisions if isinstance(d, say.Evict)]
    assert not plan(state, 1_000).decisions
