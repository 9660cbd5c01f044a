"""How does work leave for another job, or since its node goes: one unit, or thousands at once (P12, P14)?

Units are evicted in the order given. Cores that take nothing along leave together, as most victims of a gang do: then every
node, quota and queue is written once, not once for each of them. That is the same as one by one, only faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quotatree.core import decisions as say
from quotatree.core.changes.effects import release, stop_everything
from quotatree.core.changes.replicas import settle
from quotatree.core.model.job import Claim, Job, JobId, Phase
from quotatree.core.model.policy import Module
from quotatree.core.model.resources import Resources
from quotatree.core.model.unit import Unit, UnitKind, eviction_cost, eviction_frees, eviction_lost_work
from quotatree.core.reasons import Code, Reason
from quotatree.core.state import Ending, State

LOST_NODE = frozenset({Code.NodeDrained, Code.NodeLost, Code.DeviceIll, Code.RunLost})
"""Reasons of evictions that make no victim: the job is always queued again (R5)."""

Victim = tuple[Unit, Reason]
Evicted = tuple[say.Evict, Resources]
"""The eviction of a unit, and what that freed together with all it took along."""


def evict(
    state: State, unit: Unit, now_ms: int, reason: Reason, preemptor: JobId | None, counts: bool
) -> say.Evict:
    """Evict a unit with everything that goes along with it (P12, P14). Its devices stay busy until it has left.

    `preemptor`: None if no job takes its place. `counts`: whether this is a preemption of the job, if its core was regular.
    """
    ((eviction, _),) = evict_each(state, ((unit, reason),), now_ms, preemptor, counts)
    if unit.cls.kind is not UnitKind.HOLD:
        settle(state, unit.job, now_ms)
    return eviction


def evict_all(
    state: State, units: Sequence[Unit], now_ms: int, reason: Reason, preemptor: JobId | None, counts: bool
) -> tuple[say.Evict, ...]:
    """Evict several units, of which some may be of one job: what is left of that is settled afterwards."""
    found = evict_each(state, [(unit, reason) for unit in units], now_ms, preemptor, counts)
    settle_all(state, units, now_ms)
    return tuple([eviction for eviction, _ in found])


def settle_all(state: State, gone: Iterable[Unit], now_ms: int) -> None:
    """Settle the jobs that these units were of, once all of them have left."""
    for shrunk in dict.fromkeys([unit.job for unit in gone if unit.job.core is not None]):
        settle(state, shrunk, now_ms)


def evict_each(
    state: State, victims: Iterable[Victim], now_ms: int, preemptor: JobId | None, counts: bool
) -> list[Evicted]:
    """Evict units, each for its own reason. The caller settles what is left of their jobs."""
    found: list[Evicted] = []
    together: list[Victim] = []
    for victim in victims:
        if not _leaves_alone(state, victim[0]):
            together.append(victim)
            continue
        if together:
            found += _evict_cores(state, together, now_ms, preemptor, counts)
            together = []
        found.append(_evict_alone(state, *victim, now_ms=now_ms, preemptor=preemptor, counts=counts))
    if together:
        found += _evict_cores(state, together, now_ms, preemptor, counts)
    return found


def _leaves_alone(state: State, unit: Unit) -> bool:
    """Return whether a unit cannot leave together with others.

    Others than cores leave something behind, composite jobs lose several units, and a crowded node gives what becomes free
    to those who crowd it before anything else happens (R6).
    """
    if unit.cls.kind is not UnitKind.CORE or unit.job.extras or unit.job.hold is not None:
        return True
    for index in unit.nodes:  # noqa: SIM110  # asked of every victim: no generator
        if state.nodes[index].crowded:
            return True
    return False


def _evict_cores(
    state: State, victims: list[Victim], now_ms: int, preemptor: JobId | None, counts: bool
) -> list[Evicted]:
    """Evict cores that are all of their jobs."""
    found = [
        (_core_eviction(unit, now_ms, reason, preemptor, counts), unit.footprint) for unit, reason in victims
    ]
    units = [unit for unit, _ in victims]
    jobs = [unit.job for unit in units]
    for job in jobs:
        if job.id in job.quota.queue.of_job:
            state.dequeue(job)
        if job.id in job.quota.tree.elastic:
            state.drop_entry(job.quota.tree.elastic, job.id)
    state.vacate(units)
    _end_runs(state, jobs, [eviction for eviction, _ in found], now_ms)
    return found


def _evict_alone(
    state: State, unit: Unit, reason: Reason, *, now_ms: int, preemptor: JobId | None, counts: bool
) -> Evicted:
    """Evict one unit of whatever kind."""
    job, kind, freed = unit.job, unit.cls.kind, eviction_frees(unit)
    if kind is UnitKind.CORE:
        eviction = _core_eviction(unit, now_ms, reason, preemptor, counts)
        state.begin_leaving(job, stop_everything(state, job))
        _end_runs(state, [job], [eviction], now_ms)
        return eviction, freed
    replicas: tuple[int, ...] = ()
    cost = lost_work = grace_ms = 0
    if kind is UnitKind.HOLD:
        release(state, job, now_ms, reason, again=False)
    else:
        replicas = (unit.places[0].replica,)
        cost, lost_work = eviction_cost(unit, now_ms), eviction_lost_work(unit, now_ms)
        grace_ms = job.spec.grace_ms
        state.displace(unit)
        state.drop_entry(job.extras, replicas[0])
        state.begin_leaving(job, unit.places)
        state.set_reason(job, reason.code.name)
    eviction = say.Evict(
        job=job.id,
        run=job.run,
        kind=kind,
        replicas=replicas,
        preemptor=preemptor,
        cost=cost,
        lost_work=lost_work,
        grace_ms=grace_ms,
        requeued=job.phase is Phase.WAITING,
        counts=False,
        reason=reason,
    )
    return eviction, freed


def _core_eviction(
    unit: Unit, now_ms: int, reason: Reason, preemptor: JobId | None, counts: bool
) -> say.Evict:
    """Return what is said of the eviction of a job that runs; of a composite one all replicas go."""
    job, spec, cls = unit.job, unit.job.spec, unit.cls
    cost = eviction_cost(unit, now_ms)
    lost_work = cost // cls.weight
    replicas = [place.replica for place in unit.places]
    if job.extras or job.hold is not None:  # it is composite
        replicas += job.extras
        lost_work = eviction_lost_work(unit, now_ms)
    replicas.sort()
    return say.Evict(
        job=job.id,
        run=job.run,
        kind=cls.kind,
        replicas=tuple(replicas),
        preemptor=preemptor,
        cost=cost,
        lost_work=lost_work,
        grace_ms=spec.grace_ms,
        requeued=spec.module is not Module.DSW or spec.requeue or reason.code in LOST_NODE,
        counts=counts and cls.claim is Claim.REGULAR,
        reason=reason,
    )


def _end_runs(state: State, jobs: list[Job], evictions: list[say.Evict], now_ms: int) -> None:
    """Let jobs that have left their devices wait again, or stop them where their owners want that."""
    endings: dict[tuple[Code, bool], Ending] = {}
    wait_again: list[Job] = []
    for job, eviction in zip(jobs, evictions, strict=True):
        requeued, preemptor = eviction.requeued, eviction.preemptor
        ending = endings.get((eviction.reason.code, requeued))
        if ending is None:
            why = eviction.reason.code.name if requeued or preemptor is None else "Preempted"
            ending = Ending(Phase.WAITING if requeued else Phase.STOPPED, now_ms, why)
            endings[eviction.reason.code, requeued] = ending
        state.end_run(job, ending, preemptor, eviction.lost_work)
        if requeued:
            wait_again.append(job)
    state.enqueue_all(wait_again)
