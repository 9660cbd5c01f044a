"""How much work is done, and when must a plan end? One counter, so that the answer does not depend on the clock (A3, A8).

Whatever takes long counts what it does as it does it: a job tried, a node looked at, a set of victims tried, a cell of a table. One
unit is about five microseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from quotatree.core.model.resources import INFINITE

if TYPE_CHECKING:
    from quotatree.core.model.job import Job
    from quotatree.core.model.wait_queue import WaitClass

# -- what is spent: units of work ------------------------------------------------------------------------------------

PLAN_AT_MOST: Final = 100_000
"""What one plan may spend before it ends, about half a second; the next follows at once."""
ONE_ATTEMPT: Final = 20
"""What it costs to ask about one job, or for places of all its replicas, whatever is found."""
ONE_LOOK: Final = 3
"""What it costs to look at a node for an index of all nodes, at a queue for who may be tried, or at who may borrow next."""
CELLS_A_UNIT: Final = 50
"""So many cells of a table take as long as one unit."""
EXACT: Final = 10_000
"""What one search may spend on looking for the cheapest set; then the best that it has found stands."""

# -- how much is looked at: numbers of things --------------------------------------------------------------------------

FEW: Final = 24
"""Up to so many units that may be taken for a gang or for several shapes, all their sets are looked at; the order of so many classes of one
queue is found each time."""
ONE_BY_ONE: Final = 64
"""So many of a kind are looked at one by one: nodes in a row without a better set, moves of a local search, questions for places in one
search, the units of a size that may take others along, units that may stand in for a borrower, the first places of a queue. The rest is taken alike, or not looked at."""
BEGINNINGS: Final = 256
"""Sets of units that free the devices on one node; if there are more, branch and bound finds them itself."""
ORDERS: Final = 6
"""Orders of a job's shapes in which places are looked for; of three shapes these are all."""
PACKINGS: Final = 500
"""Looks at a node while replicas of several shapes are packed."""
BORROWERS: Final = 128
"""Units of one branch of which a set is made that gives way to a smaller share (I4)."""
TURNS: Final = 8
"""Shares, from the largest on, whose borrowers are asked by themselves before all are (I3)."""
STAND_INS: Final = 16
"""Regular units that are alike, and borrowers, that one search compares so that the one that loses least gives way (I3)."""
PREVIEWED: Final = 10
"""Plans in a row that a preview looks at."""

# -- what is kept ------------------------------------------------------------------------------------------------------

NODES_KEPT: Final = 640_000
"""Nodes that all indexes of one kind have together; of more, the one not used for longest goes. About 300 bytes each."""


class Work:
    """What has been done so far, in units; it only grows, also when a change is taken back."""

    __slots__ = ("done",)

    def __init__(self) -> None:
        self.done = 0


class CutShort(Exception):  # no error: the plan ends, and the next goes on
    """The plan may spend no more, and no victims were found yet. A search only reads, so nothing has changed."""


class Effort:
    """What a search for victims may spend before it has found a set. Then it is not cut short any more: it ends by itself.

    `thorough`: False: it was cut short before, although it had a whole plan; now it tries what is cheap and is not cut short.
    """

    __slots__ = ("_found", "_until", "_work", "thorough")

    def __init__(self, work: Work | None = None, until: int = INFINITE, *, thorough: bool = True) -> None:
        self._work, self.thorough = work or Work(), thorough
        self._until = until if thorough else INFINITE
        self._found = False

    def spend(self, units: int) -> None:
        """Count so many units; raise CutShort if that is more than may be spent and no set was found yet."""
        self._work.done += units
        if self._work.done > self._until and not self._found:
            raise CutShort

    def seek(self) -> None:
        """Begin a search: no set of it was found yet."""
        self._found = False

    def found(self) -> None:
        """Note that there is a set: the search for a better one is not cut short."""
        self._found = True


class Unfinished(NamedTuple):
    """What plans that were cut short, one right after the other, leave to the next. A restart forgets it (A8).

    `tried`: classes that had their turn, so that others come before them within their priority; `briefly`: classes that are searched for
    with little effort now, since a whole plan was not enough; `hopes`: classes that wait for the idle round before they take victims (P4).
    `stack`: jobs that were being tried, each before the one in front of it (S8): as long as `change` is the last change, the next plan goes
    on with the last of them.
    """

    tried: frozenset[WaitClass] = frozenset()
    briefly: frozenset[WaitClass] = frozenset()
    hopes: tuple[tuple[WaitClass, int], ...] = ()
    stack: tuple[Job, ...] = ()
    change: int = -1
