"""Commands about jobs: submit, cancel, stop, priority, hold and release, checkpoint, resubmit, restart (W1-W5, P14). `sizes` has those
about replicas."""

from __future__ import annotations

import re
import secrets
from dataclasses import replace
from typing import Any, Final

from quotatree.access.check import OnJob
from quotatree.access.roles import Action
from quotatree.access.submitting import check_priority, check_submit, subjects_of
from quotatree.control.commands import values as do
from quotatree.control.commands.values import Answer, Item
from quotatree.control.errors import problem_of
from quotatree.control.eyes import eyes
from quotatree.control.turn import Turn
from quotatree.control.world import RESOURCES
from quotatree.core import (
    Autoscale,
    Code,
    Job,
    JobId,
    JobSpec,
    Module,
    Phase,
    QuotaTreeError,
    Refused,
    because,
    check_autoscale,
)
from quotatree.core import events as ev
from quotatree.engines.base import Program, RestartOrder
from quotatree.store.rows import Card

MOST_AT_ONCE: Final = 1_000
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?")
_DIGITS: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32


def new_id(module: Module) -> JobId:
    """A random id: one with a running number would tell about other users' jobs."""
    number = secrets.randbits(50)
    return JobId(f"{module.value.lower()}-" + "".join(_DIGITS[number >> 5 * i & 31] for i in range(10)))


def submit(turn: Turn, command: do.SubmitJob) -> Answer:
    spec = _checked_spec(turn, command)
    turn.apply(ev.JobSubmitted(spec))
    turn.put_card(spec.id, Card(command.name, command.actor, command.program, autoscale=command.autoscale))
    if command.on_hold:
        _put_on_hold(turn, spec.id)
    body = {"name": command.name, "priority": spec.priority, "module": spec.module.value}
    turn.tell("job.submitted", body, job=spec.id)
    return done(turn, command, "job.submit", turn.state.jobs[spec.id], **body)


def submit_many(turn: Turn, command: do.SubmitJobs) -> Answer:
    """Submit each job by itself: one that is refused leaves no trace, and the others are submitted nevertheless."""
    if not 1 <= len(command.jobs) <= MOST_AT_ONCE:
        raise Refused("jobs", len(command.jobs), "J4", f"must be 1..{MOST_AT_ONCE} jobs")
    items = []
    for job in command.jobs:
        mark = turn.state.mark()
        try:
            items.append(Item(submit(turn, job).id))
        except QuotaTreeError as error:
            turn.state.rollback_to(mark)
            shown = eyes(turn.world, command.actor).refusal(error) if isinstance(error, Refused) else error
            items.append(Item(None, problem_of(shown)))
    return Answer(items=tuple(items))


def _checked_spec(turn: Turn, command: do.SubmitJob) -> JobSpec:
    """The job as the core sees it, with a new id; raises unless rights, rules (W1-W4) and the engine let it in."""
    directory, actor, asked = turn.directory, command.actor, command.asked
    check_submit(directory, actor, asked)
    if command.name and not _NAME.fullmatch(command.name):
        raise Refused("name", command.name, "E1", "must be lower-case letters, digits, - and . (63 at most)")
    subjects = subjects_of(directory, actor, asked.workspace)
    spec = JobSpec.of(asked, id=new_id(asked.module), submitted_ms=turn.now_ms, subjects=subjects)
    check_engine(turn, spec, command.program)
    if command.autoscale is not None:
        check_demand(turn, command.autoscale, spec, command.program)
    return spec


def check_engine(turn: Turn, spec: JobSpec, program: Program) -> None:
    refused = turn.engine.refuses(spec, program)
    if refused is not None:
        raise Refused("program", sorted(program), "E2", refused)  # names only: the values may be secrets


def check_demand(turn: Turn, auto: Autoscale, spec: JobSpec, program: Program) -> None:
    """Raise Refused unless the job can follow its demand in these bounds, and this engine sees the demand."""
    check_autoscale(auto, spec)
    can = turn.engine.capabilities
    if not can.in_flight:
        raise Refused(
            "autoscale", can.name, "E2",
            f"the {can.name} engine does not see how many requests a service has in flight: say replicas and max_replicas instead",
        )  # fmt: skip
    largest = spec.groups[0]._replace(replicas=auto.max_replicas)
    check_engine(turn, replace(spec, groups=(largest,)), program)


def cancel(turn: Turn, command: do.CancelJob) -> Answer:
    job = allowed(turn, command, Action.CANCEL_JOB)
    turn.apply(ev.JobCancelled(job.id))
    turn.tell("job.cancelled", {}, job=job.id)
    return done(turn, command, "job.cancel", job)


def stop(turn: Turn, command: do.StopJob) -> Answer:
    job = allowed(turn, command, Action.STOP_JOB)
    if turn.world.cards[job.id].on_hold:
        raise Refused("job", job.id, "P14", "is on hold: there is nothing to stop")
    turn.apply(ev.JobStopped(job.id, because(Code.StoppedByOwner)))
    turn.tell("job.stopped", {"reason": Code.StoppedByOwner.name}, job=job.id)
    return done(turn, command, "job.stop", job)


