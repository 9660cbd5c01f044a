"""What follows from a decision outside the core: orders to the engine, runs, placements, domain events.

`book_decisions` goes through what was decided, in order; `close_what_is_over` then compares the open runs and
placements of every job that was written with where the job really stands, so that no way for a replica to leave (it
left, its job ended, its node was lost) can be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from quotatree.control.deadlines import Deadline, DeadlineKind
from quotatree.control.turn import Turn
from quotatree.control.world import World
from quotatree.core import FINAL_PHASES, GPU_SECOND, Job, JobId, Phase, UnitKind
from quotatree.core import decisions as say
from quotatree.engines.base import Owner, ReplicaOrder, StartOrder, StopOrder
from quotatree.store.rows import PlacementRow, RunRow

OVERDUE_MS: Final = 60_000


def book_decisions(turn: Turn) -> None:
    for decision in turn.decisions:
        book = _BOOKS.get(type(decision))
        if book is not None:
            book(turn, decision)


def close_what_is_over(turn: Turn) -> None:
    touched = turn.state.touched
    assert touched is not None
    for job_id in touched.jobs:
        job = turn.state.jobs.get(job_id)
        if job is None:
            continue
        _close_places(turn, job)
        if job.phase in FINAL_PHASES and turn.world.cards[job_id].ended_ms is None:
            turn.change_card(job_id, ended_ms=turn.now_ms)
        _watch_wait(turn.world, job)


def start_order(world: World, job: Job, replicas: tuple[ReplicaOrder, ...]) -> StartOrder:
    card, spec = world.cards[job.id], job.spec
    owner = Owner(
        quota=spec.quota,
        user=card.owner,
        name=card.name,
        priority=job.priority,
        replicas=job.core_replicas,
    )
    return StartOrder(
        job=job.id,
        run=job.run,
        module=spec.module,
        replicas=replicas,
        program=card.program,
        grace_ms=spec.grace_ms,
        workspace=spec.workspace,
        owner=owner,
    )


def watch_run(world: World, job: Job) -> None:
    """Set the deadline of a running job's longest run, counted from the start of the run (W3), and of the first look at
    the demand of a service that follows it (P16)."""
    if job.phase is not Phase.RUNNING:
        return
    since_ms = world.runs[job.id].started_ms
    limit_ms = world.directory.centre(job.spec.workspace, job.spec.quota).longest_run(job.spec.module)
    if limit_ms is not None:
        world.deadlines.add(Deadline(since_ms + limit_ms, job.id, DeadlineKind.LONGEST_RUN, since_ms))
    if world.cards[job.id].autoscale is not None:
        world.deadlines.add(Deadline(since_ms, job.id, DeadlineKind.DEMAND, since_ms))


def _watch_wait(world: World, job: Job) -> None:
    """Set the deadline of a waiting job's longest wait, counted from when it was queued, anew after an eviction (W3)."""
    if job.phase is not Phase.WAITING:
        return
    limit_ms = world.directory.centre(job.spec.workspace, job.spec.quota).longest_wait(job.spec.module)
    if limit_ms is not None and world.cards[job.id].late_ms != job.queued_ms:
        since_ms = job.queued_ms
        world.deadlines.add(Deadline(since_ms + limit_ms, job.id, DeadlineKind.LONGEST_WAIT, since_ms))


def watch(world: World, job: Job) -> None:
    """Set all deadlines of a job, after a restart or when the rules of its workspace changed."""
    _watch_wait(world, job)
    if job.id in world.runs:
        watch_run(world, job)


# -- one decision ----------------------------------------------------------------------------------------------------


def _start(turn: Turn, decision: say.Start) -> None:
    job = turn.state.jobs[decision.job]
    run = turn.world.runs.get(job.id)
    grows = run is not None and run.run == decision.run
    if not grows:
        if run is not None:  # the last replica of the old run left in this very batch
            _close_run(turn, job, run)
        _open_run(turn, job, decision)
    orders = tuple(_start_replica(turn, job, decision.run, place) for place in decision.replicas)
    turn.order(start_order(turn.world, job, orders))
    body = _body(
        decision,
        run=decision.run,
        claim=decision.claim.value,
        step=decision.step.name,
        surplus=decision.surplus,
    )
    turn.tell("job.grown" if grows else "job.started", body, job=job.id)


