"""How long may an attempt look for victims in vain?

A search that finds nobody leaves no trace that a restored server would have too, so a plan cannot be charged with it (A8). What an
attempt may spend is settled before it begins instead (planning/turns.py), and counted here: every node looked at, every set tried,
every cell of a table. One unit is about five microseconds of whatever is done. Once a set was found nothing is cut short: what is
decided is charged to the plan (planning/allowance.py).
"""

from __future__ import annotations

from typing import Final

ENDLESS: Final = 1 << 60


class OutOfPatience(Exception):
    """All that the attempt may spend in vain is spent; no set was found. It has changed nothing: a search only reads.

    `before_nodes`: it could not even begin to look at nodes.
    """

    def __init__(self, *, before_nodes: bool = False) -> None:
        super().__init__()
        self.before_nodes = before_nodes


class Patience:
    """What one attempt may still spend before its first set of victims is found.

    `each_index`: what a look at all nodes at once is charged with (node_index.py). It is so little where indexes are
    kept that it is not counted. `turn_ms`: when it will be enough for one, if it never is before; None: it may be at any time. `rounds`:
    in so many rounds all have their turn.
    """

    __slots__ = ("_each_index", "_found", "_left", "rounds", "turn_ms")

    def __init__(
        self, units: int = ENDLESS, each_index: int = 0, turn_ms: int | None = None, rounds: int = 1
    ) -> None:
        self._left, self._each_index, self.turn_ms, self.rounds = units, each_index, turn_ms, rounds
        self._found = False

    def spend(self, units: int) -> None:
        """Count so many units; raise OutOfPatience if they are more than what is left and no set was found yet."""
        self._left -= units
        if self._left < 0 and not self._found:
            raise OutOfPatience

    def look_at_nodes(self) -> None:
        """Count a look at all nodes at once; raise OutOfPatience as `spend` does."""
        self._left -= self._each_index
        if self._left < 0 and not self._found:
            raise OutOfPatience(before_nodes=True)

    def seek(self) -> None:
        """Begin a search: no set of it was found yet."""
        self._found = False

    def found(self) -> None:
        """Note that there is a set: the search for a better one is not cut short."""
        self._found = True
