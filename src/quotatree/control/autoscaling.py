"""How does a service follow its demand (P16)? A look every two seconds, and a resize where the core says so.

The figures come from the engine and are kept in memory only: after a restart the windows fill anew, so that nothing is
lowered on what an earlier server saw. What a look changes are the job's `replicas`, as if its owner had resized it; the plan
that follows gets or gives up the replicas.
"""

from __future__ import annotations

from typing import Any, Final

from quotatree.control.deadlines import Deadline, DeadlineKind
from quotatree.control.turn import Turn
from quotatree.control.world import SYSTEM
from quotatree.core import Autoscale, Demand, Job, Move, Phase, Sample, next_move, with_sample
from quotatree.core import events as ev

LOOK_MS: Final = 2_000


def follow_demand(turn: Turn, job: Job, deadline: Deadline) -> None:
    """Look at the demand of a service, and move its `replicas` if that asks for it; then set the next look.

    Looks are at whole multiples of LOOK_MS: all services share a batch, and two looks at one of them are the same.
    """
    auto, run = turn.world.cards[job.id].autoscale, turn.world.runs.get(job.id)
    if auto is None or run is None or job.phase is not Phase.RUNNING or run.started_ms != deadline.since_ms:
        return
    next_ms = (turn.now_ms // LOOK_MS + 1) * LOOK_MS
    turn.world.deadlines.add(Deadline(next_ms, job.id, DeadlineKind.DEMAND, deadline.since_ms))
    known = _seen(turn, job, auto)
    move = None if known is None else next_move(auto, job.spec.wanted_replicas, known)
    if move is not None:
        _move(turn, job, auto, move)


def _seen(turn: Turn, job: Job, auto: Autoscale) -> Demand | None:
    """The demand with the engine's latest figure; None if there is no newer figure than at the look before."""
    if not turn.engine.capabilities.in_flight:
        return None
    found = turn.engine.endpoint(job.id, job.run)
    figure = None if found is None else found.in_flight
    known = turn.world.demands.get(job.id)
    if figure is None or (
        known is not None and known.run == job.run and known.samples[-1].number == figure.number
    ):
        return None
    sample = Sample(turn.now_ms, figure.milli, figure.span_ms, figure.number)
    seen = with_sample(auto, known, job.run, sample)
    turn.state.put_entry(turn.world.demands, job.id, seen)
    return seen


def _move(turn: Turn, job: Job, auto: Autoscale, move: Move) -> None:
    before = job.spec.wanted_replicas
    turn.apply(ev.JobResized(job.id, None, move.replicas))
    body: dict[str, Any] = {
        "before": before,
        "after": move.replicas,
        "in_flight": move.in_flight_milli / 1000,
        "over_seconds": move.over_ms / 1000,
        "target": auto.target_milli / 1000,
        "running": job.running_replicas,
        "min": auto.min_replicas,
        "max": auto.max_replicas,
    }
    turn.tell("job.autoscaled", body, job=job.id)
    turn.audit(SYSTEM, "job.autoscaled", f"job:{job.id}", body, job.spec.workspace)
