"""What becomes of jobs that places were promised to: they start, start elsewhere, or are planned anew (P9)?"""

from __future__ import annotations

from quotatree.core.changes import effects
from quotatree.core.model.job import Claim, Hold, Job, Placed
from quotatree.core.model.quota import Quota
from quotatree.core.model.quota_arithmetic import over_while_ending
from quotatree.core.model.resources import ZERO
from quotatree.core.model.unit import Unit
from quotatree.core.model.wait_queue import AGAIN
from quotatree.core.planning.claimant import kept_nodes
from quotatree.core.planning.draft import Draft
from quotatree.core.planning.rivals import rival_of
from quotatree.core.planning.work_stack import WorkStack
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.free_index import free_index
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import Wanted, find_places


class HeldJobs:
    """The holds of one plan."""

    def __init__(self, draft: Draft, stack: WorkStack) -> None:
        self._draft, self._stack = draft, stack

    def expire(self) -> None:
        """Release the holds whose time is over."""
        draft = self._draft
        for job in self._holders():
            if job.hold is not None and job.hold.waiting_on and job.hold.expires_ms <= draft.now_ms:
                reason = because(Code.HoldExpired)
                draft.decisions.append(effects.release(draft.state, job, draft.now_ms, reason, again=True))

    def finish(self) -> bool:
        """Start each held job whose places are empty now or that fits elsewhere; return whether anything was decided.

        If the plan has spent what it may, the rest of them is left to the next.
        """
        holders = self._holders()
        if not holders:
            return False
        draft, nowhere = self._draft, set[tuple[object, ...]]()
        decided, returns = len(draft.decisions), draft.returns
        for job in holders:
            if draft.is_put_off(job, Claim.REGULAR):
                continue
            tried = self._takers_first(job)
            if draft.returns > returns:
                return True
            if not tried:
                break
            if job.hold is not None:
                self._begin(job, job.hold, nowhere)
        return len(draft.decisions) > decided

    def _begin(self, job: Job, hold: Hold, nowhere: set[tuple[object, ...]]) -> None:
        """Start a held job in its places if they are empty now, or elsewhere; else it goes on waiting.

        `nowhere`: requests that fit nowhere else: equal ones need no search.
        """
        draft, state, version = self._draft, self._draft.state, job.quota.tree.version
        if not hold.waiting_on:
            if not effects.wait_longer(state, job, draft.now_ms):
                self._start(job, hold.unit.places, because(Code.HoldComplete))
            return
        if (
            hold.checked_version == version
            or job.leaving
            or over_while_ending(job.quota, hold.unit.footprint, ZERO)
        ):
            return
        state.set_checked(hold, version)
        wanted, avoid = [(p.replica, p.shape) for p in hold.unit.places], kept_nodes(state, job)
        alike = (job.quota.root.id, avoid, *(shape for _, shape in wanted))
        elsewhere = None if alike in nowhere else self._elsewhere(hold.unit, wanted, avoid)
        if elsewhere is not None:
            self._start(job, elsewhere, because(Code.StartsElsewhere))
        elif len(wanted) == 1:  # a gang may use its own promised places too
            nowhere.add(alike)

    def retry_expired(self) -> bool:
        """Try jobs whose hold expired before any of their victims; return whether anything was decided."""
        draft = self._draft
        again: list[Quota] = []
        for tree in draft.trees:  # asked several times in every plan: no comprehension
            for quota in tree.waiting.values():
                if quota.queue.again:
                    again.append(quota)
        if not again:
            return False
        waiting = [
            draft.state.jobs[job_id]
            for quota in again
            for cls in quota.queue.classes.values()
            if cls.key[0] == AGAIN
            for _, job_id in cls.members
        ]
        decided, returns = len(draft.decisions), draft.returns
        # Rights go from the top down and from high to low, so this is S8's order.
        for job in sorted(waiting, key=lambda j: (j.quota.depth, -j.priority, j.spec.submitted_ms, j.id)):
            while (cls := job.quota.queue.of_job.get(job.id)) is not None:
                if job.running or draft.ordering.fails(cls) or draft.effort.used_up:
                    break
                self._stack.help(cls, job)
                if draft.returns > returns:
                    return True
        return len(draft.decisions) > decided

    def wakeups(self) -> list[int]:
        """Return the times, in ms, at which holds end that still wait for somebody to leave."""
        return [job.hold.expires_ms for job in self._holders() if job.hold and job.hold.waiting_on]

    def _holders(self) -> list[Job]:
        """Return all jobs with a hold by priority, submit time and id, since a rollback changes the order of entries."""
        held: list[Job] = []
        for tree in self._draft.trees:
            if tree.held:
                held += tree.held.values()
        if len(held) > 1:
            held.sort(key=lambda j: (-j.priority, j.spec.submitted_ms, j.id))
        return held

    def _takers_first(self, job: Job) -> bool:
        """Try jobs that could evict this held job before it starts, so that they take its hold and not its start (S8).

        Return False if one of them could not be tried in this plan.
        """
        draft = self._draft
        returns = draft.returns
        while job.hold is not None and draft.returns == returns and draft.ordering.anybody_ready():
            rival = rival_of(draft.ordering, job, job.hold.unit.footprint)
            if rival is None:
                return True
            if draft.effort.used_up:
                return False
            self._stack.help(rival.cls, rival.job)
        return True

    def _start(self, job: Job, places: tuple[Placed, ...], reason: Reason) -> None:
        draft = self._draft
        draft.note_place(job, Claim.REGULAR)
        begun = effects.start(
            draft.state, job, places, claim=Claim.REGULAR, now_ms=draft.now_ms, step=Step.FREE, reason=reason
        )
        draft.decisions.append(begun)

    def _elsewhere(self, unit: Unit, wanted: Wanted, avoid: frozenset[int]) -> tuple[Placed, ...] | None:
        """Return places that are free now, for a gang also those of its promised places that are empty; None if too few."""
        state, root = self._draft.state, unit.job.quota.root
        found = find_places(state, root, wanted, now=True, avoid=avoid)
        if found is not None or len(wanted) == 1:
            return found
        if not any(free_index(state, shape, root, True).total for shape in {shape for _, shape in wanted}):
            return None
        without = Overlay(state)
        without.take(unit)
        return find_places(state, root, wanted, now=True, avoid=avoid, overlay=without)
