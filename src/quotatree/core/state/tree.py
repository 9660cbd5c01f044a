"""How does the tree of quotas change its form, and what depends on that form?"""

from __future__ import annotations

from quotatree.core.model.job import Claim
from quotatree.core.model.quota import AmountLimit, Quota
from quotatree.core.model.quota_arithmetic import count_kept
from quotatree.core.model.tree import Tree
from quotatree.core.state.tree_numbers import number, share_pools
from quotatree.core.state.units import UnitChanges, units_of


class TreeChanges(UnitChanges):
    """Adds and removes quotas; classes of units, numbers and shared pools follow."""

    def add_quota(self, quota: Quota) -> None:
        """Add a quota to its tree as the last of its siblings."""
        self.insert_quota(quota, max((q.order for q in self.quotas.values()), default=0) + 1)
        self.reshape(quota.tree)
        self.on_undo(self._leave_tree, quota)

    def insert_quota(self, quota: Quota, order: int) -> None:
        """Add a quota at its place among its siblings, given by `order`; the caller must call `reshape` afterwards."""
        quota.order = order
        self._enter_tree(quota)

    def remove_quota(self, quota: Quota) -> None:
        self.set_stood(quota, ())
        self._leave_tree(quota)
        self.reshape(*([] if quota.parent is None else [quota.tree]))
        self.on_undo(self._enter_tree, quota)

    def _enter_tree(self, quota: Quota) -> None:
        beside = self.roots if quota.parent is None else quota.parent.children
        beside.append(quota)
        beside.sort(key=lambda q: q.order)
        self.quotas[quota.id] = quota
        self._tree_changed = True
        self._touch_quota(quota.id)

    def _leave_tree(self, quota: Quota) -> None:
        (self.roots if quota.parent is None else quota.parent.children).remove(quota)
        del self.quotas[quota.id]
        self._tree_changed = True
        self._touch_quota(quota.id)

    def reshape(self, *changed: Tree) -> None:
        """Refresh what depends on the form of these trees: numbers, shared pools, classes of units, versions."""
        for tree in changed:
            number(tree.root)
            count_kept(tree.root)
        share_pools(self.trees, self._idle_units())
        self.forget_classes()
        for tree in changed:
            self.raise_rights(tree)
        self._bump_everyone()

    def _idle_units(self) -> dict[Tree, int]:
        """Return how many idle units each tree has of its own; a tree without any is missing."""
        found: dict[Tree, int] = {}
        for job in self.jobs.values():
            idle = sum(1 for unit in units_of(job) if unit.cls.claim is Claim.IDLE)
            if idle:
                tree = job.quota.tree
                found[tree] = found.get(tree, 0) + idle
        return found

    def put_limits(self, quota: Quota, limits: tuple[AmountLimit, ...]) -> None:
        if limits:
            self.put_entry(self.limits, quota.id, limits)
        else:
            self.drop_entry(self.limits, quota.id)
        self._touch_quota(quota.id)

    def set_limit_used(self, used: dict[AmountLimit, int]) -> None:
        """Replace the amounts in use under each limit, in milli-GPU."""
        self.on_undo(self.set_limit_used, self.limit_used)
        self.limit_used = used

    def _undone(self) -> None:
        """Refresh the trees if their form was undone."""
        if self._tree_changed:
            # Units that were placed again may be of classes from before the change, which are in no table any more.
            self.reshape(*self.trees)
