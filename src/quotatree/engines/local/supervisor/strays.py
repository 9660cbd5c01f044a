"""Whose are the children of a supervisor that it did not start? Its replicas': they lost their parents, and became its own."""

from __future__ import annotations

import contextlib
import os

from quotatree.engines.local.host import process_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet

    from quotatree.engines.local.supervisor.replica import Replica


class Strays:
    """Finds strays among the children of this process.

    `helpers`: pids of its children that belong to no replica; `mark`: what the environment of a replica's processes has.
    """

    def __init__(
        self, replicas: Mapping[int, Replica], helpers: AbstractSet[int], mark: Callable[[int], str]
    ) -> None:
        self._replicas = replicas
        self._helpers = helpers
        self._mark = mark

    def of(self, number: int) -> list[int]:
        """Strays that may belong to this replica: all but those that group or mark assign to another one that still runs.

        Marks count also where there are groups: root may leave a group, as tools that run containers do.
        """
        strays = self._all()
        others = [replica for n, replica in self._replicas.items() if n != number and replica.alive]
        if not strays or not others:
            return strays
        theirs = set().union(*(replica.in_its_group() for replica in others))
        marks = {self._mark(replica.number) for replica in others}
        return [pid for pid in strays if pid not in theirs and process_tree.mark_of(pid) not in marks]

    def reap(self) -> None:
        """Let those go that have ended."""
        for pid in self._all():
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def _all(self) -> list[int]:
        """Pids of our children that are neither a main process nor a helper."""
        mains = {r.identity.pid for r in self._replicas.values() if r.alive and r.identity is not None}
        return [
            pid for pid in process_tree.children(os.getpid()) if pid not in mains and pid not in self._helpers
        ]
