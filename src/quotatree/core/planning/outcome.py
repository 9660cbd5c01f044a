"""How can the attempt to help one waiting job end?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from quotatree.core import decisions as say
from quotatree.core.changes.effects import Stopped
from quotatree.core.model.unit import Unit
from quotatree.core.model.wait_queue import Failure
from quotatree.core.state.undo_log import Mark

Tried = tuple[say.StepTried, ...]
"""The steps of P4 that were not enough, and why."""


class Decided(NamedTuple):
    """The job was helped; the decisions are applied to the state.

    `before` is the point just before that. `taken` are the units that left for it or turned idle; `stopped` tells of those that were cores and left.
    """

    decisions: tuple[say.Decision, ...]
    before: Mark
    tried: Tried = ()
    taken: tuple[Unit, ...] = ()
    stopped: tuple[Stopped, ...] = ()


class Failed(NamedTuple):
    """The job cannot be helped now; nothing has changed."""

    failure: Failure
    tried: Tried = ()


@dataclass(frozen=True, slots=True)
class Overtaken:
    """The job could have started, but another had to be tried before it (S8, P3) and was helped: it must be tried anew."""


Outcome = Decided | Failed | Overtaken