def set_priority(turn: Turn, command: do.SetPriority) -> Answer:
    job, card = turn.world.job(command.job)
    target = OnJob(job.id, job.spec.workspace, card.owner)
    check_priority(turn.directory, command.actor, target, job.spec.quota, command.priority)
    before = job.priority
    turn.apply(ev.JobPriorityChanged(job.id, command.priority))
    turn.tell("job.priority", {"before": before, "after": command.priority}, job=job.id)
    return done(turn, command, "job.priority", job, before=before, after=command.priority)


def hold(turn: Turn, command: do.HoldJob) -> Answer:
    job = allowed(turn, command, Action.HOLD_JOB)
    if job.phase not in (Phase.WAITING, Phase.HELD):
        raise Refused("job", job.id, "J5", f"is {job.phase.value}; only a waiting job can be put on hold")
    if command.wrong:
        put_aside(turn, job.id, command.wrong)
    else:
        _put_on_hold(turn, job.id)
        turn.tell("job.on_hold", {}, job=job.id)
    return done(turn, command, "job.hold", job)


def _put_on_hold(turn: Turn, job: JobId) -> None:
    turn.apply(ev.JobStopped(job, because(Code.HeldByOwner)))
    turn.change_card(job, on_hold=True)


def put_aside(turn: Turn, job: JobId, why: str, *, edited: bool = True) -> None:
    """Take a job out of the queue, or off the devices it was given: what it asks for is not what was planned (`edited`), or
    was planned and could not begin.
    """
    code, kind = (
        (Code.NotAsPlanned, "job.not_as_planned") if edited else (Code.DidNotBegin, "job.did_not_begin")
    )
    turn.apply(ev.JobStopped(job, because(code, detail=why)))
    turn.change_card(job, on_hold=True)
    turn.tell(kind, {"detail": why}, job=job)


def release(turn: Turn, command: do.ReleaseJob) -> Answer:
    job = allowed(turn, command, Action.HOLD_JOB)
    if not turn.world.cards[job.id].on_hold:
        raise Refused("job", job.id, "J5", f"is {job.phase.value}, not on hold")
    if job.reason == Code.NotAsPlanned.name and command.actor != RESOURCES:
        raise Refused("job", job.id, "J5", "its object asks for what was not planned: edit the object")
    turn.apply(ev.JobResubmitted(job.id))
    turn.change_card(job.id, on_hold=False)
    turn.tell("job.released", {}, job=job.id)
    return done(turn, command, "job.release", job)


def checkpoint(turn: Turn, command: do.CheckpointJob) -> Answer:
    job = allowed(turn, command, Action.CHECKPOINT_JOB)
    if job.phase is not Phase.RUNNING:
        raise Refused("job", job.id, "P6", f"is {job.phase.value}, not Running")
    turn.apply(ev.JobCheckpointed(job.id))
    turn.tell("job.checkpointed", {"run": job.run}, job=job.id)
    return done(turn, command, "job.checkpoint", job)


def resubmit(turn: Turn, command: do.ResubmitJob) -> Answer:
    job = allowed(turn, command, Action.RESTART_JOB)
    if turn.world.cards[job.id].on_hold:
        raise Refused("job", job.id, "P14", "is on hold: release it")
    turn.apply(ev.JobResubmitted(job.id))
    turn.tell("job.resubmitted", {}, job=job.id)
    return done(turn, command, "job.resubmit", job)


def restart_service(turn: Turn, command: do.RestartService) -> Answer:
    """Order a rolling restart. Two commands in one millisecond have the same key, and an engine restarts once for a key."""
    job = allowed(turn, command, Action.RESTART_JOB)
    if job.spec.module is not Module.EAS:
        raise Refused("job", job.id, "J1", f"is a {job.spec.module.value} job; only a service restarts")
    if job.phase is not Phase.RUNNING:
        raise Refused("job", job.id, "J1", f"is {job.phase.value}; only a running service restarts")
    can = turn.engine.capabilities
    if not can.endpoints:
        raise Refused("job", job.id, "E2", f"the {can.name} engine has no way to restart a service")
    key = f"{turn.now_ms:x}"
    turn.change_card(job.id, restart_key=key)
    turn.order(RestartOrder(job.id, job.run, key))
    turn.tell("job.restarting", {"run": job.run}, job=job.id)
    return done(turn, command, "job.restart", job, run=job.run)


def allowed(turn: Turn, command: do.JobCommand, action: Action) -> Job:
    job, card = turn.world.job(command.job)
    turn.allow(command.actor, action, OnJob(job.id, job.spec.workspace, card.owner))
    return job


def done(turn: Turn, command: do.Command, action: str, job: Job, **body: Any) -> Answer:
    turn.audit(command.actor, action, f"job:{job.id}", body, job.spec.workspace)
    return Answer(job.id)
