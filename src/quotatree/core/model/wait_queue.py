"""Who waits in one quota, and in which order (S0, S4, S5)?

Waiting jobs that ask for the same thing with the same rights form a class: if one of them cannot start, none can, so a
plan tries one per class and remembers the failure until something was released. Order inside a queue: queue priority
high to low, submit time, id. Ageing counts from the submit time, which a requeued victim keeps (ADR 0005).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Final, NamedTuple

from quotatree.core.model.effort import FEW
from quotatree.core.model.job import Claim, Idle, Job, JobId, Phase, least_asked_for, total_request
from quotatree.core.model.no_room import Exhausted
from quotatree.core.model.policy import Strategy
from quotatree.core.model.queue_order import QueueOrder
from quotatree.core.model.quota import AmountLimit, Quota, QuotaId
from quotatree.core.model.quota_arithmetic import Shortage
from quotatree.core.model.resources import Resources
from quotatree.core.reasons import Reason

FIFO_FROM: Final = 7
"""`intelligent` treats priorities from here on as fifo; ageing stops below (S4)."""


AGAIN: Final = "again"
"""First word of the class of a job whose hold expired: it is planned anew before any of its victims (P9)."""
GUARDED: Final = "guard"
"""First word of the class of the job that a starvation guard keeps capacity for: it does not block its queue (S10)."""


class Ask(Enum):
    """What a queued job asks for: to start, to get replicas that it is missing, or to become regular where it runs."""

    START = "start"
    GROW = "grow"
    PROMOTE = "promote"


class Failure(NamedTuple):
    """Why a class could not start, and the facts this rests on: as long as they hold, trying it again is in vain.

    `version` is the tree's version at the time: while it is the same, nothing happened that may help. `short`: after such a
    thing, only room in that quota can help, or surplus in it that gives way, as long as `rights` of the tree are the same and
    no loan gives new ones; None: anything may help. `change`: it rests on everything, so any change of the state makes it void; None: it
    does not. `retry_at_ms`: the time from which it does not count; None: there is none.
    """

    reason: Reason
    version: int
    short: Shortage | None = None
    retry_at_ms: int | None = None
    rights: int = 0
    change: int | None = None


@dataclass(slots=True, eq=False)
class WaitClass:
    """Waiting jobs of one quota that are alike in everything a plan looks at.

    `request` is the least that must fit; a job may get more than that (P12).
    """

    quota: Quota
    key: tuple[object, ...]
    priority: int
    idle: Idle
    request: Resources
    limits: tuple[AmountLimit, ...]
    ask: Ask = Ask.START
    members: list[tuple[int, JobId]] = field(default_factory=list)
    failed: Failure | None = None
    failed_idle: Failure | None = None
    promotes: bool = field(init=False)  # what `ask` says, asked often
    grows: bool = field(init=False)
    borrows: bool = field(init=False)  # whether it may start idle

    def __post_init__(self) -> None:
        self.promotes, self.grows = self.ask is Ask.PROMOTE, self.ask is Ask.GROW
        self.borrows = not self.promotes and self.idle is not Idle.NEVER

    def still_fails(self, failure: Failure | None, now_ms: int, change: int) -> bool:
        """Return whether a remembered failure still holds, so that trying again would be in vain; False if it is None.

        `change`: the number of the state's last change.
        """
        if failure is None or (failure.retry_at_ms is not None and now_ms >= failure.retry_at_ms):
            return False
        if failure.change is not None:
            return failure.change == change
        tree = self.quota.tree
        if tree.version == failure.version:
            return True
        if failure.short is not None and failure.rights == tree.rights:
            quota, i, wanted, _ = failure.short
            bound = quota.min[i]
            most = None if bound is None else bound - quota.used[i] + quota.surplus[i]
            return most is not None and most < wanted and self._only_room_helps(quota)
        return False

    def _only_room_helps(self, full: Quota) -> bool:
        """Return whether there is no loan to be returned, which would be a new right.

        A return (P15) is only for jobs that fit their own quota; a promotion takes no victims, so only room helps it.
        """
        return self.promotes or full is self.quota or not self.quota.tree.loans

    def queue_priority(self, submitted_ms: int, now_ms: int, aging_interval_ms: int, ages: bool) -> int:
        """Return the priority of a job in its queue: it rises with waiting to at most 6; from 7 on it is the job's (S4, S5).

        `ages`: whether the strategy lets it rise. An `aging_interval_ms` of 0 switches that off.
        """
        if not ages or self.priority >= FIFO_FROM or not aging_interval_ms:
            return self.priority
        return min(FIFO_FROM - 1, self.priority + max(0, now_ms - submitted_ms) // aging_interval_ms)


@dataclass(slots=True, eq=False)
class WaitQueue:
    """The queue of one quota."""

    owner: QuotaId
    classes: dict[tuple[object, ...], WaitClass] = field(default_factory=dict)
    of_job: dict[JobId, WaitClass] = field(default_factory=dict)
    stood: tuple[tuple[JobId, int], ...] = ()
    stamp: int = 0  # rises with every change of membership, and when a failure is forgotten
    urgent: int = 0  # classes that `intelligent` treats as fifo
    borrowing: int = 0  # classes whose jobs may start idle
    exhausted: Exhausted | None = None  # when a plan left no job to try; see ordering.py
    again: int = 0  # classes of jobs that are planned anew before others (P9)
    since: tuple[int, list[int]] | None = (
        None  # of a stamp: since when its jobs wait; see starvation_guard.py
    )
    order: QueueOrder = field(default_factory=QueueOrder)

    def __len__(self) -> int:
        return len(self.of_job)

    def any_failed(self) -> bool:
        """Return whether a failure of any class is remembered, whether or not it still holds."""
        for cls in self.classes.values():  # noqa: SIM110  # asked for every quota in every plan: no generator
            if cls.failed is not None:
                return True
        return False

    def rests_on_all(self) -> bool:
        """Return whether a failure is remembered that any change makes void."""
        return any(cls.failed is not None and cls.failed.change is not None for cls in self.classes.values())

    def add(
        self, jobs: Iterable[Job], limits_of: Callable[[Job], tuple[AmountLimit, ...]], delayed: bool
    ) -> None:
        """Let jobs wait here; `limits_of` returns the limits that bind a job, `delayed`: as for `class_key`."""
        self.stamp += 1
        added: dict[WaitClass, list[tuple[int, JobId]]] = {}
        for job in jobs:
            found = self._class_for(job, limits_of, delayed)
            added.setdefault(found, []).append((job.spec.submitted_ms, job.id))
        for cls, members in added.items():
            first = cls.members[0] if cls.members else None
            cls.members += members
            cls.members.sort()
            if self.order.known:
                self._moved(cls, first)

    def add_one(self, job: Job, limits_of: Callable[[Job], tuple[AmountLimit, ...]], delayed: bool) -> None:
        """Do as `add` for one job."""
        self.stamp += 1
        cls = self._class_for(job, limits_of, delayed)
        members = cls.members
        first = members[0] if members else None
        insort(members, (job.spec.submitted_ms, job.id))
        if self.order.known:
            self._moved(cls, first)

    def _class_for(
        self, job: Job, limits_of: Callable[[Job], tuple[AmountLimit, ...]], delayed: bool
    ) -> WaitClass:
        """Return the class that a job is to wait in, which may be a new one, and note it; it is not among its members yet."""
        ask = ask_of(job)
        key = class_key(job, ask, delayed)
        found = self.classes.get(key)
        if found is None:
            found = WaitClass(
                quota=job.quota,
                key=key,
                priority=job.priority,
                idle=job.spec.idle,
                request=request_of(job, ask),
                limits=limits_of(job),
                ask=ask,
            )
            self.classes[key] = found
            self._count(found, 1)
        self.of_job[job.id] = found
        return found

    def put_back(self, job: Job, cls: WaitClass) -> None:
        """Undo `remove`: put a job back into the class that it returned."""
        self.stamp += 1
        found = self.classes.setdefault(cls.key, cls)
        first = found.members[0] if found.members else None
        if first is None:
            self._count(found, 1)
        insort(found.members, (job.spec.submitted_ms, job.id))
        if self.order.known:
            self._moved(found, first)
        self.of_job[job.id] = found

    def remove(self, job: Job) -> WaitClass:
        self.stamp += 1
        found = self.of_job.pop(job.id)
        entry = (job.spec.submitted_ms, job.id)
        first = found.members[0]
        del found.members[bisect_left(found.members, entry)]
        if self.order.known:
            self._moved(found, first)
        if not found.members:
            del self.classes[found.key]
            self._count(found, -1)
        return found

    def _moved(self, cls: WaitClass, first: tuple[int, JobId] | None) -> None:
        """Note that a class may have another first member than this; None: it had none."""
        if first is not None and cls.members and cls.members[0] == first:
            return
        if first is not None:
            self.order.drop(cls, first)
        if cls.members:
            self.order.put(cls)

    def _count(self, cls: WaitClass, sign: int) -> None:
        if cls.priority >= FIFO_FROM:
            self.urgent += sign
        if cls.borrows:
            self.borrowing += sign
        if cls.key[0] == AGAIN:
            self.again += sign

    def in_order(self, now_ms: int, aging_ms: int, strategy: Strategy) -> Iterable[WaitClass]:
        """Return all classes by the place of their first member in the queue, which must not change while they are looked at."""
        if len(self.classes) <= FEW:
            if self.urgent and strategy is Strategy.INTELLIGENT:
                return self._urgent_first(now_ms, aging_ms)
            return self.ordered(list(self.classes.values()), now_ms, aging_ms, strategy)
        places = self.order.places(self.classes.values(), now_ms, aging_ms, strategy is Strategy.INTELLIGENT)
        return (cls for *_, cls in places)

    def _urgent_first(self, now_ms: int, aging_ms: int) -> Iterator[WaitClass]:
        """Yield all classes in the order of `intelligent`, in which no waiting brings one before the urgent ones (S4): often one of
        these blocks, and nobody asks for the rest."""
        for urgent in (True, False):
            part = [cls for cls in self.classes.values() if (cls.priority >= FIFO_FROM) is urgent]
            yield from self.ordered(part, now_ms, aging_ms, Strategy.INTELLIGENT)

    def ordered(
        self, classes: list[WaitClass], now_ms: int, aging_ms: int, strategy: Strategy
    ) -> list[WaitClass]:
        """Return these few classes by the place of their first member in the queue."""
        if len(classes) <= 1:
            return classes
        ages = strategy is Strategy.INTELLIGENT
        places = [
            (-c.queue_priority(c.members[0][0], now_ms, aging_ms, ages), c.members[0], c) for c in classes
        ]
        places.sort()
        return [place[2] for place in places]

    def jobs_in_order(
        self, now_ms: int, aging_ms: int, strategy: Strategy
    ) -> Iterator[tuple[WaitClass, JobId]]:
        """Yield every waiting job with its class, in queue order, computed as far as it is consumed.

        Inside a class an older job never has a lower queue priority, so its members are in this order already.
        """
        ages = strategy is Strategy.INTELLIGENT
        return self.order.jobs(self.classes.values(), now_ms, aging_ms, ages)

    def positions_of(
        self, jobs: Iterable[Job], now_ms: int, aging_ms: int, strategy: Strategy
    ) -> dict[JobId, int]:
        """Return the places of these jobs in `jobs_in_order`, from 1 on; jobs that do not wait here are left out.

        For a few jobs each class is searched; with many classes or jobs it is cheaper to walk the queue once.
        """
        wanted = [job for job in jobs if job.id in self.of_job]
        if len(wanted) * len(self.classes) > len(self):
            among = {job.id for job in wanted}
            order = self.jobs_in_order(now_ms, aging_ms, strategy)
            return {job: place for place, (_, job) in enumerate(order, 1) if job in among}
        return {job.id: self._position(job, now_ms, aging_ms, strategy) for job in wanted}

    def _position(self, job: Job, now_ms: int, aging_ms: int, strategy: Strategy) -> int:
        ages = strategy is Strategy.INTELLIGENT
        submitted_ms = job.spec.submitted_ms
        own = self.of_job[job.id].queue_priority(submitted_ms, now_ms, aging_ms, ages)
        place = (-own, (submitted_ms, job.id))
        ahead = 0
        for cls in self.classes.values():
            priority = partial(cls.queue_priority, now_ms=now_ms, aging_interval_ms=aging_ms, ages=ages)
            ahead += bisect_left(cls.members, place, key=lambda m, of=priority: (-of(m[0]), m))  # type: ignore[misc]  # mypy gives a lambda's default no type
        return ahead + 1


def class_key(job: Job, ask: Ask, delayed: bool) -> tuple[object, ...]:
    """Return the values that two jobs must share to be tried as one; `ask` is what this one asks for.

    `delayed`: the quota has a preemption delay, so it counts since when each waits.
    """
    spec = job.spec
    if ask is Ask.GROW:
        return (ask.value, job.id)
    if job.replan_first:
        return (AGAIN, job.id)
    if job.quota.tree.guard == job.id:
        return (GUARDED, job.id)
    since = job.queued_ms if delayed and job.queued_ms != spec.submitted_ms else None
    runs_or_leaves: object = "leaving" if job.leaving else ""
    if ask is Ask.PROMOTE:
        runs_or_leaves = request_of(job, ask)
    return (
        job.priority,
        spec.groups,
        job.core_replicas,
        spec.module,
        spec.idle,
        spec.subjects,
        since,
        runs_or_leaves,
    )


def request_of(job: Job, ask: Ask) -> Resources:
    """Return the least that a queued job asks of its quotas: its core, or one replica that is missing or runs idle (I1, P12)."""
    if ask is not Ask.PROMOTE:
        return total_request(job, least_asked_for(job))
    core = job.core
    assert core is not None
    return core.footprint if job.claim is Claim.IDLE else job.spec.groups[0].shape.resources


def ask_of(job: Job) -> Ask:
    """Return what a queued job asks for; a job with idle replicas asks for their promotion before it asks for more (I1)."""
    if job.phase is not Phase.RUNNING:
        return Ask.START
    return Ask.PROMOTE if job.claim is Claim.IDLE or (job.extras and job.idle_wanted) else Ask.GROW
