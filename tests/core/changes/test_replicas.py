"""What the replicas of a running job count as: core, wanted or surplus (P12), and what each costs (P6)."""

from __future__ import annotations

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Idle, Job, JobId
from quotatree.core.model.policy import Module
from quotatree.core.model.quota import QuotaId
from quotatree.core.model.unit import GPU_SECOND, UnitKind, eviction_cost, eviction_frees, eviction_lost_work
from quotatree.core.planning.plan import plan
from quotatree.core.state import State
from tests.core.building import child, cluster, root, submit
from tests.property.accounting import ALL as ACCOUNTING


def service(state: State, wanted: int, least: int = 1, most: int | None = None, priority: int = 1) -> Job:
    job = submit(
        state,
        "s",
        "r",
        (wanted, 1000),
        module=Module.EAS,
        min_replicas=least,
        max_replicas=most,
        priority=priority,
    )
    plan(state, 0)
    return job


def kinds(job: Job) -> list[str]:
    return ["core"] * len(job.core_indexes) + sorted(u.cls.kind.value for u in job.extras.values())


def check(state: State) -> None:
    for one in ACCOUNTING:
        one(state)


def test_beyond_the_core_what_is_wanted_comes_before_surplus_p12() -> None:
    state = cluster(8)
    job = service(state, 3, least=1, most=5)
    assert kinds(job) == ["core", "surplus", "surplus", "wanted", "wanted"]
    assert state.trees[0].surplus_units == 2
    assert [u.cls.rung for _, u in sorted(job.extras.items())] == [1, 1, 0, 0]


def test_surplus_becomes_wanted_when_a_wanted_replica_goes_p12() -> None:
    state = cluster(5)
    job = service(state, 3, least=1, most=5)
    wanted = [number for number, unit in job.extras.items() if unit.cls.kind is UnitKind.WANTED]
    apply(state, ev.JobLost(job.id, (wanted[0],)), 1)
    assert kinds(job) == ["core", "surplus", "wanted", "wanted"]
    check(state)


def test_while_a_raised_core_is_not_reached_what_runs_is_the_core_p12() -> None:
    state = cluster(2)
    job = service(state, 2, least=1)
    submit(state, "other", "r", (1, 1000))
    (promoted,) = apply(state, ev.JobResized(job.id, 2, 2), 1)
    assert isinstance(promoted, say.Promote)
    assert kinds(job) == ["core", "core"]
    assert apply(state, ev.JobResized(job.id, 1), 2) == ()
    assert kinds(job) == ["core", "wanted"], "lowered again, the second replica is a unit of its own"
    check(state)


def test_a_wanted_replica_costs_its_part_of_an_outage_and_surplus_none_p6() -> None:
    state = cluster(8)
    job = service(state, 3, least=1, most=4)
    by_kind = {unit.cls.kind: unit.lost_work(0) // GPU_SECOND for unit in job.extras.values()}
    assert by_kind == {UnitKind.WANTED: 40 + 3600 // 4, UnitKind.SURPLUS: 40}
    apply(state, ev.JobResized(job.id, max_replicas=3), 1)
    assert {unit.lost_work(1) // GPU_SECOND for unit in job.extras.values()} == {40 + 3600 // 3}
    check(state)


def test_a_core_takes_all_along_and_its_record_counts_all_p13() -> None:
    state = cluster(8)
    job = service(state, 3, least=1, most=4, priority=3)
    assert job.core is not None
    assert eviction_frees(job.core).gpu_milli == 4000
    assert eviction_lost_work(job.core, 0) == (3640 + 2 * 940 + 40) * GPU_SECOND
    assert eviction_cost(job.core, 0) == ((3640 + 2 * 940) * 4 + 40) * GPU_SECOND, "surplus weighs 1 (P5)"


def test_training_beyond_its_core_loses_what_was_not_saved_p6() -> None:
    state = cluster(8)
    job = submit(state, "train", "r", (3, 1000), min_replicas=2)
    plan(state, 0)
    apply(state, ev.JobStarted(job.id, job.run), 60_000)
    apply(state, ev.JobCheckpointed(job.id), 100_000)
    (beyond,) = job.extras.values()
    assert beyond.lost_work(160_000) == (40 + 60) * GPU_SECOND
    check(state)


def test_an_idle_service_whose_second_replica_is_given_up_is_promoted_i1() -> None:
    state = cluster(4, root(4), child("a", 2), child("b", 2))
    submit(state, "A", "a", (1, 1000))
    submit(state, "B", "b", (1, 1000))
    plan(state, 0)
    job = submit(state, "X", "a", (2, 1000), now_ms=1, module=Module.EAS, min_replicas=2, idle=Idle.ALLOW)
    plan(state, 1)
    assert job.claim.value == "idle"
    apply(state, ev.JobResized(job.id, 1), 2)
    made = plan(state, 2)
    assert [(type(d).__name__, d.job) for d in made.decisions] == [("Promote", "X")], (
        "the core fits, and is alone now"
    )
    submit(state, "C", "b", (1, 1000), now_ms=3)
    plan(state, 3)
    assert state.quotas[QuotaId("a")].used[0] == 2000
    assert state.jobs[JobId("C")].hold is not None, "the idle replica leaves for it"
    assert plan(state, 3).decisions == ()
    check(state)
