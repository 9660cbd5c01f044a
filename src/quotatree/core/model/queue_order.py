"""In which order do the classes of one queue stand (S0-S5)? It is kept as classes and their first members come and go.

A plan asks after every start, and where thousands of classes wait one start moves only one of them.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quotatree.core.model.job import JobId
    from quotatree.core.model.wait_queue import WaitClass

Member = tuple[int, "JobId"]
"""A waiting job: its submit time and its id."""
Place = tuple[int, Member, "WaitClass"]
"""The place of a class: the queue priority of its first member, negated, and that member."""


class QueueOrder:
    """The places of all classes of a queue, as of one time if waiting makes priorities rise; not known until it is asked for."""

    __slots__ = ("_basis", "_places", "known")

    def __init__(self) -> None:
        self._basis = (0, 0, False)
        self._places: list[Place] = []
        self.known = False  # whether it was asked for, so that it must be told what comes and goes

    def places(
        self, classes: Iterable[WaitClass], now_ms: int, aging_interval_ms: int, ages: bool
    ) -> list[Place]:
        """Return the places of these classes, which are all of the queue, in order; to be read before the queue changes."""
        basis = (now_ms, aging_interval_ms, True) if ages else (0, 0, False)
        if not self.known or self._basis != basis:
            self._basis, self.known = basis, True
            self._places = sorted(self._place(cls, cls.members[0]) for cls in classes)
        return self._places

    def jobs(
        self, classes: Iterable[WaitClass], now_ms: int, aging_interval_ms: int, ages: bool
    ) -> Iterator[tuple[WaitClass, JobId]]:
        """Yield every job of these classes with its class, in order; classes are looked into as far as it is consumed."""
        begun: list[tuple[int, Member, int, WaitClass]] = []  # a heap of the next members of classes
        for priority, first, cls in self.places(classes, now_ms, aging_interval_ms, ages):
            while begun and begun[0][:2] < (priority, first):
                yield self._next_of(begun)
            heappush(begun, (priority, first, 0, cls))
        while begun:
            yield self._next_of(begun)

    def _next_of(self, begun: list[tuple[int, Member, int, WaitClass]]) -> tuple[WaitClass, JobId]:
        """Take the first job out of the heap, and put the next of its class in."""
        _, (_, job_id), number, cls = heappop(begun)
        if number + 1 < len(cls.members):
            priority, member, _ = self._place(cls, cls.members[number + 1])
            heappush(begun, (priority, member, number + 1, cls))
        return cls, job_id

    def put(self, cls: WaitClass) -> None:
        """Note that a class has come, or that its first member has."""
        insort(self._places, self._place(cls, cls.members[0]))

    def drop(self, cls: WaitClass, first: Member) -> None:
        """Note that a class goes, or that this first member of it does."""
        place = bisect_left(self._places, self._place(cls, first)[:2])  # shorter, so just before it
        del self._places[place]

    def _place(self, cls: WaitClass, first: Member) -> Place:
        return -cls.queue_priority(first[0], *self._basis), first, cls
