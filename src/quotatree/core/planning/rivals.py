"""Which jobs come before one that could start: those that could evict it (S8), and before a loan the siblings' jobs that need none (P3)?

Asked twice: before it starts, of those who wait; and once its start or hold was applied, of its victims and of others that have a right
against it only now: would one of them start by taking it back?
"""

from __future__ import annotations

from collections.abc import Collection, Container

from quotatree.core.model.job import Claim, Idle, Job, JobId
from quotatree.core.model.policy import Module, Strategy
from quotatree.core.model.quota import Quota
from quotatree.core.model.quota_arithmetic import fits_own_min, most_room, shortage
from quotatree.core.model.resources import ZERO, Resources
from quotatree.core.model.rights import Against, Work, could_claim, could_evict, policies_against, work_of
from quotatree.core.model.unit import Unit, UnitKind
from quotatree.core.planning.asking import attempt
from quotatree.core.planning.contest import Candidate
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.outcome import Around, Proposal, alone
from quotatree.core.state import State


class Claims:
    """Who could claim part of what a quota has borrowed, or would have with `request` more for this work (P15)?

    Asked of jobs beside that quota, who can or cannot alike if they have one parent, priority and module. The quotas must not
    change meanwhile.
    """

    __slots__ = ("_known", "_request", "_victim")

    def __init__(self, victim: Work, request: Resources) -> None:
        self._victim, self._request = victim, request
        self._known: dict[tuple[Quota | None, int, Module], bool] = {}

    def by(self, claimant: Job) -> bool:
        if claimant.priority < self._victim.priority:
            return False
        alike = (claimant.quota.parent, claimant.priority, claimant.spec.module)
        known = self._known.get(alike)
        if known is None:
            known = could_claim(work_of(claimant), self._victim, self._request)
            self._known[alike] = known
        return known


