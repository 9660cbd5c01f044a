"""What did a transaction write? Whoever keeps the state in a store writes just these rows.

Only what cannot be worked out from the rest counts: counters, indexes and queues are not written, they follow. Each
method of the state that writes what a record keeps enters the name here. It may name something that was written and
taken back again, or that is gone: compare with the state.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from quotatree.core.model.job import JobId
from quotatree.core.model.quota import QuotaId


@dataclass(slots=True)
class Touched:
    """Names, in the order in which they were first written."""

    jobs: dict[JobId, None] = field(default_factory=dict)
    quotas: dict[QuotaId, None] = field(default_factory=dict)
    nodes: dict[str, None] = field(default_factory=dict)
    pools: dict[str, None] = field(default_factory=dict)
