"""What has a plan decided so far, and how does it go back to an earlier point of it (S8, P8, P11)?"""

from __future__ import annotations

from typing import NamedTuple

from quotatree.core import decisions as say
from quotatree.core.changes.effects import Stopped
from quotatree.core.changes.preemption_count import count_preemption, count_preemptions
from quotatree.core.model.job import Claim, Job, JobId, Phase
from quotatree.core.model.quota import Quota
from quotatree.core.model.quota_arithmetic import fits_own_min, has_loan
from quotatree.core.model.unit import Unit, UnitKind
from quotatree.core.planning.claimant import passes_guard
from quotatree.core.planning.effort import PlanEffort
from quotatree.core.planning.net_effect import keep_running
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.outcome import Decided
from quotatree.core.reasons import Reason
from quotatree.core.state import State
from quotatree.core.state.undo_log import Mark

_Started = tuple[JobId, Claim | UnitKind]
"""A start or a hold of a job in this plan, by its claim, or a surplus replica of it."""


class _Placing(NamedTuple):
    """Where the plan stood before a start or a hold."""

    mark: Mark
    decisions: int
    placings: int
    last: bool


class _NetEffect(NamedTuple):
    """Where the plan stood before it let victims stay, and what it had decided by then: that list is made shorter by it."""

    mark: Mark
    decisions: list[say.Decision]
    stopped: dict[JobId, Stopped]


