"""Would it fit? By quota (Q3, Q8, S10) and on devices (R1-R3), by trying everything; no index, no heuristic."""

from __future__ import annotations

from collections.abc import Iterable

from quotatree.core.model.job import Shape
from tests.property.model import Model, Piece, Place, total

Room = tuple[list[int], int, int]
"""Free milli-GPU of each device, CPU, memory of one node."""


def rooms(model: Model, *, physical: bool = False, without: Iterable[Piece] = ()) -> dict[str, list[int]]:
    """Return what is left on every node: of each device, then CPU, then memory.

    By plan, running and promised replicas count; physically, running replicas and those still leaving.
    """
    left = {n.name: [1000] * n.gpus + [n.cpu, n.memory] for n in model.nodes.values()}
    for piece in model.pieces(without):
        if not (physical and piece.kind == "hold"):
            for place in piece.places:
                take(left[place.node], place)
    if physical:
        for job in model.jobs.values():
            for place in job.leaving.values():
                take(left[place.node], place)
    for node in model.nodes.values():
        for device in node.shut:
            left[node.name][device] = min(0, left[node.name][device])
    return left


def exceeded(model: Model, *, physical: bool) -> list[str]:
    """Return nodes of which more is given away than there is; of CPU and memory that others took over our work, none is."""
    found = []
    for node, room in rooms(model, physical=physical).items():
        spec = model.nodes[node]
        ours = room[:-2] if spec.shared and (physical or not spec.ready) else room
        if min(ours, default=0) < 0:
            found.append(f"{node}: {room}")
    return found


def take(room: list[int], place: Place, sign: int = 1) -> None:
    for device in place.devices:
        room[device] -= sign * place.on_device()
    room[-2] -= sign * place.shape.cpu_milli
    room[-1] -= sign * place.shape.memory_mib


def suits(model: Model, node: str, shape: Shape) -> bool:
    spec = model.nodes[node]
    return (
        spec.ready
        and (not shape.models or spec.model in shape.models)
        and all(spec.labels.get(key) == value for key, value in shape.labels)
    )


def pool_rooms(model: Model, root: str, without: Iterable[Piece] = ()) -> dict[str, int]:
    """Return how many milli-GPU the root may still take from each of its pools; a single pool is bounded by its min."""
    draws = model.quotas[root].spec.draws
    if len(draws) == 1:
        return {draws[0][0]: 1 << 60}
    shared = _shared_pools(model, root)
    left = {pool: (bounds.gpu_milli or 0) if pool in shared else 1 << 60 for pool, bounds in draws}
    for piece in model.pieces(without):
        if model.root(model.jobs[piece.job].quota) == root:
            for place in piece.places:
                left[model.nodes[place.node].pool] -= place.shape.gpu_milli
    return left


def pools_bind(model: Model, root: str) -> bool:
    """Return whether the root draws on several pools and shares one of them."""
    draws = model.quotas[root].spec.draws
    return len(draws) > 1 and any(pool in _shared_pools(model, root) for pool, _ in draws)


def _shared_pools(model: Model, root: str) -> set[str]:
    others = [q.spec for q in model.quotas.values() if q.parent is None and q.id != root]
    return {pool for spec in others for pool, _ in spec.draws}


def devices_fit(
    model: Model,
    root: str,
    wanted: list[Shape],
    without: Iterable[Piece] = (),
    avoid: frozenset[str] = frozenset(),
    *,
    physical: bool = False,
) -> bool:
    """Return whether all replicas fit on devices at once, by complete search."""
    gone = list(without)
    left = rooms(model, physical=physical, without=gone)
    pools = pool_rooms(model, root, gone)
    nodes = [n for n in model.nodes if model.nodes[n].pool in pools and n not in avoid]
    order = sorted(wanted, key=lambda s: (-s.gpu_milli, s))
    return _place_all(model, order, 0, nodes, left, pools, (0, ""))


def _place_all(
    model: Model,
    wanted: list[Shape],
    number: int,
    nodes: list[str],
    left: dict[str, list[int]],
    pools: dict[str, int],
    least: tuple[int, str],
) -> bool:
    """Return whether the replicas from `number` on fit; equal ones go to nodes in ascending order, to break the symmetry."""
    if number == len(wanted):
        return True
    shape = wanted[number]
    if number and wanted[number - 1] != shape:
        least = (0, "")
    for position, node in enumerate(nodes):
        if position < least[0] or not suits(model, node, shape):
            continue
        room, pool = left[node], model.nodes[node].pool
        if shape.gpu_milli > pools[pool] or shape.cpu_milli > room[-2] or shape.memory_mib > room[-1]:
            continue
        for devices in _choices(room, shape):
            place = Place(node, devices, shape)
            take(room, place)
            pools[pool] -= shape.gpu_milli
            done = _place_all(model, wanted, number + 1, nodes, left, pools, (position, node))
            pools[pool] += shape.gpu_milli
            take(room, place, -1)
            if done:
                return True
    return False


def _choices(room: list[int], shape: Shape) -> list[tuple[int, ...]]:
    """Return the choices of devices on one node worth trying: whole devices are alike, shared ones differ by room."""
    devices = range(len(room) - 2)
    if shape.gpu_milli == 0:
        return [()]
    if shape.gpu_milli >= 1000:
        whole = [d for d in devices if room[d] == 1000]
        return [tuple(whole[: shape.whole_gpus])] if len(whole) >= shape.whole_gpus else []
    by_room = {room[d]: d for d in devices if room[d] >= shape.gpu_milli}
    return [(d,) for d in by_room.values()]


def quota_fits(
    model: Model,
    quota: str,
    request: tuple[int, int, int],
    without: Iterable[Piece] = (),
    *,
    loan: bool,
    past_guard: bool,
    own_only: bool = False,
) -> bool:
    """Return whether used + request <= min for the quota (unless on loan) and every ancestor, beside what is reserved or
    kept for a guard (Q3, Q8, S10). `own_only`: for the quota alone."""
    used = model.used(without)
    path = model.path(quota)
    guarded = model.guards.get(path[-1])
    kept = (0, 0, 0)
    kept_for: list[str] = []
    if guarded is not None and not past_guard:
        waiting = model.jobs[guarded[0]]
        kept = total(shape for _, shape in model.missing(waiting))
        kept_for = model.path(waiting.quota)
    for above in path[:1] if own_only else path:
        if loan and above == quota:
            continue
        for i, bound in enumerate(model.quotas[above].min):
            if bound is None or not request[i]:
                continue
            spoken_for = sum(unmet(model, c, i, used, quota) for c in model.children(above))
            promised = kept[i] if above in kept_for else 0
            if used[above][i] + request[i] + spoken_for + promised > bound:
                return False
    return True


def unmet(model: Model, quota: str, i: int, used: dict[str, list[int]], taker: str) -> int:
    """Return the unused part of what is reserved at `quota` or below, but for quotas that the taker is in or below (Q8)."""
    own = 0 if quota in model.path(taker) else model.quotas[quota].spec.reserved[i] - used[quota][i]
    return max(0, own, sum(unmet(model, c, i, used, taker) for c in model.children(quota)))
