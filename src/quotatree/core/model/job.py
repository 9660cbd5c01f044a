"""What a job asks for, and what has become of it.

`JobSpec` is the request once it is checked, a value; a request and its parts are known from here too. `Job` is the record the state keeps: phase, claim, replicas that run, a hold,
replicas that are leaving. Phases move only along TRANSITIONS (A5).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import Enum
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from quotatree.core.errors import IllegalTransition, Refused
from quotatree.core.model.job_request import DEFAULT_GRACE_MS as DEFAULT_GRACE_MS
from quotatree.core.model.job_request import Idle as Idle
from quotatree.core.model.job_request import JobId as JobId
from quotatree.core.model.job_request import JobRequest as JobRequest
from quotatree.core.model.job_request import ReplicaGroup as ReplicaGroup
from quotatree.core.model.job_request import Shape as Shape
from quotatree.core.model.policy import HIGHEST_PRIORITY, LOWEST_PRIORITY, Module
from quotatree.core.model.resources import WHOLE_GPU, ZERO, Resources

if TYPE_CHECKING:
    from quotatree.core.model.quota import Quota
    from quotatree.core.model.unit import Unit
    from quotatree.core.reasons import Reason


class Claim(Enum):
    """Whether a job runs within quotas or on idle capacity (P3)."""

    __hash__ = object.__hash__  # each member is one object; an Enum would hash its name at every look-up

    REGULAR = "regular"
    IDLE = "idle"


class Phase(Enum):
    __hash__ = object.__hash__  # each member is one object; an Enum would hash its name at every look-up

    WAITING = "Waiting"
    HELD = "Held"
    RUNNING = "Running"
    STOPPED = "Stopped"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    CANCELLED = "Cancelled"


TRANSITIONS: Final[dict[Phase, frozenset[Phase]]] = {
    # A victim may come to its end during its grace, when it already waits for its next run or has a hold for it.
    Phase.WAITING: frozenset(
        {Phase.HELD, Phase.RUNNING, Phase.STOPPED, Phase.SUCCEEDED, Phase.FAILED, Phase.CANCELLED}
    ),
    Phase.HELD: frozenset({Phase.WAITING, Phase.RUNNING, Phase.SUCCEEDED, Phase.FAILED, Phase.CANCELLED}),
    Phase.RUNNING: frozenset({Phase.WAITING, Phase.STOPPED, Phase.SUCCEEDED, Phase.FAILED, Phase.CANCELLED}),
    Phase.STOPPED: frozenset({Phase.WAITING, Phase.SUCCEEDED, Phase.FAILED, Phase.CANCELLED}),
    Phase.SUCCEEDED: frozenset(),
    Phase.FAILED: frozenset(),
    Phase.CANCELLED: frozenset(),
}

FINAL_PHASES: Final = frozenset({Phase.SUCCEEDED, Phase.FAILED, Phase.CANCELLED})


@dataclass(frozen=True, slots=True)
class JobSpec(JobRequest):
    """A request that has been checked. A value: a resize makes another one."""

    wanted_replicas: int = field(init=False, repr=False, compare=False)
    """Number of replicas that the job asks for with all its rights, the core among them (P12)."""
    core_replicas: int = field(init=False, repr=False, compare=False)
    """Number of replicas that must start together, without which the job cannot run (P12)."""
    most_replicas: int = field(init=False, repr=False, compare=False)
    """Number of replicas that the job can use; what runs beyond `wanted_replicas` is surplus (P12)."""

    def __post_init__(self) -> None:
        if not LOWEST_PRIORITY <= self.priority <= HIGHEST_PRIORITY:
            raise Refused("priority", self.priority, "J2", "must be 1..9")
        if not self.groups:
            raise Refused("groups", [], "J3", "a job needs at least one replica group")
        for group in self.groups:
            _check_group(group)
        self._count_replicas()
        if self.min_replicas is not None or self.max_replicas is not None:
            _check_sizes(self)
        if self.grace_ms < 0:
            raise Refused("grace", f"{self.grace_ms}ms", "P14", "must not be negative")
        if self.checkpoint_interval_ms is not None and self.checkpoint_interval_ms < 1:
            raise Refused(
                "checkpoint_interval", f"{self.checkpoint_interval_ms}ms", "P6", "must be more than 0"
            )
        if self.max_preemptions is not None and self.max_preemptions < 0:
            raise Refused("max_preemptions", self.max_preemptions, "P11", "must not be negative")

    @classmethod
    def of(cls, asked: JobRequest, **given: Any) -> JobSpec:
        """Return what is asked for with what is `given` to it, or raise Refused."""
        return cls(**{one.name: given.get(one.name, getattr(asked, one.name)) for one in fields(JobRequest)})

    def _count_replicas(self) -> None:
        """Set the numbers that follow from the groups and the module: they are asked for a dozen times in the life of a job."""
        groups, least, most = self.groups, self.min_replicas, self.max_replicas
        wanted = groups[0].replicas if len(groups) == 1 else sum(g.replicas for g in groups)
        if least is None:
            least = 1 if self.module is Module.EAS and len(groups) == 1 else wanted
        object.__setattr__(self, "wanted_replicas", wanted)  # the value is frozen from here on
        object.__setattr__(self, "core_replicas", least)
        object.__setattr__(self, "most_replicas", wanted if most is None else most)

    @property
    def elastic(self) -> bool:
        """Whether it may run with more replicas than its core."""
        return self.core_replicas < self.most_replicas


def _check_sizes(spec: JobSpec) -> None:
    """Raise Refused unless 1 <= min_replicas <= replicas <= max_replicas, and only one group where they differ (P12)."""
    for name, value in (("min_replicas", spec.min_replicas), ("max_replicas", spec.max_replicas)):
        if value is not None and len(spec.groups) != 1:
            raise Refused(name, value, "P12", "only a job of one group is elastic")
    wanted = spec.wanted_replicas
    if spec.min_replicas is not None and not 1 <= spec.min_replicas <= wanted:
        raise Refused("min_replicas", spec.min_replicas, "P12", f"must be 1..{wanted} (replicas)")
    if spec.max_replicas is not None and spec.max_replicas < wanted:
        raise Refused("max_replicas", spec.max_replicas, "P12", f"must be at least {wanted} (replicas)")


def _check_group(group: ReplicaGroup) -> None:
    shape = group.shape
    if group.replicas < 1:
        raise Refused("replicas", group.replicas, "J3", "must be at least 1")
    if min(shape.gpu_milli, shape.cpu_milli, shape.memory_mib) < 0:
        raise Refused("request", shape.resources, "R1", "must not be negative")
    if shape.gpu_milli == 0 and shape.cpu_milli == 0 and shape.memory_mib == 0:
        raise Refused("request", 0, "R1", "must ask for some GPU, CPU or memory")
    if shape.gpu_milli > WHOLE_GPU and shape.gpu_milli % WHOLE_GPU:
        raise Refused(
            "gpus",
            shape.gpu_milli / WHOLE_GPU,
            "R1",
            "must be whole GPUs, or a fraction of one (0.001 to 0.999)",
        )


class Placed(NamedTuple):
    """One replica on its node and devices (R3). `replica` counts through all groups of the job."""

    replica: int
    node: int
    devices: tuple[int, ...]
    shape: Shape


@dataclass(slots=True)
class Hold:
    """Places promised to a job (P9): it starts when all jobs in `waiting_on` have left."""

    unit: Unit
    """The promised places; they count in quotas and on devices as if the job ran there."""
    waiting_on: tuple[JobId, ...]
    """Jobs that must leave first, by name; shortened as they leave, empty when the job can start."""
    expires_ms: int
    """When the promise ends if a job has not left by then, and this job is planned anew."""
    checked_version: int = -1
    """Version of the tree at which a plan last looked for free places elsewhere; -1: none has. No record keeps it."""


@dataclass(slots=True, eq=False)
class Job:
    """The record of one job. Written only by the state's own methods."""

    spec: JobSpec
    """What is asked for; another value after a resize."""
    quota: Quota
    """The quota it counts in; never another one."""
    phase: Phase = Phase.WAITING
    """Where it is in TRANSITIONS; `State.move` changes it."""
    claim: Claim = Claim.REGULAR
    """The claim it runs on, or ran on last; regular again after an eviction or a resubmit."""
    priority: int = 1
    """1 to 9; its owner may change it while it waits (W5)."""
    core_replicas: int = 1
    """How many replicas its core should have (P12); while fewer run, all that run are the core."""
    queued_ms: int = 0
    """Since when it waits: from its submission, its last eviction or resubmit, or since replicas are missing."""
    run: int = 0
    """Number of the run that runs or ran last, from 1 on; 0: it never ran."""
    started_ms: int = 0
    """When that run was started, then when the engine confirmed it; 0: it never ran."""
    checkpoint_ms: int | None = None
    """When that run last reported a checkpoint; None: not yet."""
    core: Unit | None = None
    """The replicas without which it cannot run; None: it does not run."""
    extras: dict[int, Unit] = field(default_factory=dict)
    """Replicas that run beyond its core, wanted or surplus, by number; each is a unit of its own (P12)."""
    hold: Hold | None = None
    """Places it was promised, for a start or for a larger core; None: none (P9)."""
    leaving: dict[int, Placed] = field(default_factory=dict)
    """Replicas that were told to end and still occupy devices, by number, until the engine confirms (P9)."""
    ending: dict[int, Placed] = field(default_factory=dict)
    """Those of them that nobody took: they still count for what else their quota may start (P9)."""
    preempted_ms: tuple[int, ...] = ()
    """When it was preempted, oldest first; only what counts as a preemption (P11)."""
    preempted_by: JobId | None = None
    """The job for which it was last evicted; None: never, or not for a job (a drain, a scaling)."""
    lost_last: int = 0
    """Work its last eviction lost, in milli-GPU x milliseconds, without the weight of its priority (P6)."""
    replan_first: bool = False
    """Planned anew before any of its victims, since its hold ended (P9); False again with its next start or hold."""
    losses: int = 0
    """How many of its last runs in a row were lost within a minute of their start (R5)."""
    retry_ms: int = 0
    """When it is queued again after such losses; 0: it is not put off. Until then it waits outside its queue (R5)."""
    reason: str = ""
    """Why it is in its phase, or what was last decided about it since: the name of a code, or a word such as "ended"."""
    told: Reason | None = None
    """Why it waits, as a plan last said; None: not said since it came into its phase."""
    story: list[str] = field(default_factory=list)
    """What happened to it, oldest first, each line with its time in milliseconds."""
    id: JobId = field(init=False)
    """Name of the job, as its spec says; never another one."""

    def __post_init__(self) -> None:
        self.id = self.spec.id

    def values(self) -> tuple[object, ...]:
        """Return all that changes as the job lives, but for what its owner may change, when it was preempted and its replicas that
        are leaving."""
        return (
            self.phase, self.claim, self.queued_ms, self.run, self.started_ms, self.checkpoint_ms, self.core,
            self.extras, self.hold, self.preempted_by, self.lost_last, self.replan_first,
            self.losses, self.retry_ms, self.reason, self.told, len(self.story),
        )  # fmt: skip

    def restore(self, values: tuple[Any, ...]) -> None:
        """Set what `values` returned earlier; lines that were added to the story since are removed."""
        (
            self.phase, self.claim, self.queued_ms, self.run, self.started_ms, self.checkpoint_ms, self.core,
            self.extras, self.hold, self.preempted_by, self.lost_last, self.replan_first,
            self.losses, self.retry_ms, self.reason, self.told, lines,
        ) = values  # fmt: skip
        del self.story[lines:]

    @property
    def running(self) -> bool:
        return self.phase is Phase.RUNNING

    @property
    def queued(self) -> bool:
        """Whether it belongs in its quota's queue: it waits and is not put off (R5), or replicas of it run idle and wait for promotion (I1), or
        it lacks replicas that it wants (P12)."""
        if self.phase is Phase.WAITING:
            return not self.retry_ms
        if self.phase is not Phase.RUNNING:
            return False
        if self.claim is Claim.IDLE or (self.extras and self.idle_wanted):
            return self.spec.idle is Idle.ALLOW
        return self.hold is None and self.missing_replicas > 0

    @property
    def composite(self) -> bool:
        """Whether its core, when evicted, takes other units along: replicas beyond it, or the hold for more of them."""
        if self.extras:
            return True
        return self.hold is not None and self.core is not None

    @property
    def core_indexes(self) -> tuple[int, ...]:
        return tuple([p.replica for p in self.core.places]) if self.core is not None else ()

    @property
    def running_replicas(self) -> int:
        """How many replicas run, whatever they count as."""
        return 0 if self.core is None else len(self.core.places) + len(self.extras)

    @property
    def missing_replicas(self) -> int:
        """How many more replicas it wants than run; 0 unless it runs (P12)."""
        core = self.core
        return 0 if core is None else max(0, self.spec.wanted_replicas - len(core.places) - len(self.extras))

    @property
    def idle_wanted(self) -> list[int]:
        """Numbers of the replicas beyond a regular core that are wanted and run idle, so that they wait for promotion (I1)."""
        if self.claim is Claim.IDLE or not self.extras:
            return []
        if self.core is not None and len(self.core.places) >= self.spec.wanted_replicas:
            return []  # all are surplus; there may be thousands
        return [i for i, unit in self.extras.items() if unit.cls.claim is Claim.IDLE and not unit.is_surplus]

    def check_transition(self, wanted: Phase) -> None:
        if wanted not in TRANSITIONS[self.phase]:
            raise IllegalTransition(self.id, self.phase.value, wanted.value, tuple(self.story))

    def shape_of(self, index: int) -> Shape:
        """Return the shape of a replica by its number.

        In a job of one group any number will do: after a resize a replica may keep one beyond `most_replicas` (P12).
        """
        if len(self.spec.groups) == 1:
            return self.spec.groups[0].shape
        for group in self.spec.groups:
            if index < group.replicas:
                return group.shape
            index -= group.replicas
        raise IndexError(index)

    def shaped(self, indexes: list[int]) -> list[tuple[int, Shape]]:
        """Return these replicas, each with its shape."""
        if len(self.spec.groups) == 1:
            shape = self.spec.groups[0].shape
            return [(index, shape) for index in indexes]
        return [(index, self.shape_of(index)) for index in indexes]


