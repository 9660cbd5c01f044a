"""How does the tree of quotas change its form, and what hangs on that form?"""

from __future__ import annotations

from quotatree.core.model.job import Claim
from quotatree.core.model.quota import AmountLimit, Quota
from quotatree.core.model.tree import Tree
from quotatree.core.state.tree_numbers import number, share_pools
from quotatree.core.state.units import UnitChanges


class TreeChanges(UnitChanges):
    """Quotas come and go; classes of units, numbers and shared pools follow."""

    def add_quota(self, quota: Quota) -> None:
        """A quota joins the tree as the last of its siblings."""
        self.insert_quota(quota, max((q.order for q in self.quotas.values()), default=0) + 1)
        self.reshape(quota.tree)
        self.on_undo(self._leave_tree, quota)

    def insert_quota(self, quota: Quota, order: int) -> None:
        """A quota takes its place in the tree; `reshape` must follow."""
        quota.order = order
        self._enter_tree(quota)

    def remove_quota(self, quota: Quota) -> None:
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
        """The form of these trees is another one: refresh what hangs on it."""
        for tree in changed:
            number(tree.root)
        share_pools(self.trees, self._idle_units())
        self.forget_classes()
        self._bump_everyone()

    def _idle_units(self) -> dict[Tree, int]:
        found: dict[Tree, int] = {}
        for job in self.jobs.values():
            if job.claim is Claim.IDLE and job.core is not None:
                tree = job.quota.tree
                found[tree] = found.get(tree, 0) + 1 + len(job.surplus)
        return found

    def put_limits(self, quota: Quota, limits: tuple[AmountLimit, ...]) -> None:
        if limits:
            self.put_entry(self.limits, quota.id, limits)
        else:
            self.drop_entry(self.limits, quota.id)
        self._touch_quota(quota.id)

    def set_limit_used(self, used: dict[AmountLimit, int]) -> None:
        """How much is in use under each limit, counted anew."""
        self.on_undo(self.set_limit_used, self.limit_used)
        self.limit_used = used

    def _undone(self) -> None:
        """Remembered failures are forgotten too: they may be of the future undone."""
        if self._tree_changed:
            # Units that stand again may be of classes from before the change, which nobody looks at any more.
            self.reshape(*self.trees)
        self.forget_attempts()

    def forget_attempts(self) -> None:
        """Everybody who waits deserves a new try: what is remembered may be of a plan that is not to be."""
        for tree in self.trees:
            tree.version += 1
        for quota in self.waiting_quotas.values():
            quota.queue.forget_failures()