def rival_of(
    ordering: Ordering, job: Job, request: Resources, without: Collection[JobId] = ()
) -> Candidate | None:
    """Return a waiting job that could evict this one and may be tried now, or None; topmost quotas first (S8).

    `without`: jobs that are left out.
    """
    victim = work_of(job)
    against = policies_against(victim)
    left_out = {*without, job.id}
    for above in reversed(victim.quota.path):
        takers: dict[Quota, Resources | None] = {}
        if above.parent is not None and (against.beside or would_borrow(above, request)):
            takers = _takers_beside(ordering, above, victim, against, request)
        if above in (against.own if above is victim.quota else against.below):
            takers[above] = None
        if not takers:
            continue
        ordering.count(len(takers) // 2)
        claims = Claims(victim, request)
        found: list[Candidate] = []
        for quota, surplus in takers.items():
            able = _able(ordering, quota, victim, against)
            first = _first_taker(ordering, quota, able, surplus, claims, left_out)
            if first is not None:
                found.append(first)
        if found:
            return ordering.first_of(found)
    return None


def _takers_beside(
    ordering: Ordering, above: Quota, victim: Work, against: Against, request: Resources
) -> dict[Quota, Resources | None]:
    """Return the siblings of a quota on the victim's path where a job may be tried that may have a right against it.

    With each: the surplus that leaves for claims of its jobs; None: they have no claims.
    """
    parent, takers = above.parent, dict[Quota, Resources | None]()
    if parent is not None and against.beside:
        for quota in ordering.ready_above(parent, victim.priority):
            if quota in against.beside and quota is not above:
                takers[quota] = None
    if would_borrow(above, request):
        for quota, surplus in ordering.ready_within_min().items():
            if quota.parent is parent and quota is not above:
                takers[quota] = surplus
    return takers


def _able(ordering: Ordering, quota: Quota, victim: Work, against: Against) -> list[int]:
    """Return the priorities of the jobs that may be tried at a quota and whose policies let them take this work (P1, P2)."""
    if quota.contains(victim.quota):
        return [p for p in ordering.ready_priorities(quota) if could_evict(quota, p, victim)]
    if quota not in against.beside:
        return []
    higher = [p for p in ordering.ready_priorities(quota) if p > victim.priority]
    return [p for p in higher if could_evict(quota, p, victim)]


def _first_taker(
    ordering: Ordering,
    quota: Quota,
    able: list[int],
    surplus: Resources | None,
    claims: Claims,
    left_out: Collection[JobId],
) -> Candidate | None:
    """Return the first job that may be tried at a quota and is able to evict, by its priority or by a claim; None if there is none.

    `surplus`: what leaves for a claim of theirs; None: they have no claims.
    """
    if not able and surplus is None:
        return None
    for cls, other in ordering.ready(quota):
        if other.id in left_out:
            continue
        if cls.priority in able or (
            surplus is not None and claims.by(other) and fits_own_min(quota, cls.request, surplus)
        ):
            return Candidate(quota, cls, other)
    return None


def takers_waiting(victim: Work, request: Resources) -> list[tuple[Quota, bool]]:
    """Return, in tree order, the quotas whose waiting jobs may have a right against this work (P1, P2, P15), tried or not.

    They are on its path or beside it. With each: whether the quota next to it would be above its min with `request` more, so that
    its jobs may have claims.
    """
    waiting, against = victim.quota.tree.waiting, policies_against(victim)
    found: list[tuple[Quota, bool]] = []
    for above in victim.quota.path:
        if above.id in waiting and above in (against.own if above is victim.quota else against.below):
            found.append((above, False))
        parent = above.parent
        if parent is None:
            continue
        lent = would_borrow(above, request)
        if lent or against.beside:
            found += [
                (quota, lent)
                for quota in waiting.values()
                if quota.parent is parent and quota is not above and (lent or quota in against.beside)
            ]
    return sorted(found, key=lambda entry: entry[0].tin) if len(found) > 1 else found


def before_loan(ordering: Ordering, borrower: Job, without: Container[JobId] = ()) -> Candidate | None:
    """Return a waiting job of a sibling that fits every min on its path and that the borrower could not evict, or None (P3).

    `without`: jobs that are left out.
    """
    parent = borrower.quota.parent
    if parent is None:
        return None
    found: list[Candidate] = []
    for quota in ordering.ready_within_min():
        if quota is parent or not parent.contains(quota) or borrower.quota.contains(quota):
            continue
        most = most_room(quota)  # mostly a quota above has none, however many classes wait
        for cls, other in ordering.ready(quota):
            if any(
                room is not None and asked > max(0, room)
                for asked, room in zip(cls.request, most, strict=True)
            ):
                continue
            if other.id in without or could_evict(borrower.quota, borrower.priority, work_of(other)):
                continue
            if shortage(quota, cls.request) is None:
                found.append(Candidate(quota, cls, other))
                break
    return ordering.first_of(found)


def would_borrow(quota: Quota, request: Resources) -> bool:
    """Return whether the quota would be above its min with this much more."""
    used = quota.used
    for i, bound in quota.named:  # noqa: SIM110  # asked of every quota on the path of every job that starts: no generator
        if used[i] + request[i] > bound:
            return True
    return False


def who_would_take_it_back(
    state: State, job: Job, taken: tuple[Unit, ...], now_ms: int, around: Around | None = None
) -> JobId | None:
    """Return a waiting job that could now start by evicting this one, which has just taken these units; or None.

    Only where it took regular work, or an idle job that could be regular. `around`: what each of them may spend; None: as much as it
    takes.
    """
    if not taken or not any(_matters(unit) for unit in taken):
        return None
    victims = {unit.job.id for unit in taken}
    ordering = Ordering(state, now_ms, job.quota.tree.together)
    work = work_of(job)
    for quota, on_loan in takers_waiting(work, ZERO):
        if not on_loan and not _concerned(quota, work, taken):
            continue
        for cls, other in ordering.ready(quota):
            fits = quota.tree.surplus_units or fits_own_min(quota, cls.request)
            claimable = bool(on_loan and fits and could_claim(work_of(other), work, ZERO))
            if not could_evict(quota, other.priority, work, claimable=claimable):
                continue
            if other.id not in victims and _could_take_all(quota, other.priority, taken):
                continue  # it could not start on all that either
            if _would_take(state, Candidate(quota, cls, other), job, now_ms, around or alone(state)):
                return other.id
    return None


def _matters(unit: Unit) -> bool:
    if unit.cls.claim is Claim.IDLE:
        return unit.job.spec.idle is Idle.ALLOW
    return unit.cls.kind is not UnitKind.SURPLUS


def _concerned(quota: Quota, work: Work, taken: tuple[Unit, ...]) -> bool:
    """Return whether a job may wait at this quota that could evict this work by a policy, and could not have started before.

    Asked before anybody looks who may be tried there, since most quotas have none.
    """
    if quota.spec.strategy is Strategy.BALANCE or any(unit.job.quota is quota for unit in taken):
        return True
    return any(
        could_evict(quota, priority, work) and not _could_take_all(quota, priority, taken)
        for priority in {cls.priority for cls in quota.queue.classes.values()}
    )


def _could_take_all(quota: Quota, priority: int, taken: tuple[Unit, ...]) -> bool:
    return all(
        unit.cls.rung == 0
        or could_evict(quota, priority, Work(unit.cls.quota, unit.cls.priority, unit.cls.module))
        for unit in taken
    )


def _would_take(state: State, candidate: Candidate, victim: Job, now_ms: int, around: Around) -> bool:
    """Return whether the candidate could start now, and would take the victim for it."""
    outcome = attempt(state, candidate.job, candidate.cls, now_ms, around, patient=False)
    return isinstance(outcome, Proposal) and any(unit.job is victim for unit in outcome.taken)
