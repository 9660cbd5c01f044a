"""What would another kind of scheduler decide? Small models of three, on the core's own tables.

They share the core's state, its placement and what a start or an eviction does to it; what differs is who may start and
who has to go. They are models of a rule, not of a product: one queue by priority and time that skips what does not fit,
everything or nothing for a gang, no ageing, no starvation guard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from quotatree.core import (
    Claim,
    Code,
    Failure,
    Job,
    JobId,
    Node,
    Overlay,
    Placed,
    Quota,
    Reason,
    Resources,
    Settings,
    Shape,
    State,
    Step,
    Unit,
    UnitKind,
    WaitClass,
    Wanted,
    apply,
    because,
    effects,
    evict,
    find_places,
    has_loan,
    least_asked_for,
)
from quotatree.core import decisions as say
from quotatree.core.events import Event
from quotatree.sim.brain import forget

Victims = Callable[[State, Job, Wanted, Resources, int], list[Unit] | None]
"""Returns the units that a rule evicts for a job now (ms), or None if evicting would not help. The state is only read."""


@dataclass(frozen=True, slots=True)
class ModelRule:
    """How one model differs from another: requests must fit the min of the quotas in `bounded_by`.

    `victims` chooses the units to evict; without it the model never preempts.
    """

    bounded_by: Callable[[Quota], tuple[Quota, ...]]
    victims: Victims | None = None


class ModelBrain:
    """A scheduler that follows a ModelRule."""

    def __init__(self, rule: ModelRule, settings: Settings) -> None:
        self._rule = rule
        self._state = State(settings)

    @property
    def state(self) -> State:
        return self._state

    def apply(self, event: Event, now_ms: int) -> tuple[say.Decision, ...]:
        return apply(self._state, event, now_ms)

    def at_rest(self) -> bool:
        return not (self._state.waiting_quotas or self._state.held)

    def forget(self, job: JobId) -> None:
        forget(self._state, job)

    def plan(self, now_ms: int) -> say.Plan:
        decisions = self._finish_holds(now_ms)
        while True:
            for _, cls, job in self._candidates(now_ms):
                decided = self._try(job, cls, now_ms)
                if decided:
                    decisions += decided
                    break
                reason = because(Code.NoEligibleVictims, step="model")
                self._state.remember(cls, Failure(reason, job.quota.tree.version))
            else:
                break
        expiries = [j.hold.expires_ms for j in self._state.held.values() if j.hold and j.hold.waiting_on]
        return say.Plan(now_ms, tuple(decisions), min(expiries, default=None))

    def _finish_holds(self, now_ms: int) -> list[say.Decision]:
        found: list[say.Decision] = []
        holders = sorted(self._state.held.values(), key=lambda j: (-j.priority, j.spec.submitted_ms, j.id))
        for job in holders:
            hold = job.hold
            assert hold is not None
            if not hold.waiting_on:
                found.append(self._start(job, hold.unit.places, now_ms, because(Code.HoldComplete)))
            elif hold.expires_ms <= now_ms:
                found.append(
                    effects.release(self._state, job, now_ms, because(Code.HoldExpired), again=False)
                )
        return found

    def _candidates(self, now_ms: int) -> list[tuple[tuple[int, int, int, JobId], WaitClass, Job]]:
        """The first job of each wait class that has not failed yet, with its sort key.

        Jobs within their quota's min come first, then by priority (highest first), submit time and id.
        """
        found = []
        for quota in self._state.waiting_quotas.values():
            for cls in quota.queue.classes.values():
                if cls.still_fails(cls.failed, now_ms, self._state.change):
                    continue
                submitted_ms, job_id = cls.members[0]
                borrows = int(not _fits((quota,), cls.request))
                key = (borrows, -cls.priority, submitted_ms, job_id)
                found.append((key, cls, self._state.jobs[job_id]))
        found.sort(key=lambda entry: entry[0])
        return found

    def _try(self, job: Job, cls: WaitClass, now_ms: int) -> list[say.Decision]:
        state, rule = self._state, self._rule
        wanted = [(index, job.shape_of(index)) for index in least_asked_for(job)]
        if _fits(rule.bounded_by(job.quota), cls.request):
            placed = self._on_free(job, wanted, now_ms)
            if placed is not None:
                return [placed]
        if rule.victims is None:
            return []
        victims = rule.victims(state, job, wanted, cls.request, now_ms)
        if not victims:
            return []
        return self._take(job, wanted, victims, now_ms)

    def _on_free(self, job: Job, wanted: Wanted, now_ms: int) -> say.Decision | None:
        """Start the job on devices that are free now, else hold devices that are being freed; None if neither works."""
        state, root = self._state, job.quota.root
        reason = because(Code.FitsFree)
        if not job.leaving:
            places = find_places(state, root, wanted, now=True)
            if places is not None:
                return self._start(job, places, now_ms, reason)
        if not state.leaving_replicas:
            return None
        places = find_places(state, root, wanted, now=False)
        if places is None:
            return None
        return effects.hold(state, job, places, now_ms, Step.FREE, reason)

    def _start(self, job: Job, places: tuple[Placed, ...], now_ms: int, reason: Reason) -> say.Start:
        return effects.start(
            self._state, job, places, claim=Claim.REGULAR, now_ms=now_ms, step=Step.FREE, reason=reason
        )

    def _take(self, job: Job, wanted: Wanted, victims: list[Unit], now_ms: int) -> list[say.Decision]:
        found: list[say.Decision] = []
        reason = because(Code.SelfLevelSibling, preemptor=job.id, quota=job.quota.id)
        for unit in victims:
            found.append(evict(self._state, unit, now_ms, reason, job.id, True))
        placed = self._on_free(job, wanted, now_ms)
        if placed is not None:
            found.append(placed)
        return found


# -- who may start -----------------------------------------------------------------------------------------------


def above_own(quota: Quota) -> tuple[Quota, ...]:
    """The quotas that bound a start under borrowing: all above the job's own, or its own if that is the root."""
    return quota.path[1:] or quota.path


