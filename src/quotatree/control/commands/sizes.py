"""Commands about what a job asks for: resize (P12), autoscale (P16), and another request while it waits (J5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from quotatree.access.roles import Action
from quotatree.control.commands import values as do
from quotatree.control.commands.jobs import allowed, check_demand, check_engine, done
from quotatree.control.commands.values import Answer
from quotatree.control.decision_effects import watch_run
from quotatree.control.turn import Turn
from quotatree.core import Autoscale, Job, JobRequest, JobSpec, Phase, check_autoscale, resized_spec
from quotatree.core import events as ev
from quotatree.core.sentences import Sentence, a_job


def resize(turn: Turn, command: do.ResizeJob) -> Answer:
    job = allowed(turn, command, Action.RESIZE_JOB)
    spec = resized_spec(job, command.replicas, command.min_replicas, command.max_replicas)
    card = turn.world.cards[job.id]
    if card.autoscale is not None:
        check_autoscale(card.autoscale, spec)
    check_engine(turn, spec, card.program)
    before = _size(job)
    turn.apply(ev.JobResized(job.id, command.min_replicas, command.replicas, command.max_replicas))
    turn.tell("job.resized", {"before": before, "after": _size(job)}, job=job.id)
    return replace(
        done(turn, command, "job.resize", job, before=before, after=_size(job)),
        notice=_goes_on(job, card.autoscale),
    )


def alter(turn: Turn, command: do.AlterJob) -> Answer:
    job = allowed(turn, command, Action.RESIZE_JOB)
    spec = altered_spec(job.spec, command.asked)
    check_engine(turn, spec, command.program)
    before = _size(job)
    turn.apply(ev.JobAltered(spec))
    turn.change_card(job.id, program=command.program)
    turn.tell("job.altered", {"before": before, "after": _size(job)}, job=job.id)
    return done(turn, command, "job.alter", job, before=before, after=_size(job))


def altered_spec(spec: JobSpec, asked: JobRequest) -> JobSpec:
    """What a job asks for if it asks for this; its quota, priority, owner and submit time stay."""
    return replace(
        spec,
        groups=asked.groups,
        min_replicas=asked.min_replicas,
        max_replicas=asked.max_replicas,
        grace_ms=asked.grace_ms,
        checkpoint_interval_ms=asked.checkpoint_interval_ms,
        max_preemptions=asked.max_preemptions,
    )


def autoscale(turn: Turn, command: do.AutoscaleJob) -> Answer:
    """Let a service follow its demand from now on, in these bounds; what it wants outside of them is moved into them."""
    job = allowed(turn, command, Action.RESIZE_JOB)
    before, auto = turn.world.cards[job.id].autoscale, command.autoscale
    size = job.spec.wanted_replicas
    if auto is not None:
        wanted = max(auto.min_replicas, min(auto.max_replicas, size))
        spec = job.spec if wanted == size else resized_spec(job, wanted, None)
        check_demand(turn, auto, spec, turn.world.cards[job.id].program)
        if wanted != size:
            turn.apply(ev.JobResized(job.id, None, wanted))
    turn.change_card(job.id, autoscale=auto)
    if auto is not None and job.phase is Phase.RUNNING:
        watch_run(turn.world, job)
    body = {"before": _bounds(before), "after": _bounds(auto), "replicas": job.spec.wanted_replicas}
    turn.tell("job.autoscale_set", body, job=job.id)
    return done(turn, command, "job.autoscale_set", job, **body)


def _goes_on(job: Job, auto: Autoscale | None) -> str:
    if auto is None:
        return ""
    low, high = auto.min_replicas, auto.max_replicas
    return Sentence(
        a_job(job.id), f" follows its demand: from here autoscale moves replicas on, between {low} and {high}"
    )


def _size(job: Job) -> dict[str, int]:
    spec = job.spec
    return {
        "replicas": spec.wanted_replicas,
        "min_replicas": job.core_replicas,
        "max_replicas": spec.most_replicas,
    }


def _bounds(auto: Autoscale | None) -> dict[str, Any] | None:
    if auto is None:
        return None
    return {
        "min": auto.min_replicas,
        "max": auto.max_replicas,
        "target": auto.target_milli / 1000,
        "down_after_seconds": auto.down_after_ms / 1000,
    }
