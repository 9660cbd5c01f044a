"""What can be asked of the live state (X1, X3, X4, Q7): functions for `Controller.ask`, which change nothing.

Rights are checked as for commands, and whatever names other teams' work is masked for the one who asks. A preview runs
the very command, with all its checks, then a plan, and takes everything back: never a second opinion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from quotatree import core
from quotatree.access.check import OnJob, OnQuota, check, visible_quotas
from quotatree.access.redaction import Reader
from quotatree.access.roles import Action
from quotatree.control.commands.dispatch import HANDLERS
from quotatree.control.commands.values import Command, SetCentre, SubmitJob, UpdateQuota
from quotatree.control.eyes import eyes, parents
from quotatree.control.overdue import meet_what_is_due
from quotatree.control.turn import Turn
from quotatree.control.world import World
from quotatree.core import (
    Code,
    Explanation,
    Exposure,
    Job,
    JobId,
    JobRecord,
    Phase,
    QuotaId,
    QuotaReport,
    Reason,
    Refused,
    because,
    foremost_reasons,
    job_record,
    plan_through,
    quota_report,
)
from quotatree.core.decisions import Decision, Wait
from quotatree.engines.base import Engine

T = TypeVar("T")
Query = Callable[[World, int], T]
MOST_AHEAD: Final = 50


class Exposed(NamedTuple):
    """A running job, and one way in which it could be preempted (P2)."""

    job: JobId
    exposure: Exposure


class Ahead(NamedTuple):
    """A job that is tried before another one; what the reader may not see has no name. `gpu_milli`: what it asks for."""

    job: JobId
    name: str | None
    priority: int
    gpu_milli: int


class Explained(NamedTuple):
    """An explanation, and the first of the jobs ahead, at most MOST_AHEAD; the position tells how many there are."""

    told: Explanation
    ahead: tuple[Ahead, ...]
    hindered: str = ""
    """Why its run has not begun although it was started, as the engine says; "" if it has, or the engine says nothing."""


class Queued(NamedTuple):
    """One place in the queue of a quota."""

    position: int
    job: JobId
    priority: int
    reason_code: str


@dataclass(frozen=True, slots=True)
class Preview:
    """What would happen (X3). `ids` name what the commands would make or change, `decisions` what would follow.

    Jobs that the actor may not see are masked, and their cost is shown. `hidden` is the number of Wait decisions about
    such jobs, which are left out. `exposed` are ways to preempt a running job that exist only after the commands. `names` are
    what their owners call the jobs in it that the actor may see, by id. `submitted`: the record of the job if a submission is
    all that is previewed, as it is before the plan.
    """

    ids: tuple[str, ...]
    decisions: tuple[Decision, ...]
    hidden: int
    exposed: tuple[Exposed, ...]
    names: dict[str, str]
    submitted: JobRecord | None = None


def explain(actor: str, job: str) -> Query[Explained]:
    def query(world: World, now_ms: int) -> Explained:
        found = _job(world, actor, Action.EXPLAIN_JOB, job)
        reads = eyes(world, actor)
        told = core.explain(world.state, found.id, now_ms)
        first = told.ahead[:MOST_AHEAD]
        ahead = tuple(_ahead(world, reads, world.state.jobs[one]) for one in first)
        run = world.runs.get(found.id)
        hindered = run.detail if run is not None and run.confirmed_ms is None and run.outcome is None else ""
        return Explained(reads.explanation(replace(told, ahead=first)), ahead, hindered)

    return query


def _ahead(world: World, reads: Reader, job: Job) -> Ahead:
    name = world.cards[job.id].name if reads.sees(job.id) else ""
    size = job.quota.queue.of_job[job.id].request.gpu_milli
    return Ahead(reads.job(job.id), name or None, job.priority, size)


def exposures(actor: str, jobs: Sequence[str]) -> Query[dict[JobId, tuple[Exposure, ...]]]:
    """The ways in which each of these jobs could be taken (X4).

    Those that do not run, and those that the actor may not see, are left out.
    """

    def query(world: World, now_ms: int) -> dict[JobId, tuple[Exposure, ...]]:
        reads = eyes(world, actor)
        known: core.Known = {}
        found = {}
        for name in jobs:
            job = world.state.jobs.get(JobId(name))
            if job is not None and job.core is not None and reads.sees(job.id):
                told = core.exposure(world.state, job.id, now_ms, known)
                found[job.id] = tuple(reads.exposure(one) for one in told)
        return found

    return query


def exposure(actor: str, job: str) -> Query[tuple[Exposure, ...]]:
    def query(world: World, now_ms: int) -> tuple[Exposure, ...]:
        found = _job(world, actor, Action.SEE_EXPOSURE, job)
        reads = eyes(world, actor)
        return tuple(reads.exposure(one) for one in core.exposure(world.state, found.id, now_ms))

    return query


def figures(actor: str, quota: str) -> Query[QuotaReport]:
    """The figures of one quota (Q7)."""

    def query(world: World, now_ms: int) -> QuotaReport:
        del now_ms
        check(world.directory, actor, Action.SEE_QUOTA, OnQuota(world.path(quota)))
        return _masked(eyes(world, actor), quota_report(world.state, quota))

    return query


def tree(actor: str) -> Query[tuple[QuotaReport, ...]]:
    """All quotas whose figures the actor may read, parents before children."""

    def query(world: World, now_ms: int) -> tuple[QuotaReport, ...]:
        del now_ms
        seen = visible_quotas(world.directory, actor, parents(world))
        reads = eyes(world, actor)
        return tuple(
            _masked(reads, quota_report(world.state, quota.id))
            for root in world.state.roots
            for quota in root.subtree()
            if quota.id in seen
        )

    return query


def queue(actor: str, quota: str, after: int = 0, most: int = 500) -> Query[tuple[Queued, ...]]:
    """Jobs that wait at a quota, first to last (S0): at most `most` of them, without the first `after`."""

    def query(world: World, now_ms: int) -> tuple[Queued, ...]:
        check(world.directory, actor, Action.SEE_QUOTA, OnQuota(world.path(quota)))
        found = world.quota(quota)
        reads = eyes(world, actor)
        aging_ms = world.state.settings.aging_interval_ms
        order = found.queue.jobs_in_order(now_ms, aging_ms, found.spec.strategy)
        jobs = [
            (position, world.state.jobs[job_id])
            for position, (_, job_id) in islice(enumerate(order, 1), after, after + most)
        ]
        why = foremost_reasons(world.state, [job for _, job in jobs], now_ms)
        return tuple(
            Queued(
                position,
                reads.job(job.id),
                job.priority,
                why[job.id].code.name if job.id in why else job.reason,
            )
            for position, job in jobs
        )

    return query


def reasons(jobs: Sequence[JobId]) -> Query[dict[JobId, Reason]]:
    """Why each of these jobs waits right now (X1), unmasked; jobs that do not wait, or not any more, are left out.

    One that has a hold waits for those who are leaving.
    """

    def query(world: World, now_ms: int) -> dict[JobId, Reason]:
        known = [world.state.jobs[job] for job in jobs if job in world.state.jobs]
        held = {
            job.id: because(Code.WaitsForLeaving, leaving=len(job.hold.waiting_on))
            for job in known
            if job.phase is Phase.HELD and job.hold is not None and job.hold.waiting_on
        }
        return {**foremost_reasons(world.state, known, now_ms), **held}

    return query


def preview(engine: Engine, *commands: Command) -> Query[Preview]:
    """What would happen if these commands of one actor were carried out in order, and a plan made then (X3)."""

    def query(world: World, now_ms: int) -> Preview:
        actor = commands[0].actor
        before = _exposed(world, commands, now_ms)
        reads = eyes(world, actor)
        state = world.state
        turn = Turn(world, engine, now_ms)
        state.begin(watch=True)
        try:
            ids = tuple(HANDLERS[type(one)](turn, replace(one, key=None)).id for one in commands)
            for one in commands:
                if isinstance(one, SetCentre):
                    meet_what_is_due(turn, one.centre.workspace, one.centre.quota)
            after = _exposed(world, commands, now_ms)
            alone = len(commands) == 1 and isinstance(commands[0], SubmitJob)
            submitted = job_record(state, state.jobs[JobId(ids[0])]) if alone else None
            decisions = (*turn.decisions, *plan_through(state, now_ms))
            reads = eyes(world, actor)
            concerned = tuple(
                reads.decision(d) for d in decisions if not isinstance(d, Wait) or reads.concerns(d)
            )
            exposed = tuple(
                Exposed(reads.job(job), reads.exposure(risk))
                for job, risk in sorted(after, key=str)
                if (job, risk) not in before
            )
            names = _names(world, reads, [*(d.job for d in concerned), *(one.job for one in exposed)])
            return Preview(ids, concerned, len(decisions) - len(concerned), exposed, names, submitted)
        except Refused as refused:
            raise reads.refusal(refused) from None
        finally:
            state.rollback()

    return query


def _names(world: World, reads: Reader, jobs: Iterable[JobId]) -> dict[str, str]:
    cards = ((job, world.cards.get(job)) for job in dict.fromkeys(jobs) if reads.sees(job))
    return {job: card.name for job, card in cards if card is not None and card.name}


def _job(world: World, actor: str, action: Action, job_id: str) -> Job:
    job, card = world.job(job_id)
    check(world.directory, actor, action, OnJob(job.id, job.spec.workspace, card.owner))
    return job


def _masked(reads: Reader, report: QuotaReport) -> QuotaReport:
    shown = tuple((QuotaId(reads.quota(who)), amount) for who, amount in report.stood_on_by)
    return replace(report, stood_on_by=shown)


def _exposed(world: World, commands: tuple[Command, ...], now_ms: int) -> set[Exposed]:
    """Every way to preempt a running job in the trees of the quotas that the commands update (P2).

    Other commands are not looked at: they change no policy, so they give no job a new right to preempt.
    """
    updated = [one.spec.id for one in commands if isinstance(one, UpdateQuota)]
    roots = {
        world.quota(quota).root.id: world.quota(quota).root
        for quota in updated
        if quota in world.state.quotas
    }
    running = [
        job
        for root in roots.values()
        for quota in root.subtree()
        for job in quota.jobs.values()
        if job.core is not None
    ]
    return {Exposed(job.id, risk) for job in running for risk in core.exposure(world.state, job.id, now_ms)}
