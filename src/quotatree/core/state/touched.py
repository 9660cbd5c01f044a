"""What did a transaction write? Whoever keeps the state in a store writes just these rows.

Only what cannot be worked out from the rest counts: counters, indexes and queues are not written, they follow. It may
name something that was written and taken back again, or that is gone: compare with the state.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from quotatree.core.model.job import Hold, Job, JobId
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.wait_queue import WaitQueue

KEPT_OF_QUOTA: Final = frozenset({"spec", "min", "actual", "shrinking", "shadow", "guard", "guard_nodes"})


@dataclass(slots=True)
class Touched:
    """Names, in the order in which they were first written."""

    jobs: dict[JobId, None] = field(default_factory=dict)
    quotas: dict[QuotaId, None] = field(default_factory=dict)
    nodes: dict[str, None] = field(default_factory=dict)
    pools: dict[str, None] = field(default_factory=dict)

    def note(self, target: Any, name: str) -> None:
        """An attribute was assigned."""
        if isinstance(target, Job):
            self.jobs[target.id] = None
        elif isinstance(target, Quota):
            if name in KEPT_OF_QUOTA:
                self.quotas[target.id] = None
        elif isinstance(target, WaitQueue):
            self.quotas[target.owner] = None
        elif isinstance(target, Hold) and name == "waiting_on":
            self.jobs[target.unit.job.id] = None
