"""A node and its devices: which units stand where, what is free by plan, and what is free at this very moment.

Three amounts are kept for every device (and for CPU and memory of the node):

    free     capacity - running - held              what the plan may still give away
    leaving  what evicted replicas still occupy     until the engine confirms (P9)
    held     what holds have promised               overlaps `leaving`

A replica may start at once where `free - max(0, leaving - held)` is enough; a hold needs only `free`. A device that is
ill has nothing free and no unit stands on it, so nothing is placed there and no eviction could free it.

What others use (`foreign`, R6) is taken off what is free: CPU and memory as amounts, GPUs as devices that have nothing free
like ill ones. Where our own work leaves too little for that, the node is `crowded`: it suits nobody until there is enough.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from quotatree.core.model.job import JobId, Placed, Shape
from quotatree.core.model.resources import WHOLE_GPU, ZERO, Resources
from quotatree.core.model.unit import Unit

GONE: Final = ("quotatree.io/gone", "true")
"""Label of a node that is gone for good: its number, which places refer to, is kept, empty, for one of its name that may come."""


class NodeState(Enum):
    READY = "Ready"
    CORDONED = "Cordoned"
    DRAINING = "Draining"
    LOST = "Lost"


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """A node as declared (R2)."""

    name: str
    """One of a kind among all nodes."""
    pool: str = "default"
    """Name of the pool that roots draw on."""
    model: str = "GPU"
    """Model of its GPUs; all of one node are of one model (R4)."""
    gpus: int = 8
    """How many devices it has; they are numbered from 0 on."""
    cpu_milli: int = 128_000
    """CPU for jobs, in thousandths of a core."""
    memory_mib: int = 1_048_576
    """Memory for jobs, in MiB."""
    labels: tuple[tuple[str, str], ...] = ()
    """Keys and values that requests may ask for; "rack" says which nodes stand together."""

    @property
    def size(self) -> Resources:
        """All that jobs may use of it when it is empty."""
        return Resources(self.gpus * WHOLE_GPU, self.cpu_milli, self.memory_mib)


class Share(NamedTuple):
    """What one unit has on one node."""

    unit: Unit
    whole: int
    fractions: tuple[tuple[int, int], ...]  # (device, milli)
    cpu_milli: int
    memory_mib: int


@dataclass(slots=True, eq=False, init=False, repr=False)
class Node:
    """The record of one node. Lists have one amount for each device, in milli-GPU."""

    index: int
    """Its place in `State.nodes`; ties are broken by it."""
    spec: NodeSpec
    """What was declared; `State.alter_node` changes it."""
    labels: dict[str, str]
    """The declared labels."""
    rack: str
    """Its label "rack"; empty without one."""
    state: NodeState
    """Whether new work may land here; `State.set_node_state` changes it."""
    cordoned: bool
    """Whether it was cordoned or draining when it was lost, and comes back so (R5); False unless it is lost."""
    ill: frozenset[int]
    """Numbers of the devices that are out of order; `State.set_device` changes it."""
    foreign: Resources
    """What others than our jobs use here (R6); `State.set_foreign` changes it and the next two."""
    foreign_devices: frozenset[int]
    """Numbers of the devices counted for others: as many as they use, or as our work leaves them."""
    crowded: bool
    """Whether others and our work together use more than there is; nothing new lands then."""
    free: list[int]
    """Not given away by plan: neither running nor held; 0 on a device that is ill."""
    held: list[int]
    """Promised by holds."""
    leaving: list[int]
    """Still occupied by replicas that were told to end."""
    free_cpu: int
    """As `free`, in thousandths of a core."""
    free_memory: int
    """As `free`, in MiB."""
    held_cpu: int
    """As `held`, in thousandths of a core."""
    held_memory: int
    """As `held`, in MiB."""
    leaving_cpu: int
    """As `leaving`, in thousandths of a core."""
    leaving_memory: int
    """As `leaving`, in MiB."""
    leavers: dict[tuple[JobId, int], Placed]
    """Places of replicas that are leaving, by job and number of the replica."""
    whole_free: int
    """How many devices are entirely free by plan."""
    _whole_now: int | None
    """How many are entirely free at this moment; None: to be counted when asked."""
    shared: int
    """How many replicas stand here on a fraction of a device."""
    units: dict[Unit, Share]
    """Units that stand here, holds included, and what each has here."""
    stamp: int
    """Rises with every change, so that indexes notice."""

    def __init__(self, index: int, spec: NodeSpec) -> None:
        self.index = index
        self.spec = spec
        self.labels = dict(spec.labels)
        self.rack = self.labels.get("rack", "")
        self.state = NodeState.READY
        self.cordoned = False
        self.ill = frozenset()
        self.foreign = ZERO
        self.foreign_devices = frozenset()
        self.crowded = False
        self.free = [WHOLE_GPU] * spec.gpus
        self.held = [0] * spec.gpus
        self.leaving = [0] * spec.gpus
        self.free_cpu = spec.cpu_milli
        self.free_memory = spec.memory_mib
        self.held_cpu = self.held_memory = 0
        self.leaving_cpu = self.leaving_memory = 0
        self.leavers = {}
        self.whole_free = spec.gpus
        self._whole_now = spec.gpus
        self.shared = 0
        self.units = {}
        self.stamp = 0

    @property
    def gone(self) -> bool:
        """Whether it is gone for good: it has nothing, and is shown to nobody."""
        return GONE in self.spec.labels

    def copy(self) -> Node:
        """Return a copy of the node; `put` and `take_away` on one do not change the other."""
        twin = Node.__new__(Node)
        for name in Node.__slots__:
            setattr(twin, name, getattr(self, name))
        twin.free, twin.held, twin.leaving = list(self.free), list(self.held), list(self.leaving)
        twin.leavers, twin.units = dict(self.leavers), dict(self.units)
        return twin

    @property
    def whole_now(self) -> int:
        """Number of devices that are entirely free at this moment."""
        if self._whole_now is None:
            amounts = zip(self.free, self.leaving, self.held, strict=True)
            self._whole_now = sum([free == WHOLE_GPU and leaving <= held for free, leaving, held in amounts])
        return self._whole_now

    @property
    def schedulable(self) -> bool:
        return self.state is NodeState.READY and not self.crowded

    @property
    def reduced(self) -> bool:
        """Whether less can be used of it than was declared: it is not ready, a device is ill, or others use some of it."""
        return self.state is not NodeState.READY or bool(self.ill) or self.crowded or self.foreign != ZERO

    def suits(self, shape: Shape) -> bool:
        """Return whether the node is ready and could, if empty, hold a replica of this shape: model, labels, size."""
        return self.state is NodeState.READY and not self.crowded and self.accepts(shape)

    def accepts(self, shape: Shape) -> bool:
        """Return whether the node could, if empty, hold a replica of this shape, in whatever state it is."""
        spec = self.spec
        if (shape.models or shape.labels) and not self.welcomes(shape):
            return False
        return (
            shape.gpu_milli <= spec.gpus * WHOLE_GPU
            and shape.cpu_milli <= spec.cpu_milli
            and shape.memory_mib <= spec.memory_mib
        )

    def welcomes(self, shape: Shape) -> bool:
        """Return whether the node is of a model, and has the labels, that this shape asks for."""
        if shape.models and self.spec.model not in shape.models:
            return False
        return all(self.labels.get(key) == value for key, value in shape.labels)

    @property
    def usable(self) -> Resources:
        """What our jobs could use if none of them ran: without ill devices and without what others use."""
        gpus, spec = self.spec.gpus - len(self.ill) - len(self.foreign_devices), self.spec
        return Resources(
            gpus * WHOLE_GPU,
            max(0, spec.cpu_milli - self.foreign.cpu_milli),
            max(0, spec.memory_mib - self.foreign.memory_mib),
        )

    def slots_when_empty(self, shape: Shape) -> int:
        """Return how many replicas of this shape what is usable of the node would hold if none of our jobs ran there."""
        return _slots_in_all_of(self.usable, shape)

    def slots_when_well(self, shape: Shape) -> int:
        """Return how many replicas of this shape the node would hold if it were empty and all of it usable."""
        return _slots_in_all_of(self.spec.size, shape)

    def slots(self, shape: Shape, now: bool) -> int:
        """Return how many replicas of this shape fit on the node, which is known to suit: at this moment, or by plan."""
        cpu, memory = self.free_cpu, self.free_memory
        if now and self.leavers:
            cpu, memory = self._left_beside_leavers()
        whole = self.whole_now if now else self.whole_free
        devices = self.left(now)[0] if 0 < shape[0] < WHOLE_GPU else ()
        return slots_in(shape, whole, 0, devices, cpu, memory)

    def device_free(self, device: int, now: bool) -> int:
        free = self.free[device]
        if now and self.leaving[device]:
            free -= max(0, self.leaving[device] - self.held[device])
            return max(0, free)  # below 0 where a replica is leaving a device that is ill
        return free

    def left(self, now: bool) -> tuple[list[int], int, int]:
        """Return what is left, at this moment or by plan: milli-GPU by device, milli-CPU, MiB. To be read, not written."""
        if not (now and self.leavers):
            return self.free, self.free_cpu, self.free_memory
        amounts = zip(self.free, self.leaving, self.held, strict=True)
        devices = [max(0, free - max(0, leaves - held)) if leaves else free for free, leaves, held in amounts]
        return devices, *self._left_beside_leavers()

    def _left_beside_leavers(self) -> tuple[int, int]:
        """Return the milli-CPU and MiB left at this moment: 0 where others have come to use what is still being left (R6)."""
        cpu = self.free_cpu - max(0, self.leaving_cpu - self.held_cpu)
        memory = self.free_memory - max(0, self.leaving_memory - self.held_memory)
        return max(0, cpu), max(0, memory)

    def overbooked_with(self, cpu_milli: int, memory_mib: int) -> bool:
        """Return whether there is too little CPU or memory for this much more until leaving replicas have left."""
        cpu, memory = self._left_beside_leavers()
        return cpu_milli > cpu or memory_mib > memory

    # -- changes; the state calls these in pairs -----------------------------------------------------------

    def put(self, unit: Unit, held: bool) -> None:
        """Place `unit` on its devices of this node; `held`: it is a hold."""
        whole = cpu = memory = 0
        fractions: list[tuple[int, int]] = []
        free = self.free
        for _, _, devices, shape in unit.places_on(self.index):
            cpu += shape[1]
            memory += shape[2]
            milli = shape[0]
            if milli >= WHOLE_GPU:
                whole += len(devices)
                milli = WHOLE_GPU
            elif milli:
                fractions.append((devices[0], milli))
            for device in devices:
                free[device] -= milli
                if held:
                    self.held[device] += milli
        self.free_cpu -= cpu
        self.free_memory -= memory
        if held:
            self.held_cpu += cpu
            self.held_memory += memory
        self.shared += len(fractions)
        self.units[unit] = Share(unit, whole, tuple(fractions), cpu, memory)
        self._changed()

    def take_away(self, unit: Unit, held: bool) -> None:
        """Undo `put` of a unit."""
        share = self.units.pop(unit)
        free = self.free
        for _, _, devices, shape in unit.places_on(self.index):
            milli = min(shape[0], WHOLE_GPU)
            for device in devices:
                free[device] += milli
                if held:
                    self.held[device] -= milli
        self.free_cpu += share.cpu_milli
        self.free_memory += share.memory_mib
        if held:
            self.held_cpu -= share.cpu_milli
            self.held_memory -= share.memory_mib
        self.shared -= len(share.fractions)
        self._changed()

    def vacate(self, units: list[Unit]) -> None:
        """Take these units away, none of them a hold, whose replicas leave from now on: `take_away` and `leave` in one."""
        free, leaving, leavers, index = self.free, self.leaving, self.leavers, self.index
        standing = self.units
        cpu = memory = shared = 0
        for unit in units:
            _, _, fractions, cpu_milli, memory_mib = standing.pop(unit)
            job_id = unit.job.id
            for place in unit.places_on(index):
                replica, _, devices, shape = place
                milli = shape[0] if shape[0] < WHOLE_GPU else WHOLE_GPU
                for device in devices:
                    free[device] += milli
                    leaving[device] += milli
                leavers[job_id, replica] = place
            cpu += cpu_milli
            memory += memory_mib
            shared += len(fractions)
        self.free_cpu += cpu
        self.free_memory += memory
        self.leaving_cpu += cpu
        self.leaving_memory += memory
        self.shared -= shared
        self._changed()

    def leave(self, job_id: JobId, place: Placed, sign: int) -> None:
        """Count (sign 1) or discount (sign -1) a replica that is leaving `place`."""
        replica, _, devices, shape = place
        milli = min(shape[0], WHOLE_GPU) * sign
        for device in devices:
            self.leaving[device] += milli
        self.leaving_cpu += shape[1] * sign
        self.leaving_memory += shape[2] * sign
        if sign > 0:
            self.leavers[job_id, replica] = place
        else:
            del self.leavers[job_id, replica]
        self.stamp += 1
        self._whole_now = self.whole_free if not self.leavers else None

    def count_foreign(self, use: Resources, devices: frozenset[int], crowded: bool) -> None:
        """Count what others use: CPU and memory, and GPUs as these devices, on which no unit stands."""
        for device in self.foreign_devices - devices:
            self.free[device] = WHOLE_GPU
        for device in devices - self.foreign_devices:
            self.free[device] = 0
        self.free_cpu += self.foreign.cpu_milli - use.cpu_milli
        self.free_memory += self.foreign.memory_mib - use.memory_mib
        self.foreign, self.foreign_devices, self.crowded = use, devices, crowded
        self._changed()

    def respecify(self, spec: NodeSpec) -> None:
        """Take other properties; the devices that go, the last ones, are well, free and left by everybody."""
        more = spec.gpus - self.spec.gpus
        if more < 0:
            del self.free[spec.gpus :], self.held[spec.gpus :], self.leaving[spec.gpus :]
        self.free += [WHOLE_GPU] * more
        self.held += [0] * more
        self.leaving += [0] * more
        self.free_cpu += spec.cpu_milli - self.spec.cpu_milli
        self.free_memory += spec.memory_mib - self.spec.memory_mib
        self.spec = spec
        self.labels = dict(spec.labels)
        self.rack = self.labels.get("rack", "")
        self._changed()

    def set_ill(self, device: int, ill: bool) -> None:
        """Mark a device, on which no unit stands, as ill or as well."""
        self.ill = self.ill | {device} if ill else self.ill - {device}
        self.free[device] = 0 if ill else WHOLE_GPU
        self._changed()

    def touch(self) -> None:
        self.stamp += 1

    def _changed(self) -> None:
        self.stamp += 1
        self.whole_free = self.free.count(WHOLE_GPU)
        self._whole_now = self.whole_free if not self.leavers else None


def _slots_in_all_of(room: Resources, shape: Shape) -> int:
    gpus = room.gpu_milli // WHOLE_GPU
    return slots_in(shape, gpus, gpus, (), room.cpu_milli, room.memory_mib)


def slots_in(
    shape: Shape, whole: int, apart: int, devices: Iterable[int], cpu_milli: int, memory_mib: int
) -> int:
    """Return how many replicas of a shape fit into what is free: `whole` entire devices, and for parts of one what each of these
    `devices` has, in milli-GPU, and `apart` entire ones that are not among them."""
    wanted, count = shape[0], 1 << 30
    if wanted >= WHOLE_GPU:
        count = whole // (wanted // WHOLE_GPU)
    elif wanted:
        count = sum([free // wanted for free in devices]) + apart * (WHOLE_GPU // wanted)
    if shape[1]:
        count = min(count, cpu_milli // shape[1])
    if shape[2]:
        count = min(count, memory_mib // shape[2])
    return max(0, count)
