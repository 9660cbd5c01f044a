"""How are the units taken that a search asks for and finds: what it is asked, and who is evicted or turned idle, and why (P13)?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from quotatree.core import decisions as say
from quotatree.core.changes import effects
from quotatree.core.changes.evictions import Victim, evict_each
from quotatree.core.model.job import Job, JobId
from quotatree.core.model.quota import QuotaId
from quotatree.core.model.quota_arithmetic import idle_room
from quotatree.core.model.resources import GPU, ZERO
from quotatree.core.model.unit import Unit, UnitClass, UnitKind
from quotatree.core.planning.attempt_facts import victim_cost
from quotatree.core.planning.attempt_reasons import why_taken
from quotatree.core.planning.claimant import Claimant
from quotatree.core.planning.steps import lacking_inside, signature_of
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.eligible import Clause, Signature
from quotatree.core.search.trial import Left
from quotatree.core.search.victims import Found, Request
from quotatree.core.state import State


def search_request(
    claimant: Claimant,
    step: Step,
    clauses: tuple[Clause, ...],
    now_ms: int,
    *,
    loan_allowed: bool,
    nodes_fit: bool = False,
    spared: frozenset[QuotaId] = frozenset(),
) -> Request:
    """Return what a search for victims needs to know; `nodes_fit`: True if the replicas have their places already.

    `spared`: quotas whose own idle borrowers are not to be taken (I4).
    """
    state, job, quota = claimant.state, claimant.job, claimant.quota
    inside = ZERO if loan_allowed else lacking_inside(claimant, clauses)
    short_at, deficit, fits = claimant.lacking(loan_allowed or any(inside))
    nodes_fit = nodes_fit or fits
    room = -1
    if nodes_fit:
        room = idle_room(quota, claimant.root.min[GPU] or 0, GPU) - claimant.request.gpu_milli
    gives_way = None
    if clauses and quota.tree.idle_units:
        gives_way = signature_of(state, job, Step.IDLE, (), short_at)
    request = Request(
        state=state,
        quota=quota,
        signature=signature_of(state, job, step, clauses, short_at, spared),
        deficit=deficit,
        inside=inside,
        now_ms=now_ms,
        job=job,
        wanted=claimant.wanted,
        amount=claimant.request,
        avoid=claimant.avoid,
        nodes_fit=nodes_fit,
        demote_room=room,
        loan_allowed=loan_allowed,
        past_guard=claimant.past_guard,
        gives_way=gives_way,
        effort=claimant.effort,
    )
    return request if claimant.effort.thorough else replace(request, branches=Left(0), cells=Left(0))


class Taken(NamedTuple):
    """What became of the units that were found. `stopped` tells of those that were cores and left."""

    victims: list[say.VictimCost]
    decided: list[say.Decision]
    stopped: list[effects.Stopped]


def take(claimant: Claimant, signature: Signature, found: Found, now_ms: int) -> Taken:
    """Evict the units that were found, or turn them idle. Jobs that lose some of their replicas are not settled yet."""
    state, job = claimant.state, claimant.job
    taken = Taken([], [], [])
    leave, promoted = _exchanged(state, found, now_ms, job.id)
    for turned_idle, units in groupby(leave, found.demoted.__contains__):
        if turned_idle:
            taken.decided.extend(effects.demote(state, unit, now_ms, job.id) for unit in units)
            continue
        victims = _with_reasons(job, units, signature)
        taken.stopped.extend(effects.stopped(unit) for unit, _ in victims if unit.cls.kind is UnitKind.CORE)
        evicted = evict_each(state, victims, now_ms, job.id, counts=True)
        for (unit, _), (eviction, freed) in zip(victims, evicted, strict=True):
            taken.victims.append(victim_cost(unit, eviction, freed))
            taken.decided.append(eviction)
    taken.decided.extend(promoted)
    return taken


def _exchanged(
    state: State, found: Found, now_ms: int, preemptor: JobId
) -> tuple[list[Unit], list[say.Promote]]:
    """Let borrowers become regular in place of the units that stand in for them, which run idle until they leave (I3).

    Returns the units that leave, as they are now, and what becomes of the borrowers.
    """
    as_they_are: dict[Unit, Unit] = {}
    promoted: list[say.Promote] = []
    for as_idle, regular, borrower in found.exchanges:
        effects.demote(state, regular, now_ms, preemptor)
        assert regular.job.core is not None
        as_they_are[as_idle] = regular.job.core
        why = because(Code.StoodInFor, victim=regular.job.id, preemptor=preemptor)
        promoted.append(effects.promote(state, borrower.job, [], now_ms, why))
    return [as_they_are.get(unit, unit) for unit in found.units], promoted


def _with_reasons(job: Job, units: Iterable[Unit], signature: Signature) -> list[Victim]:
    """Return units with the reason why each is taken, which is the same for all of one class."""
    reasons: dict[UnitClass, Reason] = {}
    found: list[Victim] = []
    for unit in units:
        why = reasons.get(unit.cls)
        if why is None:
            why = reasons[unit.cls] = why_taken(job, signature, unit)
        found.append((unit, why))
    return found