class Draft:
    """The decisions of one plan for trees that share pools, applied to the state as they are made.

    `returns` counts how often the plan went back; `ordering` is another one after each time. `last`: no other job can be helped
    any more, so what was postponed may be started.
    """

    def __init__(self, state: State, now_ms: int, ordering: Ordering) -> None:
        self.state, self.now_ms, self.trees = state, now_ms, ordering.trees
        self.decisions: list[say.Decision] = []
        self.ordering = ordering
        self.effort = PlanEffort(state, ordering.trees[0].unfinished)
        self.returns = 0
        self.last = False
        self.postponed: dict[_Started, JobId] = {}  # starts left out, each with who would evict it
        # Jobs that do not start, since their victims would come back past a guard.
        self.kept_for_guard: set[JobId] = set()
        self._guarded_then: dict[JobId, JobId | None] = {}  # who was guarded when a job was given places
        self._barred: set[_Started] = set()  # starts that are not made even in the last pass
        self._placed: dict[_Started, _Placing] = {}
        self._stopped: dict[JobId, Stopped] = {}  # the first eviction of each core in this plan
        self._waits: dict[JobId, say.Wait] = {}
        self._settled: set[JobId] = set()  # victims whose preemption was counted
        self._net_effects: list[_NetEffect] = []  # before each time that victims were let stay

    # -- going on ----------------------------------------------------------------------------------------------

    def add(self, job: Job, outcome: Decided) -> None:
        """Add what was decided for a job, or go back if that took what was given out in this plan.

        Nothing is started only to be evicted. Trying rivals first ensures that, but for chains that no order foresees: then
        the plan goes back to where the victim was started, and goes on without that start.
        """
        for unit in outcome.taken if self._placed else ():
            started = self._started(unit)
            if started is not None:
                self._go_back(self._placed[started])
                if started in self.postponed:
                    self._barred.add(started)  # nor can it be started last
                self.postponed[started] = job.id
                return
        self._record(job, outcome)

    def _started(self, unit: Unit) -> _Started | None:
        """Return what of a unit that goes was started in this plan, or goes with it: its run, or a surplus replica; None: nothing."""
        name, kind = unit.job.id, unit.cls.kind
        if kind is not UnitKind.SURPLUS and (name, unit.cls.claim) in self._placed:
            return name, unit.cls.claim
        takes_surplus = kind in (UnitKind.CORE, UnitKind.SURPLUS)
        return (
            (name, UnitKind.SURPLUS) if takes_surplus and (name, UnitKind.SURPLUS) in self._placed else None
        )

    def note_place(self, job: Job, what: Claim | UnitKind) -> None:
        """Note that a job is about to be started, or gets surplus, so that the plan can go back to this point."""
        self._placed.setdefault((job.id, what), self._here())
        self.effort.started()

    def is_put_off(self, job: Job, what: Claim | UnitKind) -> bool:
        """Return whether a start is not to be made now, since another job would evict it."""
        started = (job.id, what)
        return (started in self.postponed and not self.last) or started in self._barred

    def tell(self, job: Job, reason: Reason) -> None:
        """Tell a job why it waits, unless it was told in an earlier plan since it began to wait."""
        if job.phase is Phase.WAITING and (job.told is None or job.id in self._waits):
            self.state.set_told(job, reason)
            self._waits[job.id] = say.Wait(job.id, reason)

    def news(self) -> list[say.Wait]:
        """Return the waits of jobs that were first tried in this plan since they began to wait, as they were told.

        Oldest first: in which order they were tried depends on what was remembered.
        """
        if not self._waits:
            return []
        jobs = self.state.jobs
        found = [wait for wait in self._waits.values() if jobs[wait.job].told is wait.reason]
        return sorted(found, key=lambda wait: (jobs[wait.job].spec.submitted_ms, wait.job))

    def _record(self, job: Job, outcome: Decided) -> None:
        before = self._here(outcome.before)
        for decision in outcome.decisions:
            if isinstance(decision, say.PLACINGS):
                self._placed[decision.job, Claim.REGULAR] = before
                self._guarded_then[decision.job] = job.quota.tree.guard
        self.decisions += outcome.decisions
        if any(isinstance(decision, say.Start | say.Hold | say.Promote) for decision in outcome.decisions):
            self._claim_loans(job.quota)
        for victim in outcome.stopped:
            self._stopped.setdefault(victim.unit.job.id, victim)
        self.ordering.left(job)

    def _claim_loans(self, borrower: Quota) -> None:
        """Let jobs be tried again that may claim a loan which was just taken, or became larger (P15, S9)."""
        for above in borrower.path if borrower.tree.loans else ():
            if not has_loan(above):
                continue
            for lender in above.siblings():
                waiting = lender.queue.classes.values()
                failed = [c for c in waiting if c.failed is not None and fits_own_min(lender, c.request)]
                for cls in failed:
                    self.state.remember(cls, None)
                if failed:
                    self.ordering.touch(lender)

    # -- going back --------------------------------------------------------------------------------------------

    def _here(self, mark: Mark | None = None) -> _Placing:
        """Return where the plan stands now, or at this mark, since when nothing was recorded."""
        mark = self.state.mark() if mark is None else mark
        return _Placing(mark, len(self.decisions), len(self._placed), self.last)

    def _go_back(self, to: _Placing) -> None:
        while self._net_effects and self._net_effects[-1].mark.recorded >= to.mark.recorded:
            before = self._net_effects.pop()
            self.decisions[:], self._stopped = before.decisions, before.stopped
        self.state.rollback_to(to.mark)
        del self.decisions[to.decisions :]
        self._placed = dict(list(self._placed.items())[: to.placings])
        self.last = to.last
        evicted = {decision.job for decision in self.decisions if isinstance(decision, say.Evict)}
        failed = {decision.job for decision in self.decisions if isinstance(decision, say.Fail)}
        self._settled &= failed
        self._stopped = {name: victim for name, victim in self._stopped.items() if name in evicted}
        self._waits = {
            name: wait for name, wait in self._waits.items() if self.state.jobs[name].told is wait.reason
        }
        self.ordering = Ordering(self.state, self.now_ms, self.trees)
        self.returns += 1

    # -- victims -----------------------------------------------------------------------------------------------

    def hold_guards(self) -> bool:
        """Go back to before a start that a guard forbids, now that a victim of it runs again; return whether there is one (S10).

        A victim that may pass the guard comes back to what it left, so its preemptor stands on what is kept.
        """
        jobs = self.state.jobs
        for decision in self.decisions:
            ledger = decision.preemption if isinstance(decision, say.PLACINGS) else None
            job, started = jobs[decision.job], (decision.job, Claim.REGULAR)
            guard = job.quota.tree.guard
            if ledger is None or guard is None or self._guarded_then.get(job.id) != guard:
                continue
            back = any(jobs[v.job].phase in (Phase.RUNNING, Phase.HELD) for v in ledger.victims)
            if back and not passes_guard(self.state, job) and _on_what_is_kept(job):
                self._go_back(self._placed[started])
                self.kept_for_guard.add(job.id)
                return True
        return False

    def stays_behind_guard(self, job: Job) -> bool:
        """Return whether a job is not started, since its victims would come back past the guard."""
        return (
            job.id in self.kept_for_guard
            and job.quota.tree.guard is not None
            and not passes_guard(self.state, job)
        )

    def let_victims_stay(self) -> bool:
        """Let victims that were promised other places stay where they are (P8); return whether one does.

        Then others stand elsewhere than they would have, and a job that found no place before may find one now.
        """
        if not self._stopped:
            return False
        before = _NetEffect(self.state.mark(), list(self.decisions), dict(self._stopped))
        kept = keep_running(self.state, self.now_ms, self.decisions, list(self._stopped.values()))
        if not kept:
            return False
        self._net_effects.append(before)
        for job_id in kept:
            del self._stopped[job_id]
        for tree in self.trees:
            self.state.bump(tree.root)
        self.ordering = Ordering(self.state, self.now_ms, self.trees)
        return True

    def fail_over_limit(self) -> bool:
        """End victims of this plan that still wait and were preempted too often (P11); return whether there were any.

        They leave their queues now, so that they do not block other jobs.
        """
        failed, jobs = False, self.state.jobs
        for decision in list(self.decisions):
            if not isinstance(decision, say.Evict):
                continue
            job = jobs[decision.job]
            limit = job.spec.max_preemptions
            if limit is None or not decision.counts or job.id in self._settled:
                continue
            if job.phase is Phase.WAITING and len(job.preempted_ms) + 1 > limit:
                self._settled.add(job.id)
                self.decisions += count_preemption(self.state, job, self.now_ms)
                self.ordering.touch(job.quota)
                failed = True
        return failed

    def settle_victims(self) -> None:
        """Count the preemptions of this plan, and end jobs that were preempted more often than their owner allows (P11).

        Victims that found another place in this plan are marked as moved and not counted (P8).
        """
        state = self.state
        preempted: list[Job] = []
        for position, decision in enumerate(self.decisions):
            if not isinstance(decision, say.Evict) or decision.kind is not UnitKind.CORE:
                continue
            job = state.jobs[decision.job]
            if job.phase in (Phase.HELD, Phase.RUNNING):
                self.decisions[position] = decision._replace(moved=True, counts=False)
            elif decision.counts and job.id not in self._settled:
                preempted.append(job)
        if preempted:
            self.decisions += count_preemptions(state, preempted, self.now_ms)


def _on_what_is_kept(job: Job) -> bool:
    """Return whether a job that was placed, with what else is used, leaves too little in its quotas for the guarded job (S10)."""
    path = job.quota.path
    return any(
        above.shadow[i] and above.used[i] + above.shadow[i] > bound
        for above in path
        for i, bound in above.named
    )
