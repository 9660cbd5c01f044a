"""Fair borrowing on the model: may this borrower take these pieces (I4)? Written from the rule alone, with fractions."""

from __future__ import annotations

from fractions import Fraction

from quotatree.core.model.job import Claim, Idle
from tests.property.fitting import devices_fit
from tests.property.model import JobView, Model, Piece, total

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
    lowered = [i for i in range(3) if request[i] and _stays_below(model, mine, other, i, request[i], taken)]
    assert lowered, f"{taker.id} takes {taken}, and its share is not below what is left"
    assert any(_sum(taken, i) >= request[i] for i in lowered), f"{taken} are smaller than {taker.id}"
    assert _fits(model, taker, taken), f"{taker.id} does not fit without {taken} (P7)"
    for piece in taken:
        fewer = [p for p in taken if p is not piece and p.job != piece.job]
        large_enough = all(_sum(fewer, i) >= request[i] for i in range(3))
        assert not (large_enough and _fits(model, taker, fewer) and _room_is_no_bound(model, taker, fewer)), (
            f"{taker.id} needs no {piece} (P8)"
        )


def decide(model: Model, taken: list[Piece]) -> bool:
    """Return whether shares had a say in which of several borrowers a regular job took back (I3), not cost alone."""
    borrowers = {
        model.jobs[p.job].quota
        for p in model.pieces()
        if p.claim is Claim.IDLE
        and any(model.quotas[q].spec.fair_idle for q in model.path(model.jobs[p.job].quota))
    }
    return len(borrowers) > 1 and any(model.jobs[p.job].quota in borrowers for p in taken)


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


def _stays_below(
    model: Model, mine: tuple[str, bool], other: tuple[str, bool], i: int, request: int, taken: list[Piece]
) -> bool:
    after, left = share(model, mine, i, [], request), share(model, other, i, taken)
    return after is not None and left is not None and after < INFINITE and after < left


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
    shapes = [shape for _, shape in model.missing(taker)]
    return devices_fit(model, model.root(taker.quota), shapes, without)


def _room_is_no_bound(model: Model, taker: JobView, without: list[Piece]) -> bool:
    """Return whether idle room is certainly no reason to take more: every quota of the tree lends, and the root has room."""
    root = model.root(taker.quota)
    if any(model.root(q) == root and not model.quotas[q].spec.lending for q in model.quotas):
        return False
    request = total(shape for _, shape in model.missing(taker))
    used, idle = model.used(without), model.sums(Claim.IDLE, without)
    bounds = model.quotas[root].min
    return all(
        b is None or not request[i] or used[root][i] + idle[root][i] + request[i] <= b
        for i, b in enumerate(bounds)
    )
