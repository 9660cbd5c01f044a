"""How can the question end whether a waiting job can be helped? With a proposal, with who comes before it, or with why not.

A failure is remembered with what must change before the job is tried again (S9).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from quotatree.core import decisions as say
from quotatree.core.changes.effects import Stopped
from quotatree.core.model.effort import Effort
from quotatree.core.model.job import Job, Placed
from quotatree.core.model.quota_arithmetic import Shortage, surplus_may_do
from quotatree.core.model.resources import Resources
from quotatree.core.model.rights import may_borrow
from quotatree.core.model.unit import Unit
from quotatree.core.model.wait_queue import Failure
from quotatree.core.planning.claimant import Claimant
from quotatree.core.planning.steps import preempting_steps
from quotatree.core.reasons import Reason, Step
from quotatree.core.search.placement import Wanted, bounded_by_pools
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
        """The units that would leave or turn idle for it; of the surplus some may stay after all (taking.py)."""
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


def failure_of(
    state: State,
    claimant: Claimant,
    wanted: Wanted,
    reason: Reason,
    short: Shortage | None,
    retry_at_ms: int | None,
) -> Failure:
    """Return the failure with the facts that it rests on.

    Room in the full quota must come if `short` tells of one and nothing else could help, else whatever may help in the tree.
    Several shapes are sought one after the other, and so are places and victims in pools that the root shares, which may
    find more where less is free: then it is any change.
    """
    if short is not None and not claimant.job.running and _depends_on_tree(claimant, short):
        short = None
    if short is not None and short.quota.used[short.resource] + short.wanted <= (
        short.quota.min[short.resource] or 0
    ):
        short = None  # the quota has room, but reserved or kept for a guard: a release there need not help
    tree = claimant.quota.tree
    one_by_one = len({shape for _, shape in wanted}) > 1 or bounded_by_pools(claimant.quota.root)
    change = state.change if one_by_one else None
    return Failure(reason, tree.version, short, retry_at_ms, tree.rights, change)


def _depends_on_tree(claimant: Claimant, short: Shortage) -> bool:
    """Return whether anything but a release inside the full quota could let the job start.

    A quota that is shrinking counts, since a loan may be possible once it shrinks no more (Q5). So do reserved parts,
    unless it is the job's own quota that is full: as long as it is, no part of it that others use helps (Q8).
    """
    quota = claimant.quota
    reserved_matters = quota.tree.shares_reserved and short.quota is not quota
    return bool(
        surplus_may_do(short) or may_borrow(quota, claimant.job.priority) or quota.shrinking or reserved_matters
        or not claimant.past_guard or preempting_steps(claimant)
    )  # fmt: skip
