"""What an eviction takes as one piece, and what it costs (P5, P6, P12).

A running job's core is one unit (it takes all other replicas along), each replica beyond the core is a unit, wanted or
surplus, and a hold is a unit without lost work (P9). A unit knows its places, its class (what policies look at) and how its cost grows with time:

    cost(now) = weight * milli-GPU * (overhead + age(now))        in milli-GPU x milliseconds

with age growing since the last checkpoint (DLC), capped at one hour (DSW), constant (EAS: an outage, or a wanted replica's
part of one; 0 for surplus), or returning to zero at every declared checkpoint interval.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from quotatree.core.model.job import Claim, Placed
from quotatree.core.model.policy import Module, bit_of
from quotatree.core.model.resources import ZERO, Resources

if TYPE_CHECKING:
    from quotatree.core.model.job import Job
    from quotatree.core.model.quota import Quota

RESTART_SMALL_MS: Final = 40_000
RESTART_LARGE_MS: Final = 60_000
SMALL_JOB_MILLI: Final = 8_000
NOTEBOOK_CAP_MS: Final = 3_600_000
NO_GPU_COUNTS_MILLI: Final = 100
SEARCH_READS: Final = 32
"""As many units of a bucket are read in the time in which one is searched for and removed."""
GPU_SECOND: Final = 1_000_000
"""One GPU-second in the unit of costs, milli-GPU x milliseconds."""


class UnitKind(Enum):
    __hash__ = object.__hash__  # each member is one object; an Enum would hash its name at every look-up

    CORE = "core"
    SURPLUS = "surplus"
    HOLD = "hold"
    WANTED = "wanted"


class UnitClass:
    """What eligibility and weight of units depend on. The state keeps one object for each, so that indexes can go by identity."""

    __slots__ = (
        "bit",
        "buckets",
        "claim",
        "index",
        "kind",
        "rung",
        "module",
        "priority",
        "quota",
        "standing",
        "weight",
    )

    def __init__(
        self, index: int, quota: Quota, priority: int, module: Module, kind: UnitKind, claim: Claim
    ) -> None:
        self.index = index
        self.quota = quota
        self.priority = priority
        self.module = module
        self.bit = bit_of(priority, module)
        self.kind = kind
        self.claim = claim
        counts_as_zero = claim is Claim.IDLE or kind is UnitKind.SURPLUS
        self.rung = 0 if counts_as_zero else priority
        self.weight = 1 if counts_as_zero else 1 << (priority - 1)
        self.standing = [0, 0, 0]
        self.buckets: dict[tuple[int, int | None], list[tuple[int, int, tuple[str, int], Unit]]] = {}

    def count(self, unit: Unit, sign: int) -> None:
        """Add (sign 1) or remove (sign -1) a unit; units are kept by size and checkpoint interval, cheapest first."""
        gpu_milli, cpu_milli, memory_mib = unit.footprint
        standing = self.standing
        standing[0] += gpu_milli * sign
        standing[1] += cpu_milli * sign
        standing[2] += memory_mib * sign
        key = (gpu_milli, unit.interval_ms)
        bucket = self.buckets.get(key)
        if bucket is None:
            bucket = self.buckets[key] = []
        entry = unit.order_entry()
        if sign > 0:
            insort(bucket, entry)
            return
        del bucket[bisect_left(bucket, entry)]
        if not bucket:
            del self.buckets[key]

    def remove_all(self, units: Sequence[Unit]) -> None:
        """Remove several units; a bucket that loses many of its units is read through once instead of searched for each."""
        here: dict[tuple[int, int | None], list[Unit]] = {}
        for unit in units:
            here.setdefault((unit.footprint[0], unit.interval_ms), []).append(unit)
        for key, alike in here.items():
            bucket = self.buckets[key]
            if len(alike) * SEARCH_READS < len(bucket):
                for unit in alike:
                    self.count(unit, -1)
                continue
            gone = set(alike)
            bucket[:] = [entry for entry in bucket if entry[3] not in gone]
            if not bucket:
                del self.buckets[key]
            freed = total_footprint(alike)
            self.standing = [stands - less for stands, less in zip(self.standing, freed, strict=True)]

    def clear(self) -> None:
        self.standing = [0, 0, 0]
        self.buckets.clear()


@dataclass(slots=True, eq=False, init=False, repr=False)
class Unit:
    """One evictable piece. Identity matters: a new run makes a new unit."""

    job: Job
    """The job it belongs to."""
    cls: UnitClass
    """What policies look at; `State.forget_classes` makes it another one when the tree has changed."""
    places: tuple[Placed, ...]
    """Where its replicas stand, or are promised to; other places make another unit."""
    nodes: tuple[int, ...]
    """Indexes of the nodes of its places, each once."""
    _by_node: dict[int, list[Placed]] | None
    """Its places by node; None: all are on one node."""
    footprint: Resources
    """What all its places take together."""
    name: tuple[str, int]
    """Tells units apart where all else is equal: the job, and -1 for a core or the number of its first replica."""
    started_ms: int
    """When it came to stand, then when the engine confirmed its start."""
    protected_until_ms: int
    """Until when `min_runtime` keeps it from preemption; 0: it does not (P11). `State.protect` changes it."""
    base: int
    """Constant part of its cost, in milli-GPU x milliseconds, weighed by priority; `price` sets it and the next four."""
    slope: int
    """What a millisecond of unsaved work adds to the cost; 0: the cost is constant."""
    anchor_ms: int
    """Since when work is unsaved: the last checkpoint, or the start."""
    cap_ms: int | None
    """Unsaved time counts up to this (notebooks); None: without end."""
    interval_ms: int | None
    """Unsaved time starts anew whenever this is over (declared checkpoints); None: it does not."""

    def __init__(self, job: Job, cls: UnitClass, places: tuple[Placed, ...], started_ms: int) -> None:
        self.job = job
        self.cls = cls
        self.places = places
        self.started_ms = started_ms
        self.protected_until_ms = 0
        gpu = cpu = memory = 0
        nodes: dict[int, list[Placed]] = {}
        for place in places:
            shape = place.shape
            gpu += shape[0]
            cpu += shape[1]
            memory += shape[2]
            nodes.setdefault(place.node, []).append(place)
        self.footprint = Resources(gpu, cpu, memory)
        self.nodes = tuple(nodes)
        self._by_node = nodes if len(nodes) > 1 else None
        self.name = (job.spec.id, -1 if cls.kind is UnitKind.CORE else places[0].replica)
        self.base = 0
        self.slope = 0
        self.cap_ms = None
        self.interval_ms = None
        self.anchor_ms = started_ms

    @property
    def is_surplus(self) -> bool:
        return self.cls.kind is UnitKind.SURPLUS

    def places_on(self, node: int) -> Sequence[Placed]:
        return self.places if self._by_node is None else self._by_node[node]

    def price(self, eas_outage_ms: int, checkpoint_ms: int | None) -> None:
        """Set the parameters of the cost from the job's module and its last checkpoint, None if there is none (P6)."""
        cls, spec = self.cls, self.job.spec
        self.base = self.constant_cost(eas_outage_ms)
        self.slope = 0
        self.anchor_ms = self.started_ms
        if cls.kind in (UnitKind.HOLD, UnitKind.SURPLUS) or cls.module is Module.EAS:
            return
        self.slope = cls.weight * (self.footprint.gpu_milli or NO_GPU_COUNTS_MILLI)
        self.anchor_ms = self.started_ms if checkpoint_ms is None else max(checkpoint_ms, self.started_ms)
        self.cap_ms = NOTEBOOK_CAP_MS if cls.module is Module.DSW else None
        self.interval_ms = spec.checkpoint_interval_ms if checkpoint_ms is None else None

    def constant_cost(self, eas_outage_ms: int) -> int:
        """Return the part of the cost that does not grow: the restart and, of a service, the outage (P6).

        A wanted replica beyond the core takes its part of an outage: one of all replicas that run.
        """
        cls = self.cls
        if cls.kind is UnitKind.HOLD:
            return 0
        gpu = self.footprint.gpu_milli or NO_GPU_COUNTS_MILLI
        lost_ms = RESTART_SMALL_MS if gpu <= SMALL_JOB_MILLI else RESTART_LARGE_MS
        if cls.module is Module.EAS and cls.kind is UnitKind.CORE:
            lost_ms += eas_outage_ms
        elif cls.module is Module.EAS and cls.kind is UnitKind.WANTED:
            lost_ms += eas_outage_ms // max(1, self.job.running_replicas)
        return cls.weight * gpu * lost_ms

    def age_ms(self, now_ms: int) -> int:
        """Return the unsaved time, in ms, that an eviction at `now_ms` would lose."""
        age = now_ms - self.anchor_ms
        if age < 0:
            return 0
        if self.interval_ms is not None:
            age %= self.interval_ms
        if self.cap_ms is not None and age > self.cap_ms:
            age = self.cap_ms
        return age

    def cost(self, now_ms: int) -> int:
        """Return what evicting this unit alone costs now, in milli-GPU x milliseconds, weighed by priority."""
        slope = self.slope
        if not slope:
            return self.base
        if self.interval_ms is None and self.cap_ms is None and now_ms > self.anchor_ms:
            return self.base + slope * (now_ms - self.anchor_ms)
        return self.base + slope * self.age_ms(now_ms)

    def order_entry(self) -> tuple[int, int, tuple[str, int], Unit]:
        """Return a key that sorts units of one class and size cheapest first at any time: the latest saved first, and of
        services, whose cost does not grow, those with the most replicas.

        With a declared checkpoint interval units are in a circle by phase instead; see quota_cover.py.
        """
        if self.interval_ms is not None:
            return (self.anchor_ms % self.interval_ms, -self.started_ms, self.name, self)
        return (-self.anchor_ms if self.slope else self.base, -self.started_ms, self.name, self)

    def lost_work(self, now_ms: int) -> int:
        """Return what `cost` does, without the weight of the priority (P6)."""
        return self.cost(now_ms) // self.cls.weight

    def __repr__(self) -> str:
        return f"Unit({self.name[0]}, {self.cls.kind.value})"


