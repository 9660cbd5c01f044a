"""What does a plan remember for the next one, and how is that taken back?

Only failures: that a class of waiting jobs could not start, that a service found no place for more replicas, that a queue
had nobody left to be tried; and what a plan that was cut short leaves to the next. Each failure names what it rests on (model/wait_queue.py), and whatever changes that makes it void. What
a transaction remembered goes with it: after a rollback everything remembered is of the state as it is again. So memory
saves work and decides nothing: a plan made without any comes to the same (A8).
"""

from __future__ import annotations

from quotatree.core.model.effort import Unfinished
from quotatree.core.model.job import Job
from quotatree.core.model.no_room import Exhausted
from quotatree.core.model.tree import Tree
from quotatree.core.model.wait_queue import Failure, WaitClass, WaitQueue
from quotatree.core.state.facts import Facts


class Memory(Facts):
    """Remembers failures."""

    def remember(self, cls: WaitClass, failed: Failure | None) -> None:
        """Remember why no job of the class could start; None: nothing is known."""
        if cls.failed is not failed:
            self.on_forget(self.remember, cls, cls.failed)
            cls.failed = failed

    def remember_idle(self, cls: WaitClass, failed: Failure | None) -> None:
        """Remember why no job of the class could start on an idle claim; None: nothing is known."""
        if cls.failed_idle is not failed:
            self.on_forget(self.remember_idle, cls, cls.failed_idle)
            cls.failed_idle = failed

    def remember_surplus(self, job: Job, version: int | None) -> None:
        """Remember at which version of its tree no further replica of a service fitted; None: nothing is known."""
        known = self.surplus_failed.get(job.id)
        if known == version:
            return
        self.on_forget(self.remember_surplus, job, known)
        if version is None:
            del self.surplus_failed[job.id]
        else:
            self.surplus_failed[job.id] = version

    def remember_exhausted(self, queue: WaitQueue, present: Exhausted | None) -> None:
        """Remember that the queue had nobody left to try; None: it is not known."""
        if queue.exhausted != present:
            self.on_forget(self.remember_exhausted, queue, queue.exhausted)
            queue.exhausted = present

    def remember_unfinished(self, tree: Tree, unfinished: Unfinished | None) -> None:
        """Remember what a plan that was cut short leaves to the next one; None: it was not."""
        if tree.unfinished is not unfinished:
            self.on_forget(self.remember_unfinished, tree, tree.unfinished)
            tree.unfinished = unfinished
