"""Until when is running work protected by `min_runtime` of its quota, and when must there be a plan for that (P11)?"""

from __future__ import annotations

from heapq import heappop, heappush

from quotatree.core.model.unit import Unit
from quotatree.core.state.nodes import NodeChanges


class ProtectionChanges(NodeChanges):
    """Changes of the times until which running units are protected."""

    def protect(self, unit: Unit) -> None:
        """Set until when a unit is protected, after its start was confirmed or its quota's min_runtime changed (P11)."""
        min_runtime_ms = unit.job.quota.min_runtime_ms
        until = unit.started_ms + min_runtime_ms if min_runtime_ms else 0
        before = unit.protected_until_ms
        if until == before:
            return

        def become(end_ms: int) -> None:
            self._count_protected(unit, -1)
            unit.protected_until_ms = end_ms
            self._count_protected(unit, 1)
            for index in unit.nodes:
                self.nodes[index].touch()
                self.log_change(index)

        become(until)
        self.on_undo(become, before)

    def _count_protected(self, unit: Unit, sign: int) -> None:
        """Count (1) or discount (-1) a unit at the end of its protection, when a plan must be made."""
        end_ms = unit.protected_until_ms
        if not end_ms:
            return
        end = (end_ms, unit.job.quota.root.id)
        count = self.protected.get(end, 0) + sign
        if not count:
            del self.protected[end]
            return
        self.protected[end] = count
        if count == 1 and sign > 0 and end_ms > self.protections_ended_ms:
            heappush(self.protections, end)

    def next_protection_end(self) -> list[int]:
        """Return the next time, in ms, at which the protection of a running unit ends: one or none."""
        while self.protections and self.protections[0] not in self.protected:
            heappop(self.protections)
        return [self.protections[0][0]] if self.protections else []

    def end_protections(self, now_ms: int) -> None:
        """Raise the versions of trees in which a protection ended, so that jobs that failed are tried again (P11)."""
        if self.protected and now_ms > self.protections_ended_ms:
            self.on_undo(self._set_protections_ended, self.protections_ended_ms)
            self._set_protections_ended(now_ms)
        while self.protections and self.protections[0][0] <= now_ms:
            ended = heappop(self.protections)
            if ended in self.protected:
                self.on_undo(heappush, self.protections, ended)
                self.bump(self.quotas[ended[1]])

    def _set_protections_ended(self, ended_ms: int) -> None:
        self.protections_ended_ms = ended_ms
