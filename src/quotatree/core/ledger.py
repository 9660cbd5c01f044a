"""Which work was ended by these decisions, for whom or by whose wish, and at which cost (P13)?

A start or a promise carries the record of what was taken for it. Everything else that ends work has an entry here, too: what a
borrower takes for its share, a quota that is scaled, a loan that is returned by hand, a node that goes, a limit, an owner.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from quotatree.core import decisions as say
from quotatree.core.model.job import Job, JobId
from quotatree.core.model.resources import ZERO
from quotatree.core.model.unit import UnitKind
from quotatree.core.reasons import Reason, Step
from quotatree.core.state import State

Key = tuple[JobId, UnitKind, tuple[int, ...]]


def ledger_entries(state: State, decisions: Iterable[say.Decision]) -> list[say.Preemption]:
    """Return the entries of the ledger for decisions that follow each other; they name only work that really left.

    The state is the one in which the last of them was taken.
    """
    decisions = list(decisions)
    evicted: dict[Key, list[say.Evict]] = {}
    for one in decisions:
        if isinstance(one, say.Evict):
            evicted.setdefault((one.job, one.kind, one.replicas), []).append(one)
    found: list[say.Preemption] = []
    for one in decisions:
        entry = one.preemption if isinstance(one, say.Start | say.Hold | say.Promote) else None
        if entry is not None:
            went = [(v, evicted.get((v.job, v.kind, v.replicas))) for v in entry.victims]
            victims = tuple(v._replace(rule=its.pop(0).reason.code) for v, its in went if its)
            found.append(replace(entry, victims=victims))
    others: dict[tuple[JobId | None, Reason], list[say.VictimCost]] = {}
    for left in evicted.values():
        for one in left:
            others.setdefault((one.preemptor, one.reason), []).append(_line(state.jobs[one.job], one))
    for one in decisions:
        if isinstance(one, say.Stop):
            others.setdefault((None, one.reason), []).append(_line(state.jobs[one.job], one))
    return found + [_entry(preemptor, reason, victims) for (preemptor, reason), victims in others.items()]


def _line(job: Job, ended: say.Evict | say.Stop) -> say.VictimCost:
    freed = ZERO
    for replica in ended.replicas:
        freed = freed.plus(job.shape_of(replica).resources)
    kind = ended.kind if isinstance(ended, say.Evict) else UnitKind.CORE
    return say.VictimCost(
        job=ended.job,
        kind=kind,
        replicas=ended.replicas,
        quota=job.quota.id,
        priority=job.priority,
        lost_work=ended.lost_work,
        cost=ended.cost,
        freed=freed,
        rule=ended.reason.code,
    )


def _entry(preemptor: JobId | None, reason: Reason, victims: list[say.VictimCost]) -> say.Preemption:
    """Return the entry of work that no start or promise accounts for; a borrower that takes its share has one, too (I4)."""
    cost = sum(victim.cost for victim in victims)
    return say.Preemption(
        preemptor=preemptor,
        step=None if preemptor is None else Step.IDLE,
        victims=tuple(victims),
        demoted=(),
        cost=cost,
        cost_without_ladder=cost,
        highest_priority=0 if preemptor is not None else max(victim.priority for victim in victims),
        tried=(),
        reason=reason,
    )
