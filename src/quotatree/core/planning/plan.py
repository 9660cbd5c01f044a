"""One plan: who starts, who must go, who waits, and when must there be another one though nothing happens (S6, S8-S10, P9, P11)?

A plan goes in rounds: regular starts and evictions, then idle starts, then surplus replicas; after every decision the
order starts again from the top, and the plan ends when a whole pass decides nothing. Failures are remembered per class of
waiting jobs until something is released, so "from the top" costs what has changed.
"""

from __future__ import annotations

from quotatree.core import decisions as say
from quotatree.core.errors import EndlessPlan
from quotatree.core.model.effort import PREVIEWED
from quotatree.core.model.job import Claim
from quotatree.core.model.quota import QuotaId
from quotatree.core.model.quota_arithmetic import has_loan
from quotatree.core.model.tree import Tree
from quotatree.core.planning.draft import Draft
from quotatree.core.planning.held_jobs import HeldJobs
from quotatree.core.planning.leftovers import Leftovers, idle_candidates
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.ready_jobs import forget_positions
from quotatree.core.planning.starvation_guard import guard_due, look_after_guards, next_guard_ms, place_guards
from quotatree.core.planning.why import kept_for_guard
from quotatree.core.planning.work_stack import WorkStack
from quotatree.core.reasons import Code, Reason, because
from quotatree.core.state import State


def plan(state: State, now_ms: int) -> say.Plan:
    """Decide everything that can be decided now. The decisions are applied to the state when this returns.

    If it raises, the state is as it was (A8).
    """
    if state.in_transaction:
        return _made(state, now_ms)
    state.begin()
    try:
        made = _made(state, now_ms)
    except BaseException:
        state.rollback()
        raise
    state.commit()
    return made


def plan_through(state: State, now_ms: int) -> tuple[say.Decision, ...]:
    """Plan, and again as long as a plan asks for the next one at once, a few times at most; return all decisions.

    A job that waits in one of these plans and starts in a later one is not told that it waits.
    """
    found: list[say.Decision] = []
    for _ in range(PREVIEWED):
        made = plan(state, now_ms)
        started = {d.job for d in made.decisions if isinstance(d, say.PLACINGS)}
        found = [d for d in found if not isinstance(d, say.Wait) or d.job not in started]
        found += made.decisions
        if made.next_wakeup_ms != now_ms or not made.decisions:
            break
    return tuple(found)


def _made(state: State, now_ms: int) -> say.Plan:
    """Make the plan, for each group of trees that share pools by itself: nothing that one group does concerns another."""
    state.end_protections(now_ms)
    state.end_put_off(now_ms)
    decisions: list[say.Decision] = []
    cut_short = False
    wakeups = [job.retry_ms for job in state.put_off.values() if job.retry_ms] if state.put_off else []
    for root in state.roots:
        trees = root.tree.together
        if trees[0] is not root.tree:  # it was planned with the first of its group
            continue
        forget_positions(state, trees)
        goes_on = trees[0].unfinished is not None
        cut_short = cut_short or goes_on
        ordering = Ordering(state, now_ms, trees)
        if not goes_on and at_rest(state, ordering, now_ms):
            wakeups += waking_times(state, ordering, now_ms)
            continue
        planner = _Planner(Draft(state, now_ms, ordering))
        planner.decide()
        forget_positions(state, trees)
        decisions += planner.decisions
        wakeups += planner.wakeups()
        cut_short = cut_short or trees[0].unfinished is not None
    return say.Plan(now_ms, tuple(decisions), min(wakeups, default=None), cut_short)


PutOff = dict[tuple[QuotaId, tuple[object, ...]], Reason]
"""Of classes of waiting jobs, by quota and key: why none of them is started though one could be."""


def put_off(state: State, now_ms: int, trees: tuple[Tree, ...]) -> PutOff:
    """Return the classes in these trees, which share pools, that a plan would put off, each with who would take it (S8).

    Only a plan knows that. It is made and taken back: the state is unchanged.
    """
    state.begin()
    try:
        state.end_protections(now_ms)
        state.end_put_off(now_ms)
        planner = _Planner(Draft(state, now_ms, Ordering(state, now_ms, trees)))
        planner.decide()
        return planner.put_off()
    finally:
        state.rollback()


