"""What hangs on the form of the tree: numbers, who shares pools with whom, and whose idle work that makes one's own."""

from __future__ import annotations

from quotatree.core.model.quota import Quota
from quotatree.core.model.tree import Tree


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


def share_pools(trees: list[Tree], idle_units: dict[Tree, int]) -> None:
    """Tell each tree which others draw on its pools, and count their idle work; `idle_units`: of each tree alone."""
    pools = {tree: {pool for pool, _ in tree.root.spec.draws} for tree in trees}
    for one in trees:
        one.pool_mates = tuple(tree for tree in trees if pools[one] & pools[tree])
        one.idle_units = sum(idle_units.get(mate, 0) for mate in one.pool_mates)
