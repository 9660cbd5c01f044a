"""What depends on the form of the trees: the numbers of quotas, which trees share pools, and how many idle units those have."""

from __future__ import annotations

from quotatree.core.model.quota import Quota
from quotatree.core.model.tree import Tree


def number(root: Quota) -> None:
    """Number the quotas of a tree so that each subtree is an interval."""
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
    """Set for each tree which trees draw on its pools, itself included, and how many idle units those have together.

    `idle_units`: those of each tree alone.
    """
    pools = {tree: {pool for pool, _ in tree.root.spec.draws} for tree in trees}
    for one in trees:
        one.pool_mates = tuple(tree for tree in trees if pools[one] & pools[tree])
        one.idle_units = sum(idle_units.get(mate, 0) for mate in one.pool_mates)
