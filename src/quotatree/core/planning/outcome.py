"""How can the attempt to help one waiting job end?"""

from __future__ import annotations

from dataclasses import dataclass

from quotatree.core import decisions as say
from quotatree.core.changes.effects import Stopped
from quotatree.core.model.job import Job
from quotatree.core.model.unit import Unit
from quotatree.core.model.wait_queue import Failure, WaitClass

Tried = tuple[say.StepTried, ...]
"""The steps of P4 that were not enough, and why."""


@dataclass(frozen=True, slots=True)
class Decided:
    """The job was helped; the decisions are applied to the state.

    `taken` are the units that left for it or turned idle; `stopped` tells of those that were cores and left.
    """

    decisions: tuple[say.Decision, ...]
    tried: Tried = ()
    taken: tuple[Unit, ...] = ()
    stopped: tuple[Stopped, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """The job cannot be helped now; nothing has changed."""

    failure: Failure
    tried: Tried = ()


@dataclass(frozen=True, slots=True)
class TryFirst:
    """The job could start, but another waiting job, named here, must be tried before it (S8, P3); nothing has changed."""

    cls: WaitClass
    job: Job


Outcome = Decided | Failed | TryFirst
