"""What did a transaction write? A store that keeps the state writes just these rows.

Only what a record keeps counts: counters, indexes and queues follow from it. Each method of the state that writes such a
value enters the name here. A name may be of something that was written and taken back again, or that is gone: compare
with the state.
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
