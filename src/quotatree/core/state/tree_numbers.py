"""What hangs on the form of the tree: numbers, who shares pools with whom, and whose idle work that makes one's own."""

from __future__ import annotations

from quotatree.core.model.quota import Quota


def number(root: Quota) -> None:
    """Number a tree so that subtrees are intervals."""
    counter = 0

    def visit(quota: Quota) -> None:
        nonlocal counter
        quota.tin = counter
        counter += 1
        for child in quota.children:
            visit(child)
        quota.tout = counter

    visit(root)


def share_pools(roots: list[Quota], idle_units: dict[str, int]) -> None:
    """Tell each root which others draw on its pools, and count their idle work; `idle_units`: of each tree alone."""
    pools = {root.id: {pool for pool, _ in root.spec.draws} for root in roots}
    for one in roots:
        one.pool_mates = tuple(r for r in roots if pools[one.id] & pools[r.id])
        one.idle_units = sum(idle_units.get(mate.id, 0) for mate in one.pool_mates)