def _open_run(turn: Turn, job: Job, decision: say.Start) -> None:
    now_ms = turn.now_ms
    _put_run(turn, RunRow(job.id, decision.run, decision.claim.value, now_ms))
    first_ms = turn.world.cards[job.id].first_started_ms
    turn.change_card(
        job.id, confirmed=(), first_started_ms=now_ms if first_ms is None else first_ms, restart_key=""
    )
    watch_run(turn.world, job)


def _start_replica(turn: Turn, job: Job, run: int, place: say.ReplicaPlace) -> ReplicaOrder:
    """Open the replica's placement; return the order that starts it."""
    shape = job.shape_of(place.replica)
    left = turn.world.places.get(job.id, {}).get(place.replica)
    if left is not None:  # the replica left and comes back in one batch
        _close_place(turn, left)
    row = PlacementRow(
        job=job.id,
        run=run,
        replica=place.replica,
        node=place.node,
        devices=place.devices,
        gpu_milli=shape.gpu_milli,
        from_ms=turn.now_ms,
        until_ms=None,
    )
    _open_place(turn, row)
    return ReplicaOrder(place.replica, place.node, place.devices, shape)


def _hold(turn: Turn, decision: say.Hold) -> None:
    body = _body(decision, waiting_on=len(decision.waiting_on), expires_ms=decision.expires_ms)
    turn.tell("job.promised", body, job=decision.job)


def _evict(turn: Turn, decision: say.Evict) -> None:
    if decision.kind is not UnitKind.HOLD:
        _stop_replicas(turn, decision.job, decision.run, decision.replicas, decision.grace_ms)
    if decision.kind is UnitKind.CORE:
        say_outcome(turn, decision.job, "evicted", decision.reason.code.name)
    body = _body(
        decision, run=decision.run, what=decision.kind.value, grace_ms=decision.grace_ms,
        lost_gpu_seconds=lost_work(turn.world, decision.job, decision.lost_work) / GPU_SECOND, requeued=decision.requeued, counts=decision.counts,
        moved=decision.moved,
    )  # fmt: skip
    turn.tell("job.moved" if decision.moved else "job.evicted", body, job=decision.job)


def lost_work(world: World, job: JobId, priced: int) -> int:
    """The work that an eviction loses, of what it is priced at: none where no replica of the run has run yet (P6)."""
    run = world.runs.get(job)
    ran = run is None or run.confirmed_ms is not None or bool(world.cards[job].confirmed)
    return priced if ran else 0


def _stop(turn: Turn, decision: say.Stop) -> None:
    _stop_replicas(turn, decision.job, decision.run, decision.replicas, decision.grace_ms)
    say_outcome(turn, decision.job, "stopped", decision.reason.code.name)
    turn.tell("job.stopping", _body(decision, run=decision.run, grace_ms=decision.grace_ms), job=decision.job)


def _stop_replicas(turn: Turn, job_id: JobId, run: int, replicas: tuple[int, ...], grace_ms: int) -> None:
    """Order the replicas to stop and set a deadline to look again (P14), except those already gone with a lost node."""
    left = tuple(r for r in replicas if r in turn.state.jobs[job_id].leaving)
    if left:
        turn.order(StopOrder(job_id, run, grace_ms, left))
        turn.world.deadlines.add(overdue(job_id, turn.now_ms, grace_ms))


def overdue(job_id: JobId, now_ms: int, grace_ms: int) -> Deadline:
    """Deadline by which replicas stopped now should be gone: their grace, and OVERDUE_MS more for the engine."""
    return Deadline(now_ms + grace_ms + OVERDUE_MS, job_id, DeadlineKind.GRACE, now_ms)


