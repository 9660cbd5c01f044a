"""Names of priorities (W6)."""

from __future__ import annotations

from collections.abc import Mapping

from quotatree.client import types as t
from quotatree.client.noun import Noun


class Priorities(Noun):
    def names(self) -> dict[str, int]:
        """All names with their numbers, highest first."""
        found: t.PriorityNamesOut = self._http.get("/priorities")
        return found["names"]

    def set_names(self, names: Mapping[str, int]) -> t.Done:
        """Replace all names."""
        done: t.Done = self._http.change("PUT", "/priorities", {"names": dict(names)})
        return done
