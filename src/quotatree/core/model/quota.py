"""What is a quota: how it was declared, where it stands in its tree, and what is counted of it as work comes and goes?

What these figures mean for a start, a loan or a guarantee is said in quota_arithmetic.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, NewType

from quotatree.core.model.noun_fields import Changed, said, table_of
from quotatree.core.model.noun_fields import ValueKind as Kind
from quotatree.core.model.policy import NO_SELF_LEVEL, ChildLevel, SelfLevels, Strategy
from quotatree.core.model.resources import UNBOUNDED, ZERO, Bounds, Resources
from quotatree.core.model.tree import Tree

if TYPE_CHECKING:
    from quotatree.core.model.job import Job, JobId
    from quotatree.core.model.wait_queue import WaitQueue

QuotaId = NewType("QuotaId", str)

MAX_DEPTH: Final = 8
MAX_CHILDREN: Final = 500


@dataclass(frozen=True, slots=True)
class QuotaSpec:
    """A quota as declared. A root names its draws, every other quota its parent (Q1).

    These are all fields of a quota, for every edge: a new one is an entry here and its behaviour.
    """

    id: QuotaId = field(
        metadata=said(Kind.NAME, "Q1", "One of a kind in all trees.", Changed.NEVER),
    )
    parent: QuotaId | None = field(
        default=None,
        metadata=said(Kind.NAME, "Q1", "The quota above; a root has none.", Changed.NEVER),
    )
    min: Bounds = field(
        default=UNBOUNDED,
        metadata=said(
            Kind.BOUNDS,
            "Q3",
            "Guarantee and cap of regular work; of a root, the sum of its draws.",
            Changed.SCALING,
        ),
    )
    """What it was created with; `Quota.min` is what holds now."""
    draws: tuple[tuple[str, Bounds], ...] = field(
        default=(),
        metadata=said(
            Kind.DRAWS,
            "Q1",
            "A root only: what it takes from each pool. The pools are fixed after creation.",
            Changed.SCALING,
        ),
    )
    reserved: Resources = field(
        default=ZERO,
        metadata=said(
            Kind.RESOURCES, "Q8", "Part of its min that jobs outside its subtree may not use or take."
        ),
    )
    strategy: Strategy = field(
        default=Strategy.INTELLIGENT,
        metadata=said(
            Kind.STRATEGY,
            "S1",
            "In which order its waiting jobs are tried, and which of them block others (S1 to S4).",
        ),
    )
    self_level: SelfLevels = field(
        default=NO_SELF_LEVEL,
        metadata=said(
            Kind.SELF_LEVEL,
            "P1",
            "Which jobs its jobs may preempt in the quota itself and, by their scope, in siblings.",
        ),
    )
    child_level: ChildLevel | None = field(
        default=None,
        metadata=said(Kind.CHILD_LEVEL, "P2", "Which jobs its jobs may preempt in the quotas below."),
    )
    weight: Bounds | None = field(
        default=None,
        metadata=said(
            Kind.BOUNDS,
            "S6",
            "What its share is measured against among its siblings; of a resource not named, its min.",
            unset="its min",
        ),
    )
    fair_idle: bool = field(
        default=False,
        metadata=said(Kind.FLAG, "I4", "Whether what idle jobs below it borrow is divided by share."),
    )
    lending: bool = field(
        default=True,
        metadata=said(
            Kind.FLAG, "I2", "Whether idle work from outside may use what its subtree leaves of its min."
        ),
    )
    idle_limit_milli: int | None = field(
        default=None,
        metadata=said(Kind.GPUS, "I2", "Most that its own jobs may use on idle claims."),
    )
    min_runtime_ms: int | None = field(
        default=None,
        metadata=said(
            Kind.DURATION,
            "P11",
            "How long its jobs are safe from preemption after their start; not set, as in the quota above.",
        ),
    )
    preemption_delay_ms: int | None = field(
        default=None,
        metadata=said(
            Kind.DURATION,
            "P11",
            "How long its jobs wait before they preempt; not set, as in the quota above.",
        ),
    )
    name: str = field(default="", metadata=said(Kind.TITLE, "Q6", "What people call it; decides nothing."))
    description: str = field(
        default="", metadata=said(Kind.TEXT, "Q6", "What people say about it; decides nothing.")
    )
    labels: tuple[tuple[str, str], ...] = field(
        default=(), metadata=said(Kind.LABELS, "Q6", "Keys and values to sort it by; decide nothing.")
    )


QUOTA_FIELDS: Final = table_of(QuotaSpec)
QUOTA_SETTINGS: Final = tuple(one for one in QUOTA_FIELDS if one.changed is Changed.UPDATE)
"""The fields that an update may change (Q6)."""


class AmountLimit(NamedTuple):
    """How much the jobs of one subject may use at once in one quota, for a range of priorities (W3)."""

    quota: str
    subject: str
    low: int
    high: int
    gpu_milli: int


@dataclass(slots=True, eq=False)
class Quota:
    """The record of one quota. Amounts are [milli-GPU, milli-CPU, MiB]; written only by the state's own methods."""

    spec: QuotaSpec
    """What is declared; an update and the scaling of a root make it another value."""
    parent: Quota | None
    """The quota above; None: this is a root. Never another one."""
    queue: WaitQueue
    """Its own waiting jobs."""
    children: list[Quota] = field(default_factory=list)
    """The quotas right below, in their `order`; changed as quotas come and go."""
    id: QuotaId = field(init=False)
    """Its name, as declared; never another one."""
    path: tuple[Quota, ...] = field(init=False)
    """This quota first, then those above it, the root last."""
    root: Quota = field(init=False)
    """The last of its path."""
    depth: int = field(init=False)
    """The length of its path; a root has 1."""
    tree: Tree = field(init=False)
    """What it shares with all quotas of its tree."""
    tin: int = 0
    """Its number in the tree: the root has 0, parents come before children; `State.reshape` counts anew."""
    tout: int = 0
    """The first number after its subtree, which is the interval from `tin` on."""
    min: list[int | None] = field(default_factory=lambda: [None, None, None])
    """Guarantee and cap, as desired now (Q5); None: the resource is not bounded here. Scalings change it."""
    named: tuple[tuple[int, int], ...] = ()
    """The resources that `min` bounds, as (resource, bound); changes with it."""
    actual: list[int | None] = field(default_factory=lambda: [None, None, None])
    """What holds after a lazy scaling: follows use down to `min` (Q5); None: not bounded."""
    used: list[int] = field(default_factory=lambda: [0, 0, 0])
    """What regular work and holds of its subtree use now."""
    own_used: list[int] = field(default_factory=lambda: [0, 0, 0])
    """The part of `used` that is of its own jobs."""
    own_by_priority: dict[int, list[int]] = field(default_factory=dict)
    """The same by the priority of those jobs; a priority may be missing or 0."""
    surplus: list[int] = field(default_factory=lambda: [0, 0, 0])
    """The part of `used` that is of surplus replicas: it gives way to regular work that fits then (P12)."""
    ending: list[int] = field(default_factory=lambda: [0, 0, 0])
    """What regular work of its own jobs still occupies that was cancelled, stopped or made smaller; not in `used` (P9)."""
    idle: list[int] = field(default_factory=lambda: [0, 0, 0])
    """What idle claims of its subtree use now."""
    own_idle: list[int] = field(default_factory=lambda: [0, 0, 0])
    """The part of `idle` that is of its own jobs."""
    kept: list[int] = field(default_factory=lambda: [0, 0, 0])
    """What must stay free for the parts of `reserved`, here and below, that are not in use; only where any is (Q8)."""
    kept_below: list[int] = field(default_factory=lambda: [0, 0, 0])
    """The sum of `kept` of its children."""
    shadow: list[int] = field(default_factory=lambda: [0, 0, 0])
    """What the starvation guard keeps here for its job; 0 without one (S10)."""
    jobs: dict[JobId, Job] = field(default_factory=dict)
    """Its own jobs that are not finished, by name."""
    shrinking: bool = False
    """Whether more is used than `min` allows since it was lowered; until it is not, `actual` follows use down (Q5)."""
    min_runtime_ms: int = 0
    """How long its jobs are safe after their start, by its own or an inherited declaration; 0: not at all (P11)."""
    preemption_delay_ms: int = 0
    """How long its jobs wait before they preempt, own or inherited; 0: not at all (P11)."""
    order: int = 0
    """Rises with every quota made; siblings, and roots, stand in this order."""

    def __post_init__(self) -> None:
        self.id = self.spec.id
        self.path = (self,) if self.parent is None else (self, *self.parent.path)
        self.root, self.depth = self.path[-1], len(self.path)
        self.tree = Tree(self) if self.parent is None else self.parent.tree

    def contains(self, other: Quota) -> bool:
        """Return whether `other` is this quota or below it."""
        return self.tin <= other.tin < self.tout and self.tree is other.tree

    def subtree(self) -> Iterator[Quota]:
        yield self
        for child in self.children:
            yield from child.subtree()

    def siblings(self) -> list[Quota]:
        """Return the other quotas with the same parent. Roots have none (Q1)."""
        if self.parent is None:
            return []
        return [child for child in self.parent.children if child is not self]

    def set_min(self, bounds: Iterable[int | None]) -> None:
        self.min = list(bounds)
        self.named = tuple((i, m) for i, m in enumerate(self.min) if m is not None)