def total_footprint(units: Sequence[Unit]) -> Resources:
    """Return what all these units take together."""
    if len(units) == 1:
        return units[0].footprint
    if not units:
        return ZERO
    gpu, cpu, memory = zip(*[unit.footprint for unit in units], strict=True)
    return Resources(sum(gpu), sum(cpu), sum(memory))


def companions(unit: Unit) -> list[Unit]:
    """Return the units that an eviction of this one takes along: for a core its job's other units, else none (P12)."""
    job = unit.job
    if not job.composite or unit.cls.kind is not UnitKind.CORE:
        return []
    return [*job.extras.values(), *([job.hold.unit] if job.hold is not None else [])]


def eviction_cost(unit: Unit, now_ms: int) -> int:
    """Return the cost of evicting `unit` with all it takes along, in milli-GPU x milliseconds, weighed by priority."""
    cost = unit.cost(now_ms)
    if unit.job.extras and unit.cls.kind is UnitKind.CORE:
        cost += sum(extra.cost(now_ms) for extra in unit.job.extras.values())
    return cost


def eviction_lost_work(unit: Unit, now_ms: int) -> int:
    """Return the work that evicting `unit` with all it takes along loses, in milli-GPU x milliseconds (P6)."""
    return unit.lost_work(now_ms) + sum(other.lost_work(now_ms) for other in companions(unit))


def eviction_frees(unit: Unit) -> Resources:
    """Return what evicting `unit` with all it takes along frees."""
    freed = unit.footprint
    for other in companions(unit):
        freed = freed.plus(other.footprint)
    return freed
