"""Who leaves when a quota is scaled in mode reclaim, said from the rule alone (Q5, Q8)."""

from __future__ import annotations

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.model.job import Claim
from quotatree.core.reasons import Code
from tests.property.model import Model, Piece

SCALING = ev.QuotaScaled | ev.QuotaTransferred


def check(before: Model, event: ev.Event, found: tuple[say.Decision, ...], after: Model) -> None:
    """Raise AssertionError unless exactly what was above the target left: no less, no more, and nobody else."""
    assert isinstance(event, SCALING)
    scaled = [event.quota] if isinstance(event, ev.QuotaScaled) else [event.source, event.target]
    evicted = [d for d in found if isinstance(d, say.Evict)]
    taken = {q: [p for d in evicted for p in _taken(before, d, q)] for q in scaled}
    assert sum(map(len, taken.values())) == len(evicted), f"{event} evicts others: {evicted}"
    for name, pieces in taken.items():
        was, wants = before.quotas[name].min, after.quotas[name].min
        less = [w is not None and (b is None or w < b) and before.used()[name][i] > w for i, (b, w) in enumerate(zip(was, wants, strict=True))]  # fmt: skip
        if event.mode is not ev.ScaleMode.RECLAIM or not (any(less) or was == wants):
            assert not pieces, f"{event} evicts {pieces}"
            continue
        assert not any(after.loan(name, after.used())), f"{name} is above its min after {event}"
        for piece in pieces:
            assert piece.claim is not Claim.IDLE, f"{piece} does not count in the quota"
            gone = [p for p in _whole(before, pieces) if p not in _whole(before, [piece])]
            assert any(after.loan(name, before.used(gone))), f"{piece} need not go for {event}"
        used = before.used(), before.used(_whole(before, pieces))
        for quota in before.quotas.values():
            for i in range(3):
                fewer = used[1][quota.id][i] < used[0][quota.id][i] and before.below(name, quota.id)
                assert not fewer or used[1][quota.id][i] >= quota.spec.reserved[i], (
                    f"{quota.id} lost what is reserved"
                )


def _taken(model: Model, decision: say.Evict, quota: str) -> list[Piece]:
    """Return the piece that an eviction takes for this quota."""
    assert decision.reason.code is Code.ScaleReclaim, decision
    if dict(decision.reason.facts)["quota"] != quota:
        return []
    alone = decision.kind.value in ("wanted", "surplus")
    return [
        p
        for p in model.jobs[decision.job].pieces()
        if p.kind == decision.kind.value and (not alone or decision.replicas == (p.replica,))
    ]


def _whole(model: Model, pieces: list[Piece]) -> list[Piece]:
    """Return the pieces with what the cores among them take along (P12)."""
    cores = {p.job for p in pieces if p.kind == "core"}
    return list(dict.fromkeys([*pieces, *(p for job in cores for p in model.jobs[job].pieces())]))
