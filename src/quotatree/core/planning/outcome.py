"""How can the attempt to help one waiting job end?"""

from __future__ import annotations

from dataclasses import dataclass

from quotatree.core import decisions as say
from quotatree.core.model.job import Claim, Job, JobId
from quotatree.core.model.wait_queue import Failure, WaitClass

Tried = tuple[say.StepTried, ...]
"""The steps of P4 that were not enough, and why."""


@dataclass(frozen=True, slots=True)
class Decided:
    """It was helped; the decisions are applied."""

    decisions: tuple[say.Decision, ...]
    tried: Tried = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """It cannot be helped now; nothing has changed."""

    failure: Failure
    tried: Tried = ()


@dataclass(frozen=True, slots=True)
class TryFirst:
    """Before it may borrow, this waiting job must be tried (P3); nothing has changed."""

    cls: WaitClass
    job: Job


@dataclass(frozen=True, slots=True)
class Conflict:
    """It would take a job that was started in the plan being made (S8): the plan must be made anew without that start."""

    started: JobId
    claim: Claim
    preemptor: JobId


Outcome = Decided | Failed | TryFirst | Conflict
