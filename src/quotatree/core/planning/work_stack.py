"""One job has its turn: who is tried before it, what is proposed for each, and what of it is applied (S8, S9, P3)?

A job that could start may have to give way to others that could take from it, and these to others again. So there is a stack: its
last job is asked first. If it fails, the one before it has its turn again; if it is helped, that is all for now, since the order begins
from the top after everything that is applied.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from quotatree.core.errors import EndlessPlan
from quotatree.core.model.effort import CutShort
from quotatree.core.model.job import Claim, Job, JobId
from quotatree.core.model.rights import could_evict, work_of
from quotatree.core.model.wait_queue import Failure, WaitClass
from quotatree.core.planning.applying import apply
from quotatree.core.planning.asking import attempt
from quotatree.core.planning.contest import Candidate
from quotatree.core.planning.draft import Draft
from quotatree.core.planning.outcome import Around, Decided, Failed, Outcome, Proposal, Question, RivalsFirst
from quotatree.core.planning.rivals import before_loan, rival_of, who_would_take_it_back
from quotatree.core.planning.why import kept_for_guard
from quotatree.core.reasons import Code, because


class Frame:
    """A job on the stack: how the question ended whether it can be helped, and what is settled about who comes first."""

    __slots__ = ("cls", "job", "outcome", "settled")

    def __init__(self, cls: WaitClass, job: Job) -> None:
        self.cls, self.job = cls, job
        self.outcome: Proposal | RivalsFirst | None = None
        self.settled: frozenset[Question] = frozenset()


class WorkStack:
    """The loop of one plan. `left_out`: classes whose start was postponed: the next plan tries them again."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._state, self._now_ms, self._effort = draft.state, draft.now_ms, draft.effort
        self._resting_on_all: list[WaitClass] = []  # their failures: any change makes them void
        self.left_out: list[WaitClass] = []

    def help(self, cls: WaitClass, job: Job) -> bool:
        """Help a job, or one that must be tried before it; return whether one was helped.

        If the plan is cut short meanwhile, none is: a job that was not tried yet might have to come before the others.
        """
        return self._go_on([Frame(cls, job)])

    def resume(self) -> bool:
        """Go on where the last plan was cut short, if nothing has changed since; return whether a job was helped."""
        queued = [(job.quota.queue.of_job.get(job.id), job) for job in self._effort.resumes]
        return self._go_on([Frame(cls, job) for cls, job in queued if cls is not None])

    def _go_on(self, frames: list[Frame]) -> bool:
        try:
            while frames:
                if self._step(frames):
                    return True
        except CutShort:
            self._effort.stack = tuple(frame.job for frame in frames)
        return False

    def look_again(self) -> bool:
        """Let classes whose failure any change makes void be tried again; return whether there are any (S9)."""
        found = False
        for cls in self._resting_on_all:
            failed = cls.failed
            if cls.members and failed is not None and failed.change not in (None, self._state.change):
                self._draft.ordering.touch(cls.quota)
                found = True
        self._resting_on_all.clear()
        return found

    def _step(self, frames: list[Frame]) -> bool:
        """Go on with the last job of the stack; return whether it was helped."""
        frame = frames[-1]
        if frame.outcome is None and len(frames) > 1 and self._effort.no_more_for(frame.cls):
            raise CutShort  # this job might have to come before the others
        outcome = frame.outcome or self._effort.measure(frame.cls, partial(self._ask, frame, frames))
        if not isinstance(outcome, Failed):
            rival = self._rival(frame.job, outcome.question, [other.job.id for other in frames])
            if rival is not None:
                frame.outcome = outcome
                frames.append(Frame(rival.cls, rival.job))
                return False
            if isinstance(outcome, RivalsFirst):
                if outcome.question in frame.settled:
                    raise EndlessPlan
                frame.outcome, frame.settled = None, frame.settled | {outcome.question}
                return False
            decided = self._effort.measure(frame.cls, partial(self._applied, frame, outcome))
            if isinstance(decided, Decided):
                self._draft.add(frame.job, decided)
                return True
            outcome = decided
        frames.pop()
        self._remember(frame.cls, frame.job, outcome.failure)
        return False

    def _ask(self, frame: Frame, frames: list[Frame]) -> Outcome:
        """Return whether and how a job can be helped; nothing changes."""
        job, state = frame.job, self._state
        if self._draft.stays_behind_guard(job):
            return Failed(Failure(kept_for_guard(state, job), job.quota.tree.version, change=state.change))
        preemptor = self._draft.postponed.get((job.id, Claim.REGULAR))
        if preemptor is not None:
            self.left_out.append(frame.cls)
            return self._would_be_taken(job, preemptor)
        tried = [other.job.id for other in frames]

        def anybody_first(job: Job, question: Question) -> bool:
            return self._rival(job, question, tried) is not None

        around = Around(self._effort.of(frame.cls), anybody_first, frame.settled)
        return attempt(state, job, frame.cls, self._now_ms, around)

    def _applied(self, frame: Frame, proposal: Proposal) -> Decided | Failed:
        """Apply a proposal; take it back and return a failure if another job could start by taking what it took (S8)."""
        job, state = frame.job, self._state
        decided = apply(state, proposal, self._now_ms)
        lasts = False
        try:
            around = Around(self._effort.of(frame.cls))
            preemptor = who_would_take_it_back(state, job, decided.taken, self._now_ms, around)
            lasts = preemptor is None
        finally:
            if not lasts:
                state.rollback_to(decided.before)
        return decided if preemptor is None else self._would_be_taken(job, preemptor)

    def _would_be_taken(self, job: Job, preemptor: JobId) -> Failed:
        reason = because(Code.WouldBeTaken, preemptor=preemptor)
        return Failed(Failure(reason, job.quota.tree.version, change=self._state.change))

    def _rival(self, job: Job, question: Question, without: Iterable[JobId]) -> Candidate | None:
        """Return who must be tried before a job that could start, or None; `without`: those on the stack."""
        ordering, ids = self._draft.ordering, list(without)
        if question.by_policy:
            # The first of all that there may be comes first in any case if a policy makes it one.
            first = rival_of(ordering, job, question.more, ids)
            if first is None or not could_evict(first.quota, first.job.priority, work_of(job)):
                return None
            return first
        if ordering.nobody_but(job):
            return None
        first = rival_of(ordering, job, question.more, ids)
        if first is None and question.on_loan:
            first = before_loan(ordering, job, ids)
        return first

    def _remember(self, cls: WaitClass, job: Job, failure: Failure) -> None:
        self._state.remember(cls, failure)
        if failure.change is not None:
            self._resting_on_all.append(cls)
        self._effort.failed(cls)
        if failure.reason.code is Code.StopsAtIdle:
            self._effort.hopes.append((cls, self._state.change))
        self._draft.ordering.drop(cls)
        self._draft.tell(job, failure.reason)
