"""What has a plan told so far, and which of that concerns one job?

Decisions are kept by number, in the order in which they were told, and found by the job they are about or made for. So a
victim that is let stay (net_effect.py) costs what is told of it, not what is told of all. Changes can be undone.
"""

from __future__ import annotations

from collections.abc import Iterable

from quotatree.core import decisions as say
from quotatree.core.model.job import JobId
from quotatree.core.model.unit import UnitKind

Number = int
"""Of a decision; a later one has a higher number."""


class Told:
    """Decisions in order; those about one job and those made for one are at hand."""

    __slots__ = ("_about", "_by_number", "_log", "_made_for", "_next")

    def __init__(self, decisions: Iterable[say.Decision]) -> None:
        self._by_number: dict[Number, say.Decision] = {}
        self._about: dict[JobId, list[Number]] = {}  # also decisions that were dropped
        self._made_for: dict[
            JobId, list[Number]
        ] = {}  # also those that were dropped or are made for another by now
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
