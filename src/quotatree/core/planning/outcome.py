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
    """The job was helped; the decisions are applied to the state."""

    decisions: tuple[say.Decision, ...]
    tried: Tried = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """The job cannot be helped now; nothing has changed."""

    failure: Failure
    tried: Tried = ()


@dataclass(frozen=True, slots=True)
class TryFirst:
    """Another waiting job, named here, must be tried before this one may borrow (P3); nothing has changed."""

    cls: WaitClass
    job: Job


@dataclass(frozen=True, slots=True)
class Conflict:
    """The attempt would evict a job started in the plan being made: that is made anew without the start (S8)."""

    started: JobId
    claim: Claim
    preemptor: JobId


Outcome = Decided | Failed | TryFirst | Conflict