class _Planner:
    def __init__(self, draft: Draft) -> None:
        self._spend = draft.effort
        self._draft, self._state, self._now_ms = draft, draft.state, draft.now_ms
        self._leftovers, self._stack = Leftovers(draft), WorkStack(draft)
        self._holds = HeldJobs(draft, self._stack)

    @property
    def decisions(self) -> list[say.Decision]:
        return self._draft.decisions

    def decide(self) -> None:
        """Make all decisions, in the draft and in the state."""
        draft, holds = self._draft, self._holds
        for tree in draft.trees:
            if tree.loans and not any(map(has_loan, tree.numbered)):
                self._state.set_loans(tree, False)
        draft.decisions += look_after_guards(self._state, draft.trees, self._now_ms)
        holds.expire()
        self._stack.resume()
        while True:
            returns = draft.returns
            while holds.retry_expired() or holds.finish():
                pass
            while draft.returns == returns and self._round():
                pass
            if draft.returns != returns:
                continue
            if not self._spend.used_up and self._between_rounds():
                continue
            if not draft.hold_guards() and not draft.let_victims_stay():
                break
        draft.ordering.close(early=self._spend.used_up)
        self._leave_to_the_next()
        draft.settle_victims()
        draft.decisions += draft.news()

    def _leave_to_the_next(self) -> None:
        """Note what was not finished; else forget failures that the next plan is to find out again."""
        unfinished = self._spend.unfinished()
        self._state.remember_unfinished(self._draft.trees[0], unfinished)
        if unfinished is not None:
            if not self._draft.decisions and not self._spend.anybody_had_a_turn:
                raise EndlessPlan
            return
        self._leftovers.forget_hopes()
        for cls in self._stack.left_out:
            self._state.remember(cls, None)

    def _round(self) -> bool:
        """Make one decision; return False when no job can be helped any more, or none may be in this plan.

        Where the plan is cut short nothing else is started either: it might only be taken for a job whose turn has not come.
        """
        kinds = (
            self._regular,
            self._holds.retry_expired,
            self._leftovers.start_idle,
            self._leftovers.start_surplus,
        )
        for decide in kinds:
            if self._spend.used_up:
                return False
            if decide():
                return True
        return False

    def _between_rounds(self) -> bool:
        """Do what follows once no job can be helped; return True if a job may be helped after that."""
        return (
            self._draft.fail_over_limit()
            or self._holds.finish()
            or self._stack.look_again()
            or self._guards()
            or self._last_pass()
        )

    def _guards(self) -> bool:
        """Update and place starvation guards (S10); return whether one changed.

        A guarded job does not block its queue, so the rounds go on then.
        """
        draft = self._draft
        found = look_after_guards(self._state, draft.trees, self._now_ms)
        found += place_guards(self._state, draft.trees, self._now_ms)
        draft.decisions += found
        return bool(found)

    def _last_pass(self) -> bool:
        """Let jobs whose start was postponed finish their holds or run idle, now that no other job can be helped.

        A postponed regular start from the queue waits for another plan. Returns False if there is none, or the second time.
        """
        draft = self._draft
        if draft.last or not draft.postponed:
            return False
        draft.last = True
        self._holds.finish()
        return True

    # -- the first round ---------------------------------------------------------------------------------------

    def _regular(self) -> bool:
        """Make one decision of the first round; return False when no job can be helped any more."""
        while not self._spend.used_up and (candidate := self._draft.ordering.best()) is not None:
            if self._stack.help(candidate.cls, candidate.job):
                return True
        return False

    # -- the end -----------------------------------------------------------------------------------------------

    def put_off(self) -> PutOff:
        """Return the classes whose jobs were not started because another would take what they take, each with that reason."""
        draft, jobs, found = self._draft, self._state.jobs, PutOff()
        waiting = [cls for tree in draft.trees for q in tree.numbered for cls in q.queue.classes.values()]
        for cls in waiting:
            if cls.failed is not None and cls.failed.reason.code is Code.WouldBeTaken:
                found[cls.quota.id, cls.key] = cls.failed.reason
        for job_id in draft.kept_for_guard:
            kept_out = jobs[job_id].quota.queue.of_job.get(job_id)
            if kept_out is not None and draft.stays_behind_guard(jobs[job_id]):
                found[kept_out.quota.id, kept_out.key] = kept_for_guard(self._state, jobs[job_id])
        placed = {decision.job for decision in draft.decisions if isinstance(decision, say.PLACINGS)}
        for (job_id, what), preemptor in draft.postponed.items():
            waits = isinstance(what, Claim) and job_id not in placed
            left_out = jobs[job_id].quota.queue.of_job.get(job_id) if waits else None
            if left_out is not None:
                found[left_out.quota.id, left_out.key] = because(Code.WouldBeTaken, preemptor=preemptor)
        return found

    def wakeups(self) -> list[int]:
        """Return the times, in ms, at which a plan may decide more though nothing happens: now, if starts were put off or
        the plan ended before all had their turn."""
        draft = self._draft
        if self._spend.used_up:
            return [self._now_ms]
        if draft.postponed and any(not isinstance(decision, say.Wait) for decision in draft.decisions):
            return [self._now_ms]
        expiring = [time_ms for time_ms in self._holds.wakeups() if time_ms > self._now_ms]
        return expiring + waking_times(self._state, draft.ordering, self._now_ms)


def at_rest(state: State, ordering: Ordering, now_ms: int) -> bool:
    """Return whether it is plain that nothing can be decided, as after most ends of jobs: nobody is to be tried, to be started
    idle, to grow or to be looked after."""
    if ordering.anybody_stirred():
        return False
    borrows = False
    for tree in ordering.trees:
        if tree.held or tree.elastic or tree.loans or tree.guard is not None:
            return False
        for quota in tree.waiting.values():
            if quota.queue.again:
                return False
            borrows = borrows or quota.queue.borrowing > 0
    if borrows and idle_candidates(state, ordering, now_ms):
        return False
    return not guard_due(state, ordering.trees, now_ms)


def waking_times(state: State, ordering: Ordering, now_ms: int) -> list[int]:
    """Return the times, in ms, after now at which waiting alone may let a job be tried or guarded."""
    times = ordering.wakeups()
    times += next_guard_ms(state, ordering.trees, now_ms)
    return [time_ms for time_ms in times if time_ms > now_ms] if times else times
