"""Which values of a quota and of its tree change while it lives, and how is each change taken back?

As with the values of a job (job_values.py), a method called with the earlier values takes back what it did. Only a value
that the quota's record keeps marks it as touched; the rest follows from declarations and from the units placed.
"""

from __future__ import annotations

from collections.abc import Iterable

from quotatree.core.model.job import JobId
from quotatree.core.model.quota import Quota, QuotaSpec
from quotatree.core.model.quota_arithmetic import count_kept
from quotatree.core.model.tree import Tree
from quotatree.core.state.facts import Facts


class QuotaValues(Facts):
    """Sets the values of a quota and of its tree, one method for those that are set together."""

    def set_quota_spec(self, quota: Quota, spec: QuotaSpec) -> None:
        """Set the declared policies, or a root's draws (Q5, Q6)."""
        if quota.spec is not spec:
            self.on_undo(self.set_quota_spec, quota, quota.spec)
            reserved, quota.spec = quota.spec.reserved, spec
            if reserved != spec.reserved:
                count_kept(quota.root)
            self.raise_rights(quota.tree)
            self._touch_quota(quota.id)

    def set_min(self, quota: Quota, bounds: Iterable[int | None]) -> None:
        """Set the desired min (Q5)."""
        self.on_undo(quota.set_min, quota.min)
        quota.set_min(bounds)
        self.raise_rights(quota.tree)  # a class too large for the new min blocks nobody any more
        self._touch_quota(quota.id)

    def set_actual(self, quota: Quota, actual: list[int | None], shrinking: bool) -> None:
        """Set how far the min has come down to the desired one, and whether it has further to go (Q5)."""
        self.on_undo(self.set_actual, quota, quota.actual, quota.shrinking)
        quota.actual, quota.shrinking = actual, shrinking
        self._touch_quota(quota.id)

    def set_shadow(self, quota: Quota, kept: Iterable[int]) -> None:
        """Set what a starvation guard keeps of the quota for its job (S10)."""
        self.on_undo(self.set_shadow, quota, quota.shadow)
        quota.shadow = list(kept)
        self._touch_quota(quota.id)

    def set_guard(self, tree: Tree, guarded: JobId | None, nodes: frozenset[int]) -> None:
        """Set for which job of the tree capacity is kept, None for no job, and on which nodes (S10)."""
        if tree.guard is not guarded or tree.guard_nodes is not nodes:
            self.on_undo(self.set_guard, tree, tree.guard, tree.guard_nodes)
            tree.guard, tree.guard_nodes = guarded, nodes
            self._touch_quota(tree.root.id)

    def set_stood(self, quota: Quota, stood: tuple[tuple[JobId, int], ...]) -> None:
        """Set since when each of the first positions in the quota's queue is held by the same job (S3)."""
        queue = quota.queue
        if queue.stood is not stood:
            self.on_undo(self.set_stood, quota, queue.stood)
            queue.stood = stood
            if stood:
                quota.tree.standing[quota.id] = quota
            else:
                quota.tree.standing.pop(quota.id, None)
            self._touch_quota(quota.id)

    # -- not kept in a record --------------------------------------------------------------------------------

    def raise_rights(self, tree: Tree) -> None:
        """Note that a quota of the tree came, went or is declared otherwise: what was remembered of rights is void."""
        self.on_undo(self._set_rights, tree, tree.rights)
        self._set_rights(tree, tree.rights + 1)

    def _set_rights(self, tree: Tree, rights: int) -> None:
        tree.rights, tree.closed, tree.sharing = rights, None, None
        for noted in (tree.against, tree.above_min, tree.too_little):
            noted.clear()

    def set_times(self, quota: Quota, min_runtime_ms: int, preemption_delay_ms: int) -> None:
        """Set the times that the quota declares or inherits (P11)."""
        if quota.min_runtime_ms is not min_runtime_ms or quota.preemption_delay_ms is not preemption_delay_ms:
            self.on_undo(self.set_times, quota, quota.min_runtime_ms, quota.preemption_delay_ms)
            quota.min_runtime_ms, quota.preemption_delay_ms = min_runtime_ms, preemption_delay_ms

    def set_loans(self, tree: Tree, loans: bool) -> None:
        if tree.loans is not loans:  # it says where a plan need not look, no more
            self.on_forget(self.set_loans, tree, tree.loans)
            tree.loans = loans

    def set_shares_reserved(self, tree: Tree, shares_reserved: bool) -> None:
        if tree.shares_reserved is not shares_reserved:
            self.on_undo(self.set_shares_reserved, tree, tree.shares_reserved)
            tree.shares_reserved = shares_reserved
            count_kept(tree.root)  # it is followed only while there is any