def asked_for(job: Job, at_most: int | None = None) -> list[int]:
    """Return the numbers of all replicas that a job waits for places for, in the order in which it can do without (P12).

    Of a job that does not run those are all that it wants, of one that runs those that are missing. `at_most`: the first so many.
    """
    wanted = job.spec.wanted_replicas if job.core is None else job.missing_replicas
    if at_most is not None and at_most < wanted:
        wanted = at_most
    if job.core is None:
        return list(range(wanted))
    in_use = {*job.core_indexes, *job.extras, *job.leaving}
    unused = (number for number in count() if number not in in_use)
    return list(islice(unused, wanted))


def least_asked_for(job: Job) -> list[int]:
    """Return the numbers of the replicas that must find places if anything is to start: the core, or one that is missing."""
    return asked_for(job, least_count(job))


def least_count(job: Job) -> int:
    """Return how many of those that it asks for that are, at most."""
    return job.core_replicas if job.core is None else 1


def total_request(job: Job, indexes: list[int]) -> Resources:
    groups = job.spec.groups
    if len(groups) == 1:
        shape, replicas = groups[0].shape, len(indexes)
        return Resources(shape[0] * replicas, shape[1] * replicas, shape[2] * replicas)
    total = ZERO
    for index in indexes:
        total = total.plus(job.shape_of(index).resources)
    return total
