"""Which replicas were told to end and still occupy their devices, until the engine confirms their end (P9)?"""

from __future__ import annotations

from quotatree.core.model.job import Job, Placed
from quotatree.core.state.nodes import NodeChanges


class LeavingChanges(NodeChanges):
    """Changes of replicas that are leaving. Whole units that leave their quotas too: see `vacate` in units.py."""

    def begin_leaving(self, job: Job, places: tuple[Placed, ...]) -> None:
        """Mark replicas as leaving: they keep their devices busy until the engine confirms their end."""
        for place in places:
            self.nodes[place.node].leave(job.id, place, 1)
        for index in dict.fromkeys([place.node for place in places]):
            self.log_change(index)
        self._count_leaving(job, places)
        self.on_undo(self._end_leaving, job, places)
        self._touch_job(job)

    def _count_leaving(self, job: Job, places: tuple[Placed, ...]) -> None:
        """Count replicas as leaving that their nodes count so already."""
        for place in places:
            job.leaving[place.replica] = place
        if places:
            self.leaving_jobs[job.id] = job
        self.leaving_replicas += len(places)

    def count_ending(self, job: Job, places: tuple[Placed, ...]) -> None:
        """Let replicas that are leaving count for what else their quota may start: no other job took them (P9)."""
        if not places:
            return
        self._count_ending(job, places, 1)
        self.on_undo(self._count_ending, job, places, -1)
        self._touch_job(job)

    def _count_ending(self, job: Job, places: tuple[Placed, ...], sign: int) -> None:
        for place in places:
            if sign > 0:
                job.ending[place.replica] = place
            else:
                del job.ending[place.replica]
            for i, amount in enumerate(place.shape.resources):
                job.quota.ending[i] += sign * amount

    def end_leaving(self, job: Job, places: tuple[Placed, ...]) -> None:
        ending = tuple([place for place in places if place.replica in job.ending]) if job.ending else ()
        if ending:
            self._count_ending(job, ending, -1)
            self.on_undo(self._count_ending, job, ending, 1)
        self._end_leaving(job, places)
        self.on_undo(self.begin_leaving, job, places)
        self.bump(job.quota)
        self._touch_job(job)

    def _end_leaving(self, job: Job, places: tuple[Placed, ...]) -> None:
        for place in places:
            self.nodes[place.node].leave(job.id, place, -1)
            self.log_change(place.node)
            del job.leaving[place.replica]
        if not job.leaving:
            self.leaving_jobs.pop(job.id, None)
        self.leaving_replicas -= len(places)
