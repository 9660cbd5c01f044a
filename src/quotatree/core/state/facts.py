"""What does the brain know? The tables and counters of the state, empty; the modules beside it say how each is written.

`begin()`, change what you like, `rollback()`: a preview (X3) or a failed commit leaves no trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from quotatree.core.model.effort import Work
from quotatree.core.model.job import Job, JobId
from quotatree.core.model.node import Node
from quotatree.core.model.quota import AmountLimit, Quota, QuotaId
from quotatree.core.model.tree import Tree
from quotatree.core.model.typical_requests import Mix
from quotatree.core.model.unit import UnitClass
from quotatree.core.state.touched import Touched
from quotatree.core.state.undo_log import Journal

STIRS_KEPT: Final = 100_000


@dataclass(frozen=True, slots=True)
class Settings:
    """What an operator may tune for the whole cluster; times in milliseconds, 0 switches off."""

    aging_interval_ms: int = 600_000
    balance_timeout_ms: int = 300_000
    starvation_guard_ms: int = 3_600_000
    eas_outage_ms: int = 3_600_000
    longest_grace_ms: int = 0


class Facts(Journal):
    """Nodes, quotas, jobs and the counters between them."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        self.settings = settings or Settings()
        self.pools: dict[str, bool] = {}  # name -> mixed
        self.pool_models: dict[str, dict[str, None]] = {}  # GPU models seen in each pool
        self.mixes: dict[str, Mix] = {}  # requests seen, by pool
        self.picture = 0  # number of the present pictures of all mixes; see typical_requests.py
        self._pictures_made = 0
        self.nodes: list[Node] = []
        self.node_by_name: dict[str, Node] = {}
        self.quotas: dict[QuotaId, Quota] = {}
        self.roots: list[Quota] = []
        self.jobs: dict[JobId, Job] = {}
        self.awaited: dict[JobId, dict[JobId, Job]] = {}  # a leaving job -> holds that wait for it
        self.limits: dict[str, tuple[AmountLimit, ...]] = {}
        self.limit_used: dict[AmountLimit, int] = {}
        self.leaving_jobs: dict[JobId, Job] = {}
        self.put_off: dict[
            JobId, Job
        ] = {}  # jobs that were lost at their starts, and some that no longer wait
        self.leaving_replicas = 0
        self.surplus_failed: dict[JobId, int] = {}  # version of its tree at which no surplus replica fitted
        self.protected: dict[tuple[int, QuotaId], int] = {}  # units by the end of their min_runtime, by tree
        self.protections: list[tuple[int, QuotaId]] = []  # a heap of these ends, and of some that are gone
        self.protections_ended_ms = 0  # ends up to this time have been handled
        self.stirred: list[
            Quota
        ] = []  # quotas whose use or queue has changed, one after the other; see planning/ordering.py
        self.stirs_epoch = 0
        self.changes: list[int] = []
        self.changes_epoch = 0
        self.nodes_version = 0
        self.nodes_out = 0  # how many nodes are reduced: not ready, with an ill device, or used by others
        self.ready_version = 0  # rises whenever a node joins, or more or less of one can be used
        self.work = Work()
        self.indexes: dict[Any, Any] = {}  # search indexes live here; see placement.py and node_index.py
        self._classes: dict[tuple[object, ...], UnitClass] = {}
        self._classes_of: dict[QuotaId, list[UnitClass]] = {}
        self._classes_at: dict[QuotaId, list[UnitClass]] = {}
        self._giving_way_in: dict[QuotaId, list[UnitClass]] = {}
        self._tree_changed = False
        self.touched: Touched | None = None

    def begin(self, *, watch: bool = False) -> None:
        """Open a transaction: every change can be taken back. `watch`: `touched` tells what was written."""
        super().begin()
        self._tree_changed = False
        self.touched = Touched() if watch else None

    def commit(self) -> None:
        super().commit()
        self.touched = None

    def rollback(self) -> None:
        super().rollback()
        self.touched = None

    def log_stir(self, quota: Quota) -> None:
        """Tell whoever keeps an order that the use or the queue of this quota has changed, also when that is undone."""
        self.stirred.append(quota)
        if len(self.stirred) > STIRS_KEPT:
            self.stirred = []
            self.stirs_epoch += 1

    @property
    def trees(self) -> list[Tree]:
        """All trees, in the order of their roots."""
        return [root.tree for root in self.roots]

    @property
    def waiting_quotas(self) -> dict[QuotaId, Quota]:
        """All quotas in which a job waits."""
        return {name: quota for tree in self.trees for name, quota in tree.waiting.items()}

    @property
    def held(self) -> dict[JobId, Job]:
        """All jobs with a hold."""
        return {name: job for tree in self.trees for name, job in tree.held.items()}

    @property
    def elastic(self) -> dict[JobId, Job]:
        """All running jobs that may have more replicas than their core."""
        return {name: job for tree in self.trees for name, job in tree.elastic.items()}

    def _touch_job(self, job: Job) -> None:
        """Note that the record of this job has changed."""
        if self.touched is not None:
            self.touched.jobs[job.id] = None

    def _touch_quota(self, quota_id: QuotaId) -> None:
        """Note that the record of this quota has changed or is gone."""
        if self.touched is not None:
            self.touched.quotas[quota_id] = None


def limits_on(state: Facts, job: Job) -> tuple[AmountLimit, ...]:
    """Return the amount limits that bind this job (W3); all must hold, so the strictest decides."""
    return tuple(
        limit
        for limit in state.limits.get(job.quota.id, ())
        if limit.subject in job.spec.subjects and limit.low <= job.priority <= limit.high
    )
