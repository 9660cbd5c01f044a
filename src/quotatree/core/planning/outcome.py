"""How can the question end whether a waiting job can be helped? With a proposal, with who comes before it, or with why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from quotatree.core import decisions as say
from quotatree.core.changes.effects import Stopped
from quotatree.core.model.effort import Effort
from quotatree.core.model.job import Job, Placed
from quotatree.core.model.resources import Resources
from quotatree.core.model.unit import Unit
from quotatree.core.model.wait_queue import Failure
from quotatree.core.planning.claimant import Claimant
from quotatree.core.reasons import Reason, Step
from quotatree.core.search.victims import Found, Request
from quotatree.core.state import State
from quotatree.core.state.undo_log import Mark

Tried = tuple[say.StepTried, ...]
"""The steps of P4 that were not enough, and why."""


class Question(NamedTuple):
    """Who must be tried before a job that could start (S8, P3)?

    `more`: what its quota would use more; `on_loan`: that would put it above its min. `by_policy`: victims are not known yet, and
    they make the loan smaller on which a return rests (P15), so only those count whom a policy makes rivals in any case.
    """

    more: Resources
    on_loan: bool
    by_policy: bool = False


@dataclass(frozen=True, slots=True)
class Around:
    """What an attempt may know of the plan around it; alone, as in `explain`, there is none.

    `effort`: what it may spend. `anybody_first`: whether a job that was not tried yet comes before another; None: none does.
    `settled`: questions that were answered already: no job comes first.
    """

    effort: Effort
    anybody_first: Callable[[Job, Question], bool] | None = None
    settled: frozenset[Question] = frozenset()


def alone(state: State) -> Around:
    """Return what an attempt without a plan around it may know, as in `explain`; it may spend as much as it takes."""
    return Around(Effort(state.work))


@dataclass(frozen=True, slots=True)
class Proposal:
    """How a job can be helped, as the state is. Nothing of it is written (applying.py).

    `request` and `found`: what was asked of a search and whom it found; None: no work has to go but, if `gives_way`, surplus that would stand
    on loan. `places`: where it starts, and whether now; None: they are chosen once others have left. `reason`: None: the victims are.
    `promotes`: it runs idle there already.
    """

    claimant: Claimant
    step: Step
    question: Question
    tried: Tried
    reason: Reason | None = None
    request: Request | None = None
    found: Found | None = None
    gives_way: tuple[Unit, ...] = ()
    places: tuple[tuple[Placed, ...], bool] | None = None
    promotes: bool = False

    @property
    def taken(self) -> tuple[Unit, ...]:
        """The units that would leave or turn idle for it; of the surplus some may stay after all (giving_way.py)."""
        return (*self.gives_way, *(() if self.found is None else self.found.units))


@dataclass(frozen=True, slots=True)
class RivalsFirst:
    """The job could start, whomever it takes; before that is sought, another job must be tried (S8, P3)."""

    question: Question


class Failed(NamedTuple):
    """The job cannot be helped now."""

    failure: Failure
    tried: Tried = ()


Outcome = Proposal | RivalsFirst | Failed


class Decided(NamedTuple):
    """A job was helped; the decisions are applied to the state.

    `before` is the point just before that. `taken` are the units that left for it or turned idle; `stopped` tells of those that were
    cores and left.
    """

    decisions: tuple[say.Decision, ...]
    before: Mark
    taken: tuple[Unit, ...] = ()
    stopped: tuple[Stopped, ...] = ()
