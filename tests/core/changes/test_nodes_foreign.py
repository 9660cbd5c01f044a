"""Others use a node too: what they use is taken off, and where our work leaves too little nothing new lands (R2, R6)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.model.job import Job, JobId, JobSpec, Phase, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.resources import WHOLE_GPU, ZERO, Resources
from quotatree.core.planning.plan import plan
from quotatree.core.quota_figures import quota_report
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import State
from tests.core.building import cluster, root, self_level, submit
from tests.property.accounting import ALL as ACCOUNTING
from tests.property.snapshot import snapshot as picture


def happens(state: State, event: ev.Event, now_ms: int = 1) -> tuple[say.Decision, ...]:
    found = apply(state, event, now_ms)
    for check in ACCOUNTING:
        check(state)
    again = restore(snapshot(state))
    assert (picture(again)["nodes"], snapshot(again)) == (picture(state)["nodes"], snapshot(state))
    return found


def others(state: State, gpus: int, cpu_milli: int = 0, node: str = "n0") -> tuple[say.Decision, ...]:
    return happens(state, ev.ForeignUse(node, Resources(gpus * WHOLE_GPU, cpu_milli)))


def phase(job: Job) -> str:
    return job.phase.value


def test_what_others_use_is_not_given_away_and_is_when_they_are_gone() -> None:
    state = cluster(4)
    others(state, 3)
    first, second = submit(state, "first", "r", (1, 1000)), submit(state, "second", "r", (1, 1000))
    plan(state, 1)
    assert (first.phase, second.phase) == (Phase.RUNNING, Phase.WAITING)
    others(state, 2)
    plan(state, 2)
    assert phase(second) == Phase.RUNNING.value
    others(state, 0)
    assert state.nodes[0].foreign_devices == frozenset()


def test_cpu_that_others_use_is_not_given_away() -> None:
    state = cluster(4)
    cpu_milli = state.nodes[0].spec.cpu_milli
    spec = JobSpec(JobId("all"), "r", groups=(ReplicaGroup(1, Shape(1000, cpu_milli, 0)),), submitted_ms=0)
    apply(state, ev.JobSubmitted(spec), 0)
    wants_all = state.jobs[spec.id]
    others(state, 0, cpu_milli=100)
    plan(state, 1)
    assert phase(wants_all) == Phase.WAITING.value
    others(state, 0)
    plan(state, 2)
    assert phase(wants_all) == Phase.RUNNING.value


def test_cpu_that_others_took_before_it_was_left_keeps_no_job_away_that_wants_none() -> None:
    state = cluster(4)
    cpu_milli = state.nodes[0].spec.cpu_milli
    spec = JobSpec(JobId("goes"), "r", groups=(ReplicaGroup(1, Shape(1000, cpu_milli, 0)),), submitted_ms=0)
    apply(state, ev.JobSubmitted(spec), 0)
    plan(state, 1)
    happens(state, ev.JobCancelled(spec.id))  # and has not left yet
    others(state, 0, cpu_milli=cpu_milli)
    gang = submit(state, "gang", "r", (3, 1000))
    plan(state, 2)
    assert phase(gang) == Phase.RUNNING.value


def test_others_above_what_our_work_leaves_harm_nothing_that_runs_and_nothing_new_lands() -> None:
    state = cluster(4, nodes=2)
    runs = [submit(state, f"runs{i}", "r", (1, 2000)) for i in range(2)]
    plan(state, 0)
    assert {state.nodes[0].whole_free, state.nodes[1].whole_free} == {0, 4}
    full = next(node.spec.name for node in state.nodes if not node.whole_free)
    assert others(state, 1, node=full) == ()
    assert all(job.phase is Phase.RUNNING for job in runs)
    assert state.node_by_name[full].crowded
    assert quota_report(state, "r").shortfall == ZERO, "nothing of it is missing as long as our work has it"
    apply(state, ev.JobEnded(runs[0].id), 2)
    assert not state.node_by_name[full].crowded
    late = submit(state, "late", "r", (1, 2000))
    plan(state, 2)
    (place,) = late.core.places if late.core is not None else ()
    assert state.nodes[place.node].spec.name != full, "one of the two GPUs that became free is for others"
    assert quota_report(state, "r").shortfall.gpu_milli == WHOLE_GPU


def test_on_a_crowded_node_nobody_is_evicted_for_nothing() -> None:
    state = cluster(2, root(2, self_level=self_level(9, 8)))
    low = submit(state, "low", "r", (1, 2000), priority=1)
    plan(state, 0)
    others(state, 1)
    high = submit(state, "high", "r", (1, 1000), priority=9)
    plan(state, 1)
    assert phase(low) == Phase.RUNNING.value, "the GPU that its leaving would give free is used by others"
    assert phase(high) == Phase.WAITING.value


def test_a_promise_on_a_node_that_becomes_crowded_is_given_up_and_planned_anew() -> None:
    state = cluster(2, root(2, self_level=self_level(9, 8)))
    low = submit(state, "low", "r", (1, 2000), priority=1)
    plan(state, 0)
    high = submit(state, "high", "r", (1, 2000), priority=9)
    plan(state, 1)
    assert phase(high) == Phase.HELD.value
    (released,) = others(state, 1)
    assert isinstance(released, say.Release)
    assert released.reason.text == "others use node n0: what was promised there is given up; planned anew"
    assert phase(high) == Phase.WAITING.value
    assert low.preempted_by == "high"


def test_a_job_that_others_leave_no_room_for_blocks_nobody_behind_it() -> None:
    state = cluster(4)
    others(state, 1)
    submit(state, "whole-node", "r", (1, 4000))
    small = submit(state, "small", "r", (1, 1000))
    plan(state, 1)
    assert phase(small) == Phase.RUNNING.value


def test_taken_back_nothing_is_left_of_it() -> None:
    state = cluster(4)
    submit(state, "runs", "r", (1, 3000))
    plan(state, 0)
    before = picture(state)
    state.begin()
    apply(state, ev.ForeignUse("n0", Resources(2 * WHOLE_GPU, 500, 7)), 1)
    apply(state, ev.NodeAltered(replace(state.nodes[0].spec, gpus=8, cpu_milli=1)), 1)
    apply(state, ev.DeviceChanged("n0", 7, False), 1)
    apply(state, ev.NodeAltered(replace(state.nodes[0].spec, gpus=6)), 1)
    assert state.nodes[0].crowded
    state.rollback()
    assert picture(state) == before


def test_less_than_nothing_is_refused() -> None:
    with pytest.raises(Refused, match="must not be negative"):
        apply(cluster(1), ev.ForeignUse("n0", Resources(-1)), 0)


def test_a_node_that_gets_its_gpus_later_is_used_from_then_on() -> None:
    state = cluster(2)
    submit(state, "first", "r", (1, 2000))
    late = submit(state, "late", "r", (1, 2000))
    plan(state, 0)
    apply(state, ev.QuotaScaled("r", state.quotas["r"].spec.draws[0][1]), 0)  # type: ignore[index]
    spec = NodeSpec("n1", gpus=0)
    happens(state, ev.NodeJoined(spec))
    plan(state, 1)
    assert phase(late) == Phase.WAITING.value
    happens(state, ev.NodeAltered(replace(spec, gpus=2)))
    apply(state, ev.QuotaScaled("r", state.quotas["r"].spec.min._replace(gpu_milli=4000)), 1)  # type: ignore[index]
    plan(state, 2)
    assert phase(late) == Phase.RUNNING.value


def test_gpus_on_which_work_stands_do_not_go_and_free_ones_do() -> None:
    state = cluster(4)
    submit(state, "runs", "r", (1, 2000))
    plan(state, 0)
    spec = state.nodes[0].spec
    with pytest.raises(Refused, match="work stands on the GPUs of n0"):
        happens(state, ev.NodeAltered(replace(spec, gpus=1)))
    happens(state, ev.NodeAltered(replace(spec, gpus=2)))
    assert state.nodes[0].whole_free == 0


def test_devices_that_go_with_an_ill_one_among_them_are_not_counted_for_others_r6() -> None:
    state = cluster(4)
    others(state, 4)
    happens(state, ev.DeviceChanged("n0", 3, healthy=False))
    happens(state, ev.NodeAltered(replace(state.nodes[0].spec, gpus=2)))
    assert (state.nodes[0].foreign_devices, state.nodes[0].ill) == (frozenset({0, 1}), frozenset())


def test_a_node_changes_its_pool_only_while_nothing_stands_on_it() -> None:
    state = cluster(2)
    job = submit(state, "runs", "r", (1, 1000))
    plan(state, 0)
    spec = replace(state.nodes[0].spec, pool="other", model="H100")
    with pytest.raises(Refused, match="drain it"):
        happens(state, ev.NodeAltered(spec))
    apply(state, ev.JobEnded(job.id), 1)
    happens(state, ev.NodeAltered(spec))
    assert state.pool_models == {"default": {}, "other": {"H100": None}}
