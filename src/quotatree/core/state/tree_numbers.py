"""What depends on the form of the trees: the numbers of quotas, which trees share pools, and how many idle units those have."""

from __future__ import annotations

from quotatree.core.model.quota import Quota
from quotatree.core.model.tree import Tree


def number(root: Quota) -> None:
    """Number the quotas of a tree so that each subtree is an interval."""
    numbered = root.tree.numbered = []

    def visit(quota: Quota) -> None:
        quota.tin = len(numbered)
        numbered.append(quota)
        for child in quota.children:
            visit(child)
        quota.tout = len(numbered)

    visit(root)


def share_pools(trees: list[Tree], idle_units: dict[Tree, int]) -> None:
    """Set for each tree which trees draw on its pools, itself included, and how many idle units those have together.

    `idle_units`: those of each tree alone.
    """
    for one in trees:
        one.pool_mates = tuple(tree for tree in trees if one.pools & tree.pools)
        one.idle_units = sum(idle_units.get(mate, 0) for mate in one.pool_mates)
    for group in _linked(trees):
        for tree in group:
            tree.together = group


def _linked(trees: list[Tree]) -> list[tuple[Tree, ...]]:
    """Return the trees in groups that are linked by shared pools, each group in the order of `trees`."""
    group_of: dict[int, int] = {}
    for number, tree in enumerate(trees):
        if id(tree) in group_of:
            continue
        reached = [tree]
        while reached:
            one = reached.pop()
            if id(one) not in group_of:
                group_of[id(one)] = number
                reached += one.pool_mates
    groups: dict[int, list[Tree]] = {}
    for tree in trees:
        groups.setdefault(group_of[id(tree)], []).append(tree)
    return [tuple(group) for group in groups.values()]
