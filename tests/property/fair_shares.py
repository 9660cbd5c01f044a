"""Fair borrowing on the model: may this borrower take these pieces (I4)? Written from the rule alone, with fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import zip_longest
from math import inf

from quotatree.core.model.job import Claim, Idle
from tests.property import rights
from tests.property.fitting import devices_fit
from tests.property.model import Amount, JobView, Model, Piece, total

NOTHING = Fraction(0)
INFINITE = Fraction(10**18)


def check(model: Model, taker: JobView, taken: list[Piece]) -> None:
    """Raise AssertionError unless a waiting borrower may take exactly these pieces, and needs each of them."""
    assert taken
    assert taker.idle is not Idle.NEVER, f"{taker.id} does not run idle"
    assert not taker.core, f"{taker.id} runs already"
    for piece in taken:
        assert piece.claim is Claim.IDLE, f"{piece} is no borrower"
        assert model.jobs[piece.job].idle is Idle.ONLY, f"{piece.job} may become regular"
    (parent,) = {_parting(model, taker.quota, model.jobs[p.job].quota) for p in taken}
    assert parent is not None, "another tree"
    (other,) = {_branch(model, parent, model.jobs[p.job].quota) for p in taken}
    mine = _branch(model, parent, taker.quota)
    assert mine != other
    assert any(model.quotas[q].spec.fair_idle for q in model.path(parent)), f"{parent} does not share"
    request = total(shape for _, shape in model.missing(taker))
    for i in _short(model, taker, request):
        after, left = share(model, mine, i, [], request[i]), share(model, other, i, taken)
        assert after is not None, f"{mine} names no weight"
        assert left is not None, f"{other} names no weight"
        assert after < INFINITE, f"{mine} has a weight of 0"
        assert after <= left, f"{taker.id} takes {taken}: it has {after} then, and {left} is left of {other}"
    assert _fits(model, taker, taken), f"{taker.id} does not fit without {taken} (P7)"
    for back in _units(taken):
        fewer = [p for p in taken if p not in back]
        assert not _fits(model, taker, fewer), f"{taker.id} needs no {back} (P8)"


def in_their_turns(
    model: Model, root: str, request: Amount, eligible: list[Piece], enough: Callable[[list[Piece]], bool]
) -> list[Piece]:
    """Return which pieces a regular job may take back (I3): below fair borrowing in its tree the largest share first at every level,
    as many turns of it as are needed to be `enough`; of others any."""
    i = next((i for i in range(3) if request[i]), 0)
    tops = [
        q for q in model.quotas
        if model.root(q) == root and model.quotas[q].spec.fair_idle and not any(model.quotas[a].spec.fair_idle for a in model.path(q)[1:])
    ]  # fmt: skip
    turn_of = {
        quota: turn for top in tops for turn, quotas in enumerate(_turns(model, (top, False), i)) for quota in quotas
    }  # fmt: skip

    def turn(piece: Piece) -> int:
        return turn_of.get(model.jobs[piece.job].quota, 0) if piece.claim is Claim.IDLE else 0

    for last in range(max(turn_of.values(), default=0)):
        found = [p for p in eligible if turn(p) <= last]
        if enough(found):
            return found
    return eligible


def shares(model: Model, taker: JobView, piece: Piece) -> bool:
    """Return whether the piece stands below fair borrowing, in the tree of the taker."""
    path = model.path(model.jobs[piece.job].quota)
    return path[-1] == model.root(taker.quota) and any(model.quotas[q].spec.fair_idle for q in path)


def _turns(model: Model, branch: tuple[str, bool], i: int) -> list[set[str]]:
    """Return whose own borrowers are taken from first, second, …: those of equal share together."""
    quota, own = branch
    if own:
        return [{quota}]
    idle = model.sums(Claim.IDLE)
    parts = [(child, False) for child in model.children(quota) if any(idle[child])]
    if any(p.claim is Claim.IDLE and model.jobs[p.job].quota == quota for p in model.pieces()):
        parts.append((quota, True))
    shares = {part: share(model, part, i, []) or NOTHING for part in parts}
    found: list[set[str]] = []
    for amount in sorted(set(shares.values()), reverse=True):
        equal = [_turns(model, part, i) for part in parts if shares[part] == amount]
        found += [set().union(*turn) for turn in zip_longest(*equal, fillvalue=set())]
    return found


def share(
    model: Model, branch: tuple[str, bool], i: int, without: list[Piece], more: int = 0
) -> Fraction | None:
    """Return what a branch uses and borrows of a resource by its weight; None if it has none."""
    quota, own = branch
    spec = model.quotas[quota].spec
    weight = model.quotas[quota].min[i]
    if not own and spec.weight is not None and spec.weight[i] is not None:
        weight = spec.weight[i]
    if weight is None:
        return None
    stands = [p for p in model.pieces(without) if _belongs(model, branch, model.jobs[p.job].quota)]
    amount = _sum(stands, i) + more
    if not weight:
        return INFINITE if amount else NOTHING
    return Fraction(amount, weight)


def _short(model: Model, taker: JobView, request: Amount) -> list[int]:
    """Return the resources that the idle room has too little of; if only places are short, the first that is asked for."""
    asked = [i for i in range(3) if request[i]]
    return [i for i in asked if request[i] > _idle_room(model, taker.quota, i, [])] or asked[:1]


def _idle_room(model: Model, quota: str, i: int, without: list[Piece]) -> float:
    """Return how much more idle work of a quota its tree has room for (I2)."""
    root = model.root(quota)
    capacity = model.quotas[root].min[i]
    if capacity is None:
        return inf
    used, idle = model.used(without), model.sums(Claim.IDLE, without)
    room = capacity - used[root][i] - idle[root][i]
    for closed in model.quotas:
        path = model.path(closed)
        topmost = [q for q in path if not model.quotas[q].spec.lending][-1:] == [closed]
        if topmost and path[-1] == root and closed not in model.path(quota):
            unused = max(0, (model.quotas[closed].min[i] or 0) - used[closed][i])
            room -= max(0, unused - idle[closed][i])
    return room


def _units(taken: list[Piece]) -> list[list[Piece]]:
    """Return what can be put back as one: a core with all of its job, or a replica whose core stays."""
    whole = {p.job for p in taken if p.kind == "core"}
    cores = [[p for p in taken if p.job == job] for job in whole]
    return cores + [[p] for p in taken if p.job not in whole]


def _parting(model: Model, first: str, second: str) -> str | None:
    return next((quota for quota in model.path(first) if quota in model.path(second)), None)


def _branch(model: Model, parent: str, quota: str) -> tuple[str, bool]:
    path = model.path(quota)
    return (parent, True) if quota == parent else (path[path.index(parent) - 1], False)


def _belongs(model: Model, branch: tuple[str, bool], quota: str) -> bool:
    name, own = branch
    return quota == name if own else name in model.path(quota)


def _sum(pieces: list[Piece], i: int) -> int:
    return sum(piece.size[i] for piece in pieces)


def _fits(model: Model, taker: JobView, without: list[Piece]) -> bool:
    """Return whether there is idle room for the taker, and places that no guard keeps from it."""
    root = model.root(taker.quota)
    shapes = [shape for _, shape in model.missing(taker)]
    request = total(shapes)
    avoid = frozenset() if rights.passes_guard(model, taker) else model.guards.get(root, ("", frozenset()))[1]
    return all(
        not request[i] or request[i] <= _idle_room(model, taker.quota, i, without) for i in range(3)
    ) and devices_fit(model, root, shapes, without, avoid)
