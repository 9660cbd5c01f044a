"""How much work is done, and when must a plan end? One counter, so that the answer does not depend on the clock (A3, A8).

Whatever takes long counts what it does as it does it: a job tried, a node looked at, a set of victims tried, a cell of a table. One
unit is about five microseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from quotatree.core.model.job import Job
    from quotatree.core.model.wait_queue import WaitClass

PLAN_AT_MOST: Final = 100_000
"""What one plan may spend before it ends, about half a second; the next follows at once."""
ONE_ATTEMPT: Final = 20
"""What it costs to try a job, whatever it is looked for."""
ONE_LOOK: Final = 3
"""What it costs to look at a node for an index of all nodes, at a queue for who may be tried, or at who may borrow next."""
ENDLESS: Final = 1 << 60


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

    def __init__(self, work: Work | None = None, until: int = ENDLESS, *, thorough: bool = True) -> None:
        self._work, self.thorough = work or Work(), thorough
        self._until = until if thorough else ENDLESS
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
