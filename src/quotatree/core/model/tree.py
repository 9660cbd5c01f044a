"""What belongs to a whole tree of quotas and not to one of them: every quota of the tree shares it as `quota.tree`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quotatree.core.model.effort import Unfinished
    from quotatree.core.model.job import Job, JobId
    from quotatree.core.model.policy import Module
    from quotatree.core.model.quota import Quota, QuotaId
    from quotatree.core.model.rights import Against

Changes = tuple[int, int, int]
"""What differs whenever something stands elsewhere than before (`State.all_changes`)."""


@dataclass(slots=True, eq=False)
class Tree:
    """The record of one tree; it exists as long as its root."""

    root: Quota
    """The quota at the top; never another one."""
    pools: frozenset[str] = field(init=False)
    """Names of the pools that the root draws on; never others."""
    numbered: list[Quota] = field(default_factory=list)
    """All quotas by their number `tin`; set together with the numbers (state/tree_numbers.py)."""
    version: int = 0
    """Rises whenever something may have become possible in the tree; a rollback sets it back (state/memory.py)."""
    rights: int = 0
    """Rises whenever quotas of the tree come, go or are declared otherwise; a rollback sets it back."""
    against: dict[tuple[int, Module], Against] = field(default_factory=dict)
    """Quotas whose policies name work of a priority and module; filled when asked, emptied when `rights` change."""
    above_min: dict[QuotaId, tuple[Changes, list[Quota]]] = field(default_factory=dict)
    """By quota: its children that are above their min; as of these changes, emptied when `rights` change (search/eligible.py)."""
    too_little: dict[tuple[object, ...], tuple[Changes, int, int]] = field(default_factory=dict)
    """What searches had on offer in all, where it was too little: as of these changes and this time; emptied when `rights` change
    (search/quota_cover.py)."""
    closed: list[Quota] | None = None
    """The topmost quotas that do not lend (I2); None: not asked for since `rights` changed."""
    sharing: list[Quota] | None = None
    """The topmost quotas with fair borrowing (I4); None: not asked for since `rights` changed."""
    pool_mates: tuple[Tree, ...] = ()
    """Trees that draw on a pool of this one, itself included; set by `State.reshape`."""
    together: tuple[Tree, ...] = ()
    """Trees linked to this one by shared pools, directly or through others, in their order; the same for all of them."""
    waiting: dict[QuotaId, Quota] = field(default_factory=dict)
    """Quotas of the tree in which a job waits."""
    standing: dict[QuotaId, Quota] = field(default_factory=dict)
    """Quotas of the tree whose queue remembers who stood where (S3)."""
    held: dict[JobId, Job] = field(default_factory=dict)
    """Jobs of the tree with a hold (P9)."""
    elastic: dict[JobId, Job] = field(default_factory=dict)
    """Running jobs of the tree that may have more replicas than their core (P12)."""
    idle_units: int = 0
    """Number of units on idle claims in the tree and in its pool mates; counted as units come and go."""
    surplus_units: int = 0
    """Number of regular surplus replicas in the tree, which give way to any regular request of it (P12)."""
    pool_used: dict[str, int] = field(default_factory=dict)
    """Milli-GPU that stand in each pool, by its name; kept only where the root draws on several pools."""
    loans: bool = False
    """False: no quota of the tree is above its min. True: one may be; every plan looks again."""
    unfinished: Unfinished | None = None
    """What the last plan left to the next, if it was cut short; kept at the first tree of those that share pools."""
    shares_reserved: bool = False
    """Whether a quota of the tree has a reserved part (Q8)."""
    guard: JobId | None = None
    """The job for which the starvation guard keeps capacity (S10); None: there is none."""
    guard_nodes: frozenset[int] = frozenset()
    """Indexes of the nodes that are kept for that job; empty without a guard."""

    def __post_init__(self) -> None:
        self.pools = frozenset(pool for pool, _ in self.root.spec.draws)

    def quotas(self) -> list[Quota]:
        """Return all quotas of the tree, parents before their children."""
        return list(self.root.subtree())