def root_only(quota: Quota) -> tuple[Quota, ...]:
    """The quotas that bound a start without quotas: the root alone, which stands for the cluster."""
    return quota.path[-1:]


def _fits(bounds: tuple[Quota, ...], request: Resources, without: Overlay | None = None) -> bool:
    """Is there room in all of these quotas, as they are or `without` those who were taken?"""
    return all(
        (quota.used if without is None else without.used(quota))[i] + request[i] <= bound
        for quota in bounds
        for i, bound in quota.named
    )


# -- who has to go -----------------------------------------------------------------------------------------------


def peers_victims(
    state: State, job: Job, wanted: Wanted, request: Resources, now_ms: int
) -> list[Unit] | None:
    """Choose victims by the common rule: the newest first; nodes and checkpoints play no part in who is chosen."""
    del now_ms
    return _removed_and_put_back(state, job, wanted, request, lambda unit: -unit.started_ms)


def informed_victims(
    state: State, job: Job, wanted: Wanted, request: Resources, now_ms: int
) -> list[Unit] | None:
    """Choose victims by the common rule, with our knowledge of checkpoints: those that lose least first.

    It tells how much of a difference the knowledge makes, and how much the search for victims.
    """
    return _removed_and_put_back(state, job, wanted, request, lambda unit: unit.lost_work(now_ms))


def _removed_and_put_back(
    state: State, job: Job, wanted: Wanted, request: Resources, first: Callable[[Unit], int]
) -> list[Unit] | None:
    """Return the units that the common rule evicts, None if evicting would not help.

    Candidates are lower priorities in the job's own quota (those its self-level policy names, if it has one) and, if
    the job is within its own min, units of siblings that are above theirs. They are removed lowest priority first, and
    by `first` among equals, until the job fits; then, in the reverse order, each one that is not needed is put back.
    """
    quota = job.quota
    owner = _fits((quota,), request)
    bounds = quota.path if owner else above_own(quota)
    candidates = [unit for unit in _running(state, quota.root) if _peers_may_take(quota, job, owner, unit)]
    if not _enough(bounds, request, candidates):
        return None
    candidates.sort(key=lambda unit: (unit.cls.priority, first(unit), unit.name))
    removed: list[Unit] = []

    without = Overlay(state)

    def fits() -> bool:
        if not _fits(bounds, request, without):
            return False
        return find_places(state, quota.root, wanted, now=False, overlay=without) is not None

    for unit in candidates:
        if fits():
            break
        if unit.job.quota is not quota and not has_loan(unit.job.quota, without):
            continue
        without.take(unit)
        removed.append(unit)
    helped = fits()
    needed: list[Unit] = []
    for unit in reversed(removed):
        without.give_back(unit)
        if helped and not fits():
            without.take(unit)
            needed.append(unit)
    return needed[::-1] if helped else None


