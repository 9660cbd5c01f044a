"""Would the preemptor really fit, in its places and in its quotas, once its victims had left?

Most sets need no proof: they were chosen by exactly these numbers. Several shapes or pools may not fit together, though, a
core takes surplus along, and a quota that falls below its reserved part keeps for itself what its victims free (Q8).
"""

from __future__ import annotations

from collections.abc import Iterable

from quotatree.core.model.quota_arithmetic import shortage
from quotatree.core.model.unit import Unit
from quotatree.core.search.ladder import Found
from quotatree.core.search.node_offer import TOP_RUNG
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import bounded_by_pools, grouped
from quotatree.core.search.trial import PlaceTrial, Request, Trial, with_companions


def needs_proof(request: Request, found: Found) -> bool:
    """Return whether the set may turn out too small although its solver thought it enough."""
    return (
        request.quota.tree.shares_reserved
        or bounded_by_pools(request.root)
        or len(grouped(request.wanted)) > 1
        or any(unit.job.composite for unit in found.units)
    )


def proved(request: Request, overlay: Overlay, found: Found) -> bool:
    """Return whether all replicas have places and every quota has room once these units have left or run idle."""
    proof = Proof(request, TOP_RUNG, overlay)
    for unit in with_companions(list(found.units)):
        if unit not in found.demoted:
            proof.overlay.take(unit)
    return proof.proved(found.demoted)


class Proof(PlaceTrial):
    """A trial that is enough when all replicas have places, every quota has room, and no protection is violated."""

    def __init__(self, request: Request, rung: int, overlay: Overlay) -> None:
        super().__init__(request, rung, overlay)
        self.protections = Trial(request, rung, overlay).protections  # they see usage before any take

    def enough(self) -> bool:
        return self.lawful() and self.proved()

    def proved(self, demoted: Iterable[Unit] = ()) -> bool:
        """Return whether all replicas have places and every quota on the path has room.

        Units in `demoted` keep their devices but free their share of the quota: they are taken off after places were found,
        and the overlay is left that way.
        """
        if not self.fits():
            return False
        request = self.request
        for unit in demoted:
            self.overlay.take(unit)
        short = shortage(
            request.quota, request.amount, loan_allowed=request.loan_allowed, past_guard=request.past_guard,
            usage=self.overlay,
        )  # fmt: skip
        return short is None
