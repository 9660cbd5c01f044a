"""What does a server answer while another one leads? Questions, from a copy of what that one has committed.

The copy is loaded as a world is at a start, and again after the leader has written something. How often is bounded by what a
load costs: a standby spends at most a part of its time on copies, and what it answers may be so much old.
"""

from __future__ import annotations

import time
from typing import Final

from quotatree.control.load_world import world_from
from quotatree.control.store_port import LoopStore
from quotatree.control.world import World
from quotatree.core import Settings

RESTS: Final = 4
"""After a load, so many times as long as it took nothing is loaded again."""


class Onlooker:
    def __init__(self, store: LoopStore, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._copy: World | None = None
        self._again_at = 0.0

    @property
    def copy(self) -> World | None:
        """The last copy; None while there is none. It answers questions and is never written to."""
        return self._copy

    def look(self) -> bool:
        """Load a new copy if the leader has written since the last; return whether it did. Raises StoreUnavailable."""
        began = time.monotonic()
        if began < self._again_at:
            return False
        if self._copy is not None and self._store.last_batch() == self._copy.counters.batch:
            return False
        self._copy = world_from(self._store.load(self._settings))
        ended = time.monotonic()
        self._again_at = ended + RESTS * (ended - began)
        return True

    def forget(self) -> None:
        """Drop the copy: this server leads now, or has stopped."""
        self._copy = None
        self._again_at = 0.0
