"""What a plan says: decisions as values, each with its reason (A2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from quotatree.core.model.job import Claim, JobId
from quotatree.core.model.resources import Resources
from quotatree.core.model.unit import UnitKind
from quotatree.core.reasons import Code, Reason, Step


class ReplicaPlace(NamedTuple):
    """One replica, its node by name and its GPU indexes there (R3)."""

    replica: int
    node: str
    devices: tuple[int, ...]


class VictimCost(NamedTuple):
    """What one evicted unit was charged with (P5, P6), in milli-GPU x milliseconds, and what it freed.

    Work lost, cost and what was freed are with all the unit took along: surplus, or the hold for a larger core (P12). `rule`: the
    reason why it went, in an entry of the ledger; None: as yet, or in an entry of an older version.
    """

    job: JobId
    kind: UnitKind
    replicas: tuple[int, ...]
    quota: str
    priority: int
    lost_work: int
    cost: int
    freed: Resources
    rule: Code | None = None


class StepTried(NamedTuple):
    """A step of P4 and why it was not enough."""

    step: Step
    reason: Reason


@dataclass(frozen=True, slots=True)
class Preemption:
    """The record of work that was ended for one purpose (P13): for whom, the victims, the step, the cost, and what was tried before.

    Costs are in milli-GPU x milliseconds, weighed by priority. Where no job takes its place, `preemptor` and `step` are None, and
    `reason` says who wanted it.
    """

    preemptor: JobId | None
    step: Step | None
    victims: tuple[VictimCost, ...]
    demoted: tuple[JobId, ...]
    cost: int
    cost_without_ladder: int
    highest_priority: int
    tried: tuple[StepTried, ...]
    kept: tuple[JobId, ...] = ()
    """Jobs that would have been stopped and started again: they keep running, and what they would have moved to is taken."""
    reason: Reason | None = None


class Start(NamedTuple):
    """Replicas start now. `grows`: they join a run; `surplus`: they are beyond what the job wants (P12)."""

    job: JobId
    run: int
    claim: Claim
    replicas: tuple[ReplicaPlace, ...]
    step: Step
    reason: Reason
    surplus: bool = False
    grows: bool = False
    preemption: Preemption | None = None


class Hold(NamedTuple):
    """Places are promised; the job starts when `waiting_on` have left (P9). A guard's hold never expires (S10)."""

    job: JobId
    replicas: tuple[ReplicaPlace, ...]
    waiting_on: tuple[JobId, ...]
    expires_ms: int | None
    step: Step
    reason: Reason
    preemption: Preemption | None = None


class Evict(NamedTuple):
    """Replicas must stop, after notice and grace (P14). `replicas` are those that leave; none for a hold."""

    job: JobId
    run: int
    kind: UnitKind
    replicas: tuple[int, ...]
    preemptor: JobId | None
    cost: int
    lost_work: int
    grace_ms: int
    requeued: bool
    counts: bool
    reason: Reason
    moved: bool = False


class Demote(NamedTuple):
    """A regular job keeps running on an idle claim (I1). `replicas`: those beyond the core that it is about; empty: all."""

    job: JobId
    preemptor: JobId | None
    reason: Reason
    replicas: tuple[int, ...] = ()


class Promote(NamedTuple):
    """An idle claim becomes regular in place, or replicas that run become core; nothing restarts (I1, P12).

    `replicas`: those beyond the core that it is about; empty: the core. `preemption`: the surplus that gave way to it.
    """

    job: JobId
    reason: Reason
    replicas: tuple[int, ...] = ()
    preemption: Preemption | None = None


class Release(NamedTuple):
    """A hold ended without a start."""

    job: JobId
    reason: Reason


class Stop(NamedTuple):
    """Replicas must stop, by their owner's wish or a limit of their workspace, not for another job.

    `lost_work` and `cost` are those of an eviction (P5, P6).
    """

    job: JobId
    run: int
    replicas: tuple[int, ...]
    grace_ms: int
    reason: Reason
    lost_work: int = 0
    cost: int = 0


class Fail(NamedTuple):
    """The job ends as Failed."""

    job: JobId
    reason: Reason


class Alarm(NamedTuple):
    """Something an operator should look at (P11)."""

    job: JobId
    reason: Reason


class Wait(NamedTuple):
    """A job was tried and has to wait."""

    job: JobId
    reason: Reason


PLACINGS: Final = (Start, Hold)
"""What gives a job places: now, or as soon as others have left them."""

Decision = Start | Hold | Evict | Demote | Promote | Release | Stop | Fail | Alarm | Wait


class Plan(NamedTuple):
    """The decisions of one plan, and when planning again could decide more without any event; None: never.

    `cut_short`: it had spent what one plan may before all had their turn, or went on after one that had (A8).
    """

    now_ms: int
    decisions: tuple[Decision, ...]
    next_wakeup_ms: int | None
    cut_short: bool = False
