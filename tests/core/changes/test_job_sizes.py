"""An owner changes how many replicas his job has (P12), told to the core alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.model.autoscale import Autoscale, check_autoscale
from quotatree.core.model.job import Job, JobId, Phase, ReplicaGroup, Shape
from quotatree.core.model.policy import Module
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code, because
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import State
from tests.core.building import cluster, submit
from tests.property.accounting import ALL as ACCOUNTING


def service(
    state: State, replicas: int = 2, min_replicas: int | None = None, max_replicas: int | None = None
) -> Job:
    job = submit(
        state, "s", "r", (replicas, 1000), module=Module.EAS, min_replicas=min_replicas, max_replicas=max_replicas
    )  # fmt: skip
    plan(state, 0)
    return job


def resize(
    state: State, job: Job, now_ms: int, replicas: int | None = None, min_replicas: int | None = None,
    max_replicas: int | None = None,
) -> tuple[say.Decision, ...]:  # fmt: skip
    found = apply(state, ev.JobResized(job.id, min_replicas, replicas, max_replicas), now_ms)
    for check in ACCOUNTING:
        check(state)
    again = restore(snapshot(state))
    assert snapshot(again) == snapshot(state), "a restart knows the new size"
    return found


def standing(job: Job) -> list[int]:
    return sorted([*job.core_indexes, *job.extras])


def test_more_replicas_of_a_service_are_surplus_to_come() -> None:
    state = cluster(8)
    job = service(state)
    assert resize(state, job, 1, replicas=4) == ()
    plan(state, 1)
    assert (standing(job), job.core_replicas) == ([0, 1, 2, 3], 1)


def test_surplus_that_found_no_room_is_tried_again_when_more_is_wanted() -> None:
    state = cluster(3)
    job = service(state, 4)
    assert standing(job) == [0, 1, 2]
    resize(state, job, 1, replicas=2)
    apply(state, ev.JobLeft(job.id), 1)
    plan(state, 1)
    resize(state, job, 2, replicas=3)
    plan(state, 2)
    assert len(standing(job)) == 3


def test_of_fewer_replicas_the_newest_surplus_leaves_first_with_grace() -> None:
    state = cluster(3)
    job = service(state, 3)
    apply(state, ev.JobLost(job.id, (1,)), 5)
    plan(state, 5)
    assert job.extras[1].started_ms > job.extras[2].started_ms, "replica 1 is the newest now"
    (evicted,) = resize(state, job, 6, replicas=2)
    assert isinstance(evicted, say.Evict)
    assert (evicted.replicas, evicted.counts, evicted.grace_ms) == ((1,), False, job.spec.grace_ms)
    assert evicted.reason.text == "its owner lets it have 2 replicas at most"
    assert standing(job) == [0, 2], "a replica keeps its number, also beyond the new count"
    apply(state, ev.JobLeft(job.id), 7)
    assert plan(state, 7).decisions == ()


def test_a_core_that_was_given_stays_and_fewer_replicas_are_refused() -> None:
    state = cluster(8)
    job = service(state, 4, min_replicas=3)
    with pytest.raises(
        Refused,
        match=r"replicas = 2: must be at least 3, its min_replicas, .* \(--min-replicas\) too \[P12\]",
    ):
        resize(state, job, 1, replicas=2)
    assert (job.core_replicas, standing(job)) == (3, [0, 1, 2, 3])
    found = resize(state, job, 1, replicas=2, min_replicas=2)
    assert [d.replicas for d in found if isinstance(d, say.Evict)] == [(3,), (2,)]
    assert (job.core_replicas, job.spec.min_replicas, standing(job)) == (2, 2, [0, 1])
    assert plan(state, 1).decisions == ()


def test_a_max_that_was_given_stays_and_more_replicas_are_refused() -> None:
    state = cluster(16)
    job = service(state, 1)
    resize(state, job, 1, replicas=3, max_replicas=6, min_replicas=2)
    with pytest.raises(
        Refused,
        match=r"replicas = 12: must be at most 6, its max_replicas, .* \(--max-replicas\) too \[P12\]",
    ):
        resize(state, job, 1, replicas=12)
    resize(state, job, 1, replicas=6)
    resize(state, job, 1, replicas=3)
    assert (job.spec.min_replicas, job.spec.wanted_replicas, job.spec.max_replicas) == (2, 3, 6)


def test_a_core_that_is_all_replicas_stays_if_it_was_given_and_follows_if_not() -> None:
    state = cluster(2)
    submit(state, "b", "r", (2, 1000))
    plan(state, 0)
    gang, elastic = submit(state, "g", "r", (2, 1000)), submit(state, "e", "r", (3, 1000), min_replicas=2)
    resize(state, gang, 1, replicas=1)
    assert (gang.spec.min_replicas, gang.core_replicas) == (None, 1)
    resize(state, elastic, 1, replicas=2)
    resize(state, elastic, 1, replicas=3)
    assert (elastic.spec.min_replicas, elastic.core_replicas) == (2, 2)
    resize(state, elastic, 1, replicas=2, min_replicas=2)
    resize(state, elastic, 1, replicas=1)
    assert (elastic.spec.min_replicas, elastic.core_replicas) == (None, 1), (
        "named as its default it is taken away"
    )


def test_a_core_above_the_replicas_is_refused() -> None:
    state = cluster(8)
    job = service(state, 4)
    with pytest.raises(Refused, match=r"min_replicas = 3: must be 1\.\.2 \(replicas\) \[P12\]"):
        resize(state, job, 1, replicas=2, min_replicas=3)
    with pytest.raises(Refused, match="say replicas, min_replicas or max_replicas"):
        resize(state, job, 1)
    with pytest.raises(Refused, match="at least 1"):
        resize(state, job, 1, replicas=0)
    assert standing(job) == [0, 1, 2, 3]


def test_max_replicas_below_the_replicas_is_refused() -> None:
    state = cluster(8)
    job = service(state, 4)
    with pytest.raises(Refused, match=r"max_replicas = 3: must be at least 4 \(replicas\) \[P12\]"):
        resize(state, job, 1, max_replicas=3)
    with pytest.raises(Refused, match=r"max_replicas = 3: only a job of one group"):
        submit(state, "two", "r", (1, 1000), (1, 1000), max_replicas=3)


def test_max_replicas_is_as_many_as_are_wanted_unless_said() -> None:
    state = cluster(8)
    job = service(state, 2)
    resize(state, job, 1, replicas=3)
    assert (job.spec.max_replicas, job.spec.most_replicas) == (None, 3)
    resize(state, job, 1, max_replicas=5)
    plan(state, 1)
    assert standing(job) == [0, 1, 2, 3, 4]
    resize(state, job, 2, replicas=1)
    assert (standing(job), job.spec.most_replicas) == ([0, 1, 2, 3, 4], 5), "what was wanted is surplus now"
    resize(state, job, 2, replicas=6, max_replicas=6)
    assert (job.spec.max_replicas, job.spec.most_replicas) == (None, 6), (
        "as many as are wanted is the default"
    )


def test_a_max_of_as_many_as_are_wanted_takes_it_away_so_that_demand_can_be_followed_p16() -> None:
    state = cluster(8)
    job = service(state, 2, max_replicas=4)
    auto = Autoscale(1, 3, 8000, 0)
    with pytest.raises(Refused, match="resize it to the replicas first"):
        check_autoscale(auto, job.spec)
    resize(state, job, 1, max_replicas=2)
    assert (job.spec.max_replicas, job.spec.most_replicas) == (None, 2)
    check_autoscale(auto, job.spec)


def test_replicas_beyond_a_lower_max_leave_with_grace() -> None:
    state = cluster(8)
    job = service(state, 2, max_replicas=4)
    found = resize(state, job, 1, max_replicas=3)
    assert [d.replicas for d in found if isinstance(d, say.Evict)] == [(3,)]
    assert standing(job) == [0, 1, 2]


def test_a_core_that_could_never_fit_is_refused() -> None:
    state = cluster(4)
    job = service(state, 2)
    resize(state, job, 1, replicas=8)
    with pytest.raises(Refused, match="S11"):
        resize(state, job, 1, min_replicas=8)


def test_a_gang_changes_its_size_only_while_it_waits() -> None:
    state = cluster(4)
    runs = submit(state, "runs", "r", (2, 1000))
    plan(state, 0)
    waits = submit(state, "waits", "r", (4, 1000))
    plan(state, 1)
    assert (runs.phase, waits.phase) == (Phase.RUNNING, Phase.WAITING)
    with pytest.raises(Refused, match="runs runs as a gang of 2: stop it first"):
        resize(state, runs, 2, replicas=1)
    resize(state, waits, 2, replicas=2)
    plan(state, 2)
    assert (waits.phase, standing(waits), waits.core_replicas) == (Phase.RUNNING, [0, 1], 2)


def test_a_gang_whose_owner_says_that_fewer_will_do_grows_while_it_runs() -> None:
    state = cluster(4)
    job = submit(state, "j", "r", (2, 1000))
    plan(state, 0)
    resize(state, job, 1, replicas=4, min_replicas=2)
    plan(state, 1)
    assert standing(job) == [0, 1, 2, 3]
    resize(state, job, 2, replicas=1, min_replicas=1)
    assert (standing(job), job.core_replicas) == ([0], 1)


def test_a_waiting_service_starts_with_its_new_size() -> None:
    state = cluster(4)
    blocker = submit(state, "b", "r", (1, 4000))
    plan(state, 0)
    job = service(state, 2)
    resize(state, job, 1, replicas=3, min_replicas=2)
    apply(state, ev.JobEnded(blocker.id), 2)
    plan(state, 2)
    assert (len(job.core_indexes), len(job.extras)) == (2, 1)


def test_a_hold_outlives_a_change_that_leaves_the_core_alone() -> None:
    state = cluster(2)
    leaves = submit(state, "l", "r", (1, 2000))
    plan(state, 0)
    apply(state, ev.JobCancelled(leaves.id), 1)
    job = service(state, 1)
    assert job.phase is Phase.HELD
    assert resize(state, job, 2, replicas=2) == ()
    assert job.phase is Phase.HELD
    apply(state, ev.JobLeft(leaves.id), 3)
    plan(state, 3)
    assert standing(job) == [0, 1]


def test_what_was_resized_can_be_taken_back() -> None:
    state = cluster(8)
    job = service(state, 4, min_replicas=3)
    before = snapshot(state)
    state.begin()
    resize(state, job, 1, replicas=2, min_replicas=2)
    plan(state, 1)
    state.rollback()
    assert snapshot(state) == before


def test_a_core_resized_while_waiting_grows_its_surplus_later() -> None:
    state = cluster(4)
    job = submit(state, "j", "r", (2, 1000))
    apply(state, ev.JobResized(job.id, 1), 0)
    plan(state, 0)
    assert (len(job.core_indexes), len(job.extras)) == (1, 1)


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
    assert len(job.hold.unit.places) == 2, "its core, and with it the other replica that it wants"


def alter(state: State, job: Job, **changes: object) -> tuple[say.Decision, ...]:
    found = apply(state, ev.JobAltered(replace(job.spec, **changes)), 5)  # type: ignore[arg-type]
    for check in ACCOUNTING:
        check(state)
    assert snapshot(restore(snapshot(state))) == snapshot(state), "a restart knows what it asks for"
    return found


def group(replicas: int, gpu_milli: int) -> tuple[ReplicaGroup, ...]:
    return (ReplicaGroup(replicas, Shape(gpu_milli, 0, 0)),)


def test_a_job_that_waits_is_planned_with_what_it_asks_for_now_at_its_place_in_the_queue() -> None:
    state = cluster(8)
    submit(state, "first", "r", (1, 8000))
    plan(state, 0)
    job = submit(state, "a", "r", (1, 1000))
    later = submit(state, "b", "r", (1, 1000))
    alter(state, job, groups=group(2, 2000))
    plan(state, 6)
    assert (job.phase, job.core_replicas) == (Phase.WAITING, 2)
    apply(state, ev.JobEnded(state.jobs[JobId("first")].id), 7)
    plan(state, 7)
    assert [place.shape.gpu_milli for place in job.core.places] == [2000, 2000]  # type: ignore[union-attr]
    assert later.phase is Phase.RUNNING
    assert job.spec.submitted_ms <= later.spec.submitted_ms


def test_what_is_on_hold_may_ask_for_something_else_and_stays_there() -> None:
    state = cluster(8)
    job = submit(state, "a", "r", (1, 1000))
    apply(state, ev.JobStopped(job.id, because(Code.HeldByOwner)), 1)
    alter(state, job, groups=group(1, 4000))
    plan(state, 6)
    assert (job.phase, job.spec.groups[0].shape.gpu_milli) == (Phase.STOPPED, 4000)


def test_what_runs_or_can_never_fit_is_not_altered() -> None:
    state = cluster(8)
    job = submit(state, "a", "r", (1, 8000))
    plan(state, 0)
    with pytest.raises(Refused, match="only while it waits"):
        alter(state, job, groups=group(1, 4000))
    waits = submit(state, "b", "r", (1, 8000))
    with pytest.raises(Refused, match="never fit"):
        alter(state, waits, groups=group(9, 8000))
    assert waits.spec.groups == group(1, 8000)


def test_a_hold_is_given_up_when_its_job_asks_for_something_else() -> None:
    state = cluster(8)
    first = submit(state, "first", "r", (1, 8000), grace_ms=60_000)
    plan(state, 0)
    job = submit(state, "a", "r", (1, 8000))
    apply(state, ev.JobCancelled(first.id), 1)
    plan(state, 1)
    before = job.phase
    [released] = alter(state, job, groups=group(1, 4000))
    assert isinstance(released, say.Release)
    assert released.reason.code is Code.RequestChanged
    assert (before, job.phase) == (Phase.HELD, Phase.WAITING)