def _claim(turn: Turn, decision: say.Demote | say.Promote) -> None:
    claim = turn.state.jobs[decision.job].claim  # that of its core, whatever other replicas have
    run = turn.world.runs.get(decision.job)
    if run is not None and run.claim != claim.value:
        _put_run(turn, replace(run, claim=claim.value))
    kind = "job.demoted" if isinstance(decision, say.Demote) else "job.promoted"
    turn.tell(kind, _body(decision, replicas=list(decision.replicas)), job=decision.job)


def _release(turn: Turn, decision: say.Release) -> None:
    turn.tell("job.unpromised", _body(decision), job=decision.job)


def _fail(turn: Turn, decision: say.Fail) -> None:
    turn.tell("job.failed", _body(decision), job=decision.job)


def _alarm(turn: Turn, decision: say.Alarm) -> None:
    turn.tell("job.alarm", _body(decision), job=decision.job)


_BOOKS: dict[type[Any], Callable[[Turn, Any], None]] = {
    say.Start: _start,
    say.Hold: _hold,
    say.Evict: _evict,
    say.Stop: _stop,
    say.Demote: _claim,
    say.Promote: _claim,
    say.Release: _release,
    say.Fail: _fail,
    say.Alarm: _alarm,
}


def _body(decision: Any, **facts: Any) -> dict[str, Any]:
    """Body of a decision's event: the reason code and `facts`.

    Names in the facts of the reason are left out: only readers of the decision itself may know them.
    """
    return {"reason": decision.reason.code.name, **facts}


# -- runs and placements -----------------------------------------------------------------------------------------------


def _put_run(turn: Turn, run: RunRow) -> None:
    turn.state.put_entry(turn.world.runs, JobId(run.job), run)
    turn.put_row((run.job, run.run), run)


def say_confirmed(turn: Turn, job: JobId) -> None:
    run = turn.world.runs[job]
    if run.confirmed_ms is None:
        _put_run(turn, replace(run, confirmed_ms=turn.now_ms, detail=""))


def say_hindered(turn: Turn, job: JobId, detail: str) -> bool:
    """Note why the job's open run has not begun; return False if it has, or that was noted before."""
    run = turn.world.runs.get(job)
    if run is None or run.confirmed_ms is not None or run.outcome is not None or run.detail == detail:
        return False
    _put_run(turn, replace(run, detail=detail))
    return True


def say_outcome(turn: Turn, job: JobId, outcome: str, detail: str) -> None:
    """Note how the job's open run ended or will end. The last call counts: a run told to stop may succeed in its grace."""
    run = turn.world.runs.get(job)
    if run is not None:
        _put_run(turn, replace(run, outcome=outcome, detail=detail))


def _open_place(turn: Turn, row: PlacementRow) -> None:
    open_ones = turn.world.places.get(JobId(row.job), {})
    turn.state.put_entry(turn.world.places, JobId(row.job), {**open_ones, row.replica: row})
    turn.put_row((row.job, row.run, row.replica, row.from_ms), row)


def _close_place(turn: Turn, row: PlacementRow) -> None:
    left = {r: one for r, one in turn.world.places[JobId(row.job)].items() if r != row.replica}
    turn.state.put_entry(turn.world.places, JobId(row.job), left)
    closed = replace(row, until_ms=turn.now_ms)
    turn.put_row((row.job, row.run, row.replica, row.from_ms), closed)


def _close_places(turn: Turn, job: Job) -> None:
    world = turn.world
    places = world.places.get(job.id)
    if places:
        stands = {*job.core_indexes, *job.extras, *job.leaving}
        for replica, row in places.items():
            if replica not in stands:
                _close_place(turn, row)
    run = world.runs.get(job.id)
    if run is not None and job.core is None and not job.leaving:
        _close_run(turn, job, run)


def _close_run(turn: Turn, job: Job, run: RunRow) -> None:
    for row in turn.world.places.get(job.id, {}).values():
        _close_place(turn, row)
    outcome = run.outcome if run.outcome is not None else job.phase.value.lower()
    turn.put_row((run.job, run.run), replace(run, ended_ms=turn.now_ms, outcome=outcome))
    turn.state.drop_entry(turn.world.runs, job.id)
    turn.state.drop_entry(turn.world.places, job.id)
    turn.forget_run(job.id, run.run)
