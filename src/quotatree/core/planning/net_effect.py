"""Which jobs that a plan stops and starts again can keep running where they are (P8)?

A preemptor takes a victim, and the victim finds room elsewhere, perhaps by taking somebody itself. In the end both run, on each
other's account: then the victim need not move. It keeps running, and its preemptor gets the places that it was to move to, if
it fits there. An engine is told only that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from quotatree.core import decisions as say
from quotatree.core.changes import effects
from quotatree.core.changes.effects import Stopped
from quotatree.core.model.job import Claim, Job, JobId, Phase, Placed
from quotatree.core.model.resources import WHOLE_GPU
from quotatree.core.model.rights import work_of
from quotatree.core.model.unit import Unit, UnitKind
from quotatree.core.planning.claimant import kept_nodes
from quotatree.core.planning.why import GIVE_WAY_TO_ANYBODY, cost_text, why_handed_on
from quotatree.core.reasons import Code, Reason, because
from quotatree.core.search.overlay import Nodes, Overlay
from quotatree.core.search.placement import find_places
from quotatree.core.state import State

NOBODY: Final = say.Preemption(
    preemptor=None, step=None, victims=(), demoted=(), cost=0, cost_without_ladder=0, highest_priority=0, tried=()
)  # fmt: skip
"""The record of a job that took none."""


def keep_running(
    state: State, now_ms: int, decisions: list[say.Decision], stopped: list[Stopped]
) -> list[JobId]:
    """Let each of these victims stay that was promised other places in this plan; in the order of their evictions.

    Returns who stays. The decisions are changed in place. A transaction must be open.
    """
    kept: list[JobId] = []
    if all(victim.unit.job.phase is not Phase.HELD for victim in stopped):
        return kept
    told = Told(decisions)
    effect = _NetEffect(state, now_ms, told, {victim.unit.job.id: victim.unit for victim in stopped})
    for victim in stopped:
        job = victim.unit.job
        if job.phase is Phase.HELD and job.hold is not None and told.eviction_of(job.id) is not None:
            mark, before = state.mark(), told.mark()
            if effect.stays(job, victim):
                kept.append(job.id)
            else:
                state.rollback_to(mark)
                told.undo_to(before)
    decisions[:] = [effect.true(decision, kept) for decision in told.in_order()]
    return kept


@dataclass(slots=True)
class _NetEffect:
    """What a plan has told, made shorter by every victim that can stay."""

    state: State
    now_ms: int
    told: Told
    cores: dict[JobId, Unit]
    """What was stopped in this plan, by job."""

    def stays(self, job: Job, victim: Stopped) -> bool:
        """Let a victim stay, and its preemptors have the places it was promised; return False if these do not fit there."""
        state = self.state
        places = tuple(job.leaving.values())
        if set(places) != set(victim.unit.places):
            return (
                False  # replicas beyond its core left with it, or others of an earlier run are still leaving
            )
        preemptors = [other for other in state.awaited.get(job.id, {}).values() if other is not job]
        if any(self.told.hold_of(other.id) is None or other.hold is None for other in preemptors):
            return False  # a promise of an earlier plan stands
        preemptors.sort(key=lambda other: (-other.priority, other.spec.submitted_ms, other.id))
        if preemptors and not self._may_be_placed(preemptors, job, victim):
            return False
        wanted = {other.id: other.hold.unit.places for other in preemptors if other.hold is not None}
        for one in (job, *preemptors):
            effects.drop_hold(state, one, leaves=False)
        state.end_leaving(job, places)
        if not _free(state.nodes, places):
            return False
        effects.keep(state, job, victim, self.now_ms)
        promised = self.told.hold_of(job.id)
        assert promised is not None
        moved_to = promised[1]
        taker = next((other.id for other in preemptors if self._took(other.id, job.id)), None)
        if taker is None and moved_to.preemption is not None:
            return False  # nobody is left for whom its own victims would go
        self._forget(job.id)
        for other in preemptors:
            if not self._placed_anew(other, wanted[other.id], job, moved_to):
                return False
        if taker is not None:
            self._taken_for(taker, job.id)
        if victim.unit.cls.claim is Claim.IDLE:
            self.told.add(say.Promote(job.id, because(Code.Promoted)))
        return True

    def _may_be_placed(self, preemptors: list[Job], kept: Job, victim: Stopped) -> bool:
        """Return False if it is certain that the first preemptor has no place once the victim stays; the state is only read.

        Most victims cannot stay for that reason. Finding out by changing the state and taking that back costs far more.
        """
        first, state = preemptors[0], self.state
        wanted = [] if first.hold is None else [(p.replica, p.shape) for p in first.hold.unit.places]
        if len(wanted) != 1 or first.quota.tree.guard is not None:
            return True  # several are sought one after the other, and a guard may be passed only afterwards
        without = Overlay(state)
        for one in (kept, *preemptors):
            if one.hold is not None:
                without.take(one.hold.unit)
        if not _free(without.nodes, victim.unit.places):
            return False
        without.give_back(victim.unit)
        return find_places(state, first.quota.root, wanted, now=False, overlay=without) is not None

    def _took(self, preemptor: JobId, victim: JobId) -> bool:
        """Return whether the record of a preemptor has this victim; others may only wait for its places."""
        held = self.told.hold_of(preemptor)
        ledger = None if held is None else held[1].preemption
        return ledger is not None and any(v.job == victim for v in ledger.victims)

    def _placed_anew(self, job: Job, before: tuple[Placed, ...], kept: Job, moved_to: say.Hold) -> bool:
        """Give a preemptor other places than those of the job that is kept; return False if there are none."""
        state = self.state
        wanted = [(place.replica, place.shape) for place in before]
        root, avoid = job.quota.root, kept_nodes(state, job)
        places = None if job.leaving else find_places(state, root, wanted, now=True, avoid=avoid)
        if places is not None and effects.waits_for_ending(job, places):
            places = None
        now = places is not None
        if places is None:
            places = find_places(state, root, wanted, now=False, avoid=avoid)
        if places is None:
            return False
        promised = self.told.hold_of(job.id)
        assert promised is not None
        number, told = promised
        took = self._took(job.id, kept.id)
        self.told.drop(number)
        ledger = told.preemption
        if took and ledger is not None:
            highest = self._highest_taken_for(job.id, kept.id)
            ledger = _without(ledger, [kept.id], highest, moved_to.preemption or NOBODY)
        reason = told.reason if ledger is not None and not took else _why(ledger, kept.id)
        begin: Callable[..., say.Start | say.Hold]
        begin = partial(effects.start, claim=Claim.REGULAR) if now else effects.hold
        self.told.add(
            begin(state, job, places, now_ms=self.now_ms, step=told.step, reason=reason, preemption=ledger)
        )
        return True

    def true(self, decision: say.Decision, kept: list[JobId]) -> say.Decision:
        """Return a decision whose record names only work that really leaves (P13).

        A job that starts at once waits for none of its victims, so it was not placed anew when one of them stayed.
        """
        if not isinstance(decision, say.Start | say.Hold) or decision.preemption is None:
            return decision
        stay = [v.job for v in decision.preemption.victims if v.job in kept]
        if not stay:
            return decision
        ledger = _without(decision.preemption, stay, self._highest_taken_for(decision.job))
        return decision._replace(preemption=ledger, reason=_why(ledger, stay[0]))

    def _highest_taken_for(self, *preemptors: JobId) -> int:
        """Return the highest priority of those who go, or turn idle, for these jobs; idle work and surplus count as 0 (P5)."""
        taken = [decision for preemptor in preemptors for _, decision in self.told.taken_for(preemptor)]
        return max(
            (self.state.jobs[d.job].priority for d in taken if d.reason.code not in GIVE_WAY_TO_ANYBODY),
            default=0,
        )

    def _taken_for(self, preemptor: JobId, kept: JobId) -> None:
        """Say of the victims of a job that is kept for whom they go in the end, and by which right (P13)."""
        jobs = self.state.jobs
        for number, decision in self.told.taken_for(kept):
            victim = jobs[decision.job]
            reason = why_handed_on(
                decision.reason, jobs[preemptor], jobs[kept], work_of(victim), self._protected(decision)
            )
            self.told.replace(number, decision._replace(preemptor=preemptor, reason=reason))
            if isinstance(decision, say.Evict) and decision.kind is UnitKind.CORE:
                self.state.end_by_eviction(victim, preemptor, victim.lost_last)

    def _protected(self, decision: say.Evict | say.Demote) -> bool:
        """Return whether `min_runtime` may keep a victim from policies: only a return does not look at that (P11, P15)."""
        if decision.reason.code is not Code.ReturnOfLoan:
            return False
        core = self.cores.get(decision.job)
        return core is None or core.protected_until_ms > self.now_ms

    def _forget(self, job: JobId) -> None:
        """Drop the eviction of a job that stays, and the hold that it was given for it."""
        evicted, held = self.told.eviction_of(job), self.told.hold_of(job)
        if evicted is not None:
            self.told.drop(evicted)
        if held is not None:
            self.told.drop(held[0])


def _free(nodes: Nodes, places: tuple[Placed, ...]) -> bool:
    """Return whether nobody else stands on these places or was promised them."""
    devices: dict[tuple[int, int], int] = {}
    beside: dict[int, tuple[int, int]] = {}
    for place in places:
        for device in place.devices:
            milli = devices.get((place.node, device), 0)
            devices[place.node, device] = milli + min(place.shape.gpu_milli, WHOLE_GPU)
        cpu, memory = beside.get(place.node, (0, 0))
        beside[place.node] = (cpu + place.shape.cpu_milli, memory + place.shape.memory_mib)
    return all(nodes[node].free[device] >= milli for (node, device), milli in devices.items()) and all(
        nodes[node].free_cpu >= cpu and nodes[node].free_memory >= memory
        for node, (cpu, memory) in beside.items()
    )


def _without(
    ledger: say.Preemption, stay: list[JobId], highest: int, more: say.Preemption = NOBODY
) -> say.Preemption:
    """Return the record of a preemptor without victims that stay, and with the victims that one of them had in its turn (P13).

    `highest`: the highest priority of those who go in the end.
    """
    victims = tuple(v for v in ledger.victims if v.job not in stay) + more.victims
    cost = sum(v.cost for v in victims)
    return replace(
        ledger, victims=victims, demoted=ledger.demoted + more.demoted, cost=cost, highest_priority=highest,
        cost_without_ladder=min(cost, ledger.cost_without_ladder + more.cost_without_ladder),
        kept=(*ledger.kept, *more.kept, *stay),
    )  # fmt: skip


def _why(ledger: say.Preemption | None, kept: JobId) -> Reason:
    if ledger is None or ledger.step is None or not ledger.victims:
        return because(Code.TakesItsPlace, kept=kept)
    return because(
        Code.EvictsInstead, victims=len(ledger.victims), stays=kept, rule=ledger.step.value,
        highest=ledger.highest_priority, cost=cost_text(ledger.cost),
    )  # fmt: skip


Number = int
"""Of a decision; a later one has a higher number."""


class Told:
    """Decisions in order; those about one job and those made for one are at hand."""

    __slots__ = ("_about", "_by_number", "_log", "_made_for", "_next")

    def __init__(self, decisions: Iterable[say.Decision]) -> None:
        self._by_number: dict[Number, say.Decision] = {}
        self._about: dict[JobId, list[Number]] = {}  # also decisions that were dropped
        # Also those that were dropped or are made for another by now.
        self._made_for: dict[JobId, list[Number]] = {}
        self._log: list[tuple[Number, say.Decision | None]] = []
        self._next: Number = 0
        for decision in decisions:
            self.add(decision)

    def in_order(self) -> list[say.Decision]:
        """Return all decisions in the order in which they were told."""
        return [self._by_number[number] for number in sorted(self._by_number)]

    def add(self, decision: say.Decision) -> None:
        self._next += 1
        self._about.setdefault(decision.job, []).append(self._next)
        self.replace(self._next, decision)

    def replace(self, number: Number, decision: say.Decision) -> None:
        if isinstance(decision, say.Evict | say.Demote) and decision.preemptor is not None:
            self._made_for.setdefault(decision.preemptor, []).append(number)
        self._log.append((number, self._by_number.get(number)))
        self._by_number[number] = decision

    def drop(self, number: Number) -> None:
        self._log.append((number, self._by_number.pop(number)))

    def eviction_of(self, job: JobId) -> Number | None:
        """Return the number of the first eviction of this job's core; None if there is none."""
        for number in self._about.get(job, ()):
            decision = self._by_number.get(number)
            if isinstance(decision, say.Evict) and decision.kind is UnitKind.CORE:
                return number
        return None

    def hold_of(self, job: JobId) -> tuple[Number, say.Hold] | None:
        """Return the last promise of places to this job, with its number; None if there is none."""
        for number in reversed(self._about.get(job, ())):
            decision = self._by_number.get(number)
            if isinstance(decision, say.Hold) and decision.replicas:
                return number, decision
        return None

    def taken_for(self, preemptor: JobId) -> list[tuple[Number, say.Evict | say.Demote]]:
        """Return the evictions and demotions for the sake of this job, with their numbers, in order."""
        found: list[tuple[Number, say.Evict | say.Demote]] = []
        for number in sorted(set(self._made_for.get(preemptor, ()))):
            decision = self._by_number.get(number)
            if isinstance(decision, say.Evict | say.Demote) and decision.preemptor == preemptor:
                found.append((number, decision))
        return found

    def mark(self) -> int:
        """Return a point to which `undo_to` can return."""
        return len(self._log)

    def undo_to(self, mark: int) -> None:
        while len(self._log) > mark:
            number, before = self._log.pop()
            if before is None:
                del self._by_number[number]
            else:
                self._by_number[number] = before
