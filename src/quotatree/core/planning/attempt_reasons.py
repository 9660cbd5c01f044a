"""How does an attempt tell why a step was not enough, why a unit is taken, and why a job starts (X1, P13)?"""

from __future__ import annotations

from collections.abc import Iterable

from quotatree.core import decisions as say
from quotatree.core.model.job import Job, Shape
from quotatree.core.model.quota import Quota, loan
from quotatree.core.model.resources import GPU, amount_text, resources_text
from quotatree.core.model.unit import Unit, UnitKind
from quotatree.core.planning.attempt_facts import cost_text
from quotatree.core.planning.steps import Claimant
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.eligible import Signature
from quotatree.core.search.free_index import free_index
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import PoolRooms, Wanted, bounded_by_pools, find_places, grouped
from quotatree.core.search.victims import Found, Why
from quotatree.core.state import State


def why_on_loan(claimant: Claimant) -> Reason:
    quota = claimant.quota
    over = amount_text(GPU, loan(quota, GPU) + claimant.beyond_min(GPU))
    return because(Code.OnLoan, quota=quota.id, loan=over)


def why_no_place(state: State, root: Quota, wanted: Wanted, avoid: frozenset[int]) -> Reason:
    """Return which shape finds too few free devices: the largest, or the first that does beside larger ones (X1)."""
    shape = max((s for _, s in wanted), key=lambda s: s.gpu_milli)
    count = sum(1 for _, s in wanted if s == shape)
    free = free_index(state, shape, root, True)
    fits = free.total - sum(free.slots[n] for n in avoid)
    if fits >= count:
        part = why_no_part(state, root, wanted, avoid)
        if part is not None:
            return part
        shape, fits, count = _first_too_few(state, root, wanted, avoid)
    return because(Code.NoPlacement, fits=fits, wanted=count, shape=resources_text(shape.resources))


def _first_too_few(
    state: State, root: Quota, wanted: Wanted, avoid: frozenset[int]
) -> tuple[Shape, int, int]:
    """Return the first shape, largest first, that does not fit beside those before it, how many fit there, and how many should."""
    before: Wanted = []
    for shape, numbers in grouped(wanted).items():
        these = [(number, shape) for number in numbers]
        fits, too_many = 0, len(these) + 1
        while too_many - fits > 1:
            middle = (fits + too_many) // 2
            if find_places(state, root, before + these[:middle], now=True, avoid=avoid) is None:
                too_many = middle
            else:
                fits = middle
        if fits < len(these):
            break
        before += these
    return shape, fits, len(these)


def why_no_part(state: State, root: Quota, wanted: Wanted, avoid: frozenset[int]) -> Reason | None:
    """Return which pool has free devices for a shape of which the root's part there is used up (Q1); None if none has.

    Of several it is the pool of which most is left for the root.
    """
    if not bounded_by_pools(root):
        return None
    rooms = PoolRooms(Overlay(state), root)
    for shape, numbers in grouped(wanted).items():
        if not shape.gpu_milli:
            continue
        free: dict[str, int] = {}
        for node, slots in enumerate(free_index(state, shape, root, True).slots):
            if slots and node not in avoid:
                pool = state.nodes[node].spec.pool
                free[pool] = free.get(pool, 0) + slots
        allowed = {
            pool: min(slots, max(0, rooms.left(pool)) // shape.gpu_milli) for pool, slots in free.items()
        }
        used_up = [pool for pool, slots in free.items() if allowed[pool] < slots]
        if used_up and sum(allowed.values()) < len(numbers) <= sum(free.values()):
            pool = max(sorted(used_up), key=rooms.left)
            part = dict(root.spec.draws)[pool].gpu_milli or 0
            return because(
                Code.PoolPartFull, quota=root.id, limit=amount_text(GPU, part), pool=pool,
                used=amount_text(GPU, part - rooms.left(pool)),
                wanted=amount_text(GPU, shape.gpu_milli * len(numbers)),
            )  # fmt: skip
    return None


def why_nobody(step: Step, why: Why) -> Reason:
    code = Code.NoEligibleVictims if why is Why.NOBODY_ELIGIBLE else Code.NoLawfulSet
    return because(code, step=step.value)


def why_taken(job: Job, signature: Signature, unit: Unit) -> Reason:
    """Return why a unit goes for this job: the rule that gives the right, and whose it is."""
    entitled = signature.entitled(unit.cls)
    assert entitled is not None
    if unit.cls.kind is UnitKind.HOLD:
        return because(Code.HoldTaken, preemptor=job.id)
    by = job.quota
    if entitled.rule is Code.ReturnOfLoan:
        by = next(q for q in unit.job.quota.path if q.parent is job.quota.parent)
    return because(entitled.rule, preemptor=job.id, quota=by.id)


def why_started(step: Step, found: Found, victims: Iterable[say.VictimCost]) -> Reason:
    victims = list(victims)
    if step in (Step.IDLE, Step.LOAN):
        freed = sum(victim.freed.gpu_milli for victim in victims)
        return because(Code.AfterIdleBorrowers, freed=amount_text(GPU, freed))
    return because(
        Code.AfterPreemption, victims=len(victims), rule=step.value, highest=found.highest,
        cost=cost_text(found.cost),
    )  # fmt: skip
