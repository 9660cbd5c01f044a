"""What must change before a job that could not be helped is tried again (S9)?"""

from __future__ import annotations

from quotatree.core.model.quota_arithmetic import Shortage, surplus_may_do
from quotatree.core.model.rights import may_borrow
from quotatree.core.model.wait_queue import Failure
from quotatree.core.planning.claimant import Claimant
from quotatree.core.planning.steps import preempting_steps
from quotatree.core.reasons import Reason
from quotatree.core.search.placement import Wanted, bounded_by_pools
from quotatree.core.state import State


def failure_of(
    state: State,
    claimant: Claimant,
    wanted: Wanted,
    reason: Reason,
    short: Shortage | None,
    retry_at_ms: int | None,
) -> Failure:
    """Return the failure with the facts that it rests on.

    Room in the full quota must come if `short` tells of one and nothing else could help, else whatever may help in the tree.
    Several shapes are sought one after the other, and so are places and victims in pools that the root shares, which may
    find more where less is free: then it is any change.
    """
    if short is not None and not claimant.job.running and _depends_on_tree(claimant, short):
        short = None
    if short is not None and short.quota.used[short.resource] + short.wanted <= (
        short.quota.min[short.resource] or 0
    ):
        short = (
            None  # the quota has room, but it is reserved or kept for a guard: a release there need not help
        )
    tree = claimant.quota.tree
    one_by_one = len({shape for _, shape in wanted}) > 1 or bounded_by_pools(claimant.quota.root)
    change = state.change if one_by_one else None
    return Failure(reason, tree.version, short, retry_at_ms, tree.rights, change)


def _depends_on_tree(claimant: Claimant, short: Shortage) -> bool:
    """Return whether anything but a release inside the full quota could let the job start.

    A quota that is shrinking counts, since a loan may be possible once it shrinks no more (Q5). So do reserved parts,
    unless it is the job's own quota that is full: as long as it is, no part of it that others use helps (Q8).
    """
    quota = claimant.quota
    reserved_matters = quota.tree.shares_reserved and short.quota is not quota
    return bool(
        surplus_may_do(short) or may_borrow(quota, claimant.job.priority) or quota.shrinking or reserved_matters
        or not claimant.past_guard or preempting_steps(claimant)
    )  # fmt: skip
