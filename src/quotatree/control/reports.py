"""What an engine's report means for the core. A report may come late, twice, or about a run that is over: then nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from quotatree.control.commands.jobs import put_aside
from quotatree.control.decision_effects import say_confirmed, say_hindered, say_outcome
from quotatree.control.inventory import see_node
from quotatree.control.turn import Turn
from quotatree.control.world import SYSTEM
from quotatree.core import FINAL_PHASES, Code, Job, Module, NodeState, Phase, because
from quotatree.core import events as ev
from quotatree.engines.base import (
    Checkpointed,
    Confirmed,
    DeviceReport,
    Exited,
    Hindered,
    Idled,
    Left,
    Lost,
    NodeReport,
    NodeSeen,
    Outcome,
    Report,
    Unfit,
    Unplanned,
)


def lasting(reports: Iterable[Report]) -> list[Report]:
    """The last report on each node and each GPU, of those that came while this server did not lead.

    Reports on runs are dropped: the engine is asked what runs when a server begins to lead, but not how nodes are.
    """
    found: dict[object, Report] = {}
    for report in reports:
        if isinstance(report, NodeReport):
            found[report.node] = report
        elif isinstance(report, NodeSeen):
            found[report.spec.name, "seen"] = report
        elif isinstance(report, DeviceReport):
            found[report.node, report.device] = report
    return list(found.values())


def hear(turn: Turn, report: Report) -> None:
    _HEARERS[type(report)](turn, report)


def _confirmed(turn: Turn, report: Confirmed) -> None:
    job = _of_run(turn, report)
    if job is None or job.phase is not Phase.RUNNING:
        return
    known = turn.world.cards[job.id].confirmed
    stands = {*job.core_indexes, *job.extras}
    new = tuple(r for r in report.replicas if r in stands and r not in known)  # a replica may have left since
    if not new:
        return
    whole_before = set(job.core_indexes) <= set(known)
    turn.change_card(job.id, confirmed=(*known, *new))
    if not whole_before and set(job.core_indexes) <= {*known, *new}:
        turn.apply(ev.JobStarted(job.id, report.run))
        say_confirmed(turn, job.id)


def _left(turn: Turn, report: Left) -> None:
    job = _of_run(turn, report)
    if job is None:
        return
    gone = tuple(r for r in report.replicas if r in job.leaving)
    if gone:
        turn.apply(ev.JobLeft(job.id, gone))
        known = turn.world.cards[job.id].confirmed
        turn.change_card(job.id, confirmed=tuple(r for r in known if r not in gone))


def _exited(turn: Turn, report: Exited) -> None:
    """End the run, of which nothing is left. A notebook that ends by itself can be started again (P14).

    If the run had been told to stop, only a training job can have come to its own end meanwhile: a notebook or a
    service that exits in its grace has done as it was told.
    """
    job = _of_run(turn, report)
    if job is None or (job.core is None and not job.leaving):
        turn.forget_run(report.job, report.run)
        return
    phase = Phase.SUCCEEDED if report.outcome is Outcome.SUCCEEDED else Phase.FAILED
    say_outcome(turn, job.id, report.outcome.value, report.detail)
    notebook = job.spec.module is Module.DSW
    if job.phase is Phase.RUNNING:
        phase = Phase.STOPPED if notebook else phase
        turn.apply(ev.JobEnded(job.id, phase))
        turn.tell("job.ended", _end(report, phase), job=job.id)
    elif job.phase not in FINAL_PHASES and job.spec.module is Module.DLC:
        turn.apply(ev.JobEnded(job.id, phase))
        turn.tell("job.ended", _end(report, phase), job=job.id)
    if job.leaving:
        turn.apply(ev.JobLeft(job.id))


def _lost(turn: Turn, report: Lost) -> None:
    """Replicas that were told to stop have left; the others are lost, and the job is treated as after a lost node (R5)."""
    job = _of_run(turn, report)
    if job is None:
        return
    standing = {*job.core_indexes, *job.extras} if job.phase is Phase.RUNNING else set()
    gone = tuple(r for r in report.replicas if r in standing or r in job.leaving)
    if gone:
        run = turn.world.runs.get(job.id)
        at_start = run is not None and run.confirmed_ms is None
        turn.apply(ev.JobLost(job.id, gone, report.detail, at_start))
        turn.tell(
            "job.lost", {"run": report.run, "replicas": list(gone), "detail": report.detail}, job=job.id
        )
        known = turn.world.cards[job.id].confirmed
        turn.change_card(job.id, confirmed=tuple(r for r in known if r not in gone))


def _hindered(turn: Turn, report: Hindered) -> None:
    job = _of_run(turn, report)
    if job is not None and job.phase is Phase.RUNNING and say_hindered(turn, job.id, report.detail):
        turn.tell("job.hindered", {"run": report.run, "detail": report.detail}, job=job.id)


def _unfit(turn: Turn, report: Unfit) -> None:
    """Free the devices of a run that did not begin, and put its job on hold: a new start would fail in the same way (P7)."""
    job = _of_run(turn, report)
    if job is None:
        return
    if job.phase is Phase.RUNNING:
        put_aside(turn, job.id, report.detail, edited=report.edited)
    turn.apply(ev.JobLeft(job.id))
    turn.change_card(job.id, confirmed=())


def _unplanned(turn: Turn, report: Unplanned) -> None:
    if _of_run(turn, report) is not None:
        turn.tell("job.unplanned", {"run": report.run, "detail": report.detail}, job=report.job)


def _end(report: Exited, phase: Phase) -> dict[str, Any]:
    return {"run": report.run, "phase": phase.value, "detail": report.detail}


def _checkpointed(turn: Turn, report: Checkpointed) -> None:
    job = _of_run(turn, report)
    if job is not None and job.phase is Phase.RUNNING:
        turn.apply(ev.JobCheckpointed(job.id, report.at_ms))
        turn.tell("job.checkpointed", {"run": job.run}, job=job.id)


def _idled(turn: Turn, report: Idled) -> None:
    """Stop a notebook that is not used, to make room; its owner can start it again (P14)."""
    job = _of_run(turn, report)
    if job is None or job.phase is not Phase.RUNNING or job.spec.module is not Module.DSW:
        return
    detail = report.detail or "neither CPU nor GPU was used"
    turn.apply(ev.JobStopped(job.id, because(Code.IdleNotebook, detail=detail)))
    body = {"run": report.run, "detail": detail}
    turn.tell("job.idle", body, job=job.id)
    turn.audit(SYSTEM, "job.idle", f"job:{job.id}", body, job.spec.workspace)


def _node(turn: Turn, report: NodeReport) -> None:
    """Mark a node Lost, or a lost node Ready again (R5). One that is or was cordoned or draining is not Ready: it stays
    closed until somebody opens it.
    """
    node = turn.state.node_by_name.get(report.node)
    if node is None:
        return
    if report.ready and node.state is NodeState.LOST:
        back = NodeState.CORDONED if node.cordoned else NodeState.READY
        turn.apply(ev.NodeChanged(report.node, back))
    elif not report.ready and node.state is not NodeState.LOST:
        turn.apply(ev.NodeChanged(report.node, NodeState.LOST))
    else:
        return
    turn.world.bump("node", report.node)
    turn.tell("node.changed", {"node": report.node, "state": node.state.value})


def _device(turn: Turn, report: DeviceReport) -> None:
    """Mark a GPU ill or well. Jobs move away from an ill GPU; the rest of its node stays in use (R5)."""
    node = turn.state.node_by_name.get(report.node)
    if node is None or not 0 <= report.device < node.spec.gpus:
        return
    if report.healthy is (report.device not in node.ill):
        return
    turn.apply(ev.DeviceChanged(report.node, report.device, report.healthy))
    turn.world.bump("node", report.node)
    body = {"device": report.device, "healthy": report.healthy, "detail": report.detail}
    turn.tell("node.device", {"node": report.node, **body})
    turn.audit(SYSTEM, "node.device", f"node:{report.node}", body)


def _of_run(
    turn: Turn, report: Confirmed | Left | Exited | Lost | Hindered | Unfit | Unplanned | Checkpointed | Idled
) -> Job | None:
    job = turn.state.jobs.get(report.job)
    return job if job is not None and job.run == report.run else None


_HEARERS: dict[type[Any], Callable[[Turn, Any], None]] = {
    Confirmed: _confirmed,
    Left: _left,
    Exited: _exited,
    Lost: _lost,
    Hindered: _hindered,
    Unfit: _unfit,
    Unplanned: _unplanned,
    Checkpointed: _checkpointed,
    Idled: _idled,
    NodeReport: _node,
    DeviceReport: _device,
    NodeSeen: see_node,
}
