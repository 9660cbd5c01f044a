"""Why do nodes not hold what a job asks for, though its quotas have room (X1)?"""

from __future__ import annotations

from quotatree.core.model.quota import Quota
from quotatree.core.model.resources import GPU, amount_text, resources_text
from quotatree.core.reasons import Code, Reason, because
from quotatree.core.search.free_index import free_index
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import Wanted, bounded_by_pools, first_too_few, grouped
from quotatree.core.search.tentative import PoolRooms
from quotatree.core.state import State


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
        shape, fits, count = first_too_few(state, root, wanted, avoid)
    return because(Code.NoPlacement, fits=fits, wanted=count, shape=resources_text(shape.resources))


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