def node_local_victims(
    state: State, job: Job, wanted: Wanted, request: Resources, now_ms: int
) -> list[Unit] | None:
    """Choose victims as kube-scheduler does: pod by pod, on the one node where evicting does the least harm.

    Least harm is the lowest highest priority, then the smallest sum of priorities, the fewest pods, the latest start.
    A gang that loses a pod is evicted whole. Unlike the original, nothing is evicted unless every pod of the preemptor
    finds a node. A self-level policy stands for priority classes: priorities outside its `high` never preempt.
    """
    del now_ms
    root = job.quota.root
    shape = wanted[0][1]
    if not _enough((root,), request, [unit for unit in _running(state, root) if _is_below(job, unit)]):
        return None
    nodes = [node for node in state.nodes_of(root) if node.suits(shape)]
    removed: list[Unit] = []
    without = Overlay(state)
    while (
        not _fits((root,), request, without)
        or find_places(state, root, wanted, now=False, overlay=without) is None
    ):
        best: tuple[tuple[int, int, int, int, int], list[Unit]] | None = None
        for node in [without.node(node.index) for node in nodes]:
            lower = [u for u in node.units if _is_running(u) and _is_below(job, u)]
            if not lower:
                continue
            before = node.slots(shape, False)
            chosen = _reprieved(node, lower, partial(_has_more_slots, shape, before))
            if chosen:
                top = max(u.cls.priority for u in chosen)
                latest = min(u.started_ms for u in chosen if u.cls.priority == top)
                key = (top, sum(u.cls.priority for u in chosen), len(chosen), -latest, node.index)
                if best is None or key < best[0]:
                    best = key, chosen
        if best is None:
            break
        for unit in best[1]:
            without.take(unit)
        removed += best[1]
    else:
        best = (0, 0, 0, 0, 0), []
    return removed if best is not None else None


def _has_more_slots(shape: Shape, before: int, node: Node) -> bool:
    return node.slots(shape, False) > before


def _reprieved(node: Node, lower: list[Unit], helps: Callable[[Node], bool]) -> list[Unit]:
    """The units of `lower` that must go for `helps` to hold; none if it does not hold even without all of them.

    All are taken off a copy of the node first; then each is put back, highest priority first and oldest first, if
    `helps` still holds.
    """
    tried = node.copy()
    for unit in lower:
        tried.take_away(unit, held=False)
    if not helps(tried):
        return []
    victims = list(lower)
    for unit in sorted(lower, key=lambda u: (-u.cls.priority, u.started_ms, u.name)):
        tried.put(unit, held=False)
        if helps(tried):
            victims.remove(unit)
        else:
            tried.take_away(unit, held=False)
    return victims


def _peers_may_take(quota: Quota, job: Job, owner: bool, unit: Unit) -> bool:
    if unit.job.quota is quota:
        return _is_below(job, unit)
    return owner and unit.job.quota.parent is quota.parent and has_loan(unit.job.quota)


def _running(state: State, root: Quota) -> Iterator[Unit]:
    for cls in state.classes_below(root):
        if cls.kind is not UnitKind.HOLD:
            for bucket in cls.buckets.values():
                for entry in bucket:
                    yield entry[3]


def _is_below(job: Job, unit: Unit) -> bool:
    """True if the job's priority may take the unit's: by its quota's self-level policies, without any if it is higher.

    The policies are those of the file, so that all schedulers compared give the same rights.
    """
    policies = job.quota.spec.self_level.switched_on()
    if not policies:
        return unit.cls.priority < job.priority
    return policies.lets_take(job.priority, unit.cls.priority, unit.job.spec.module)


def _is_running(unit: Unit) -> bool:
    return unit.cls.kind is not UnitKind.HOLD


def _enough(bounds: tuple[Quota, ...], request: Resources, candidates: list[Unit]) -> bool:
    """True if evicting all candidates would make room in every bound: a cheap test by quota, before any by nodes."""
    if not candidates:
        return False
    for quota in bounds:
        for i, bound in quota.named:
            freed = sum(unit.footprint[i] for unit in candidates if quota.contains(unit.job.quota))
            if quota.used[i] + request[i] - freed > bound:
                return False
    return True
