"""Who decides? The seam between the replay, which knows time, and a scheduler, which knows what to do.

`CoreBrain` is the product itself: quotatree.core, unchanged. Models of other schedulers (quotatree.sim.models) stand
behind the same protocol, on the same tables, so that a comparison differs in the decisions and in nothing else.
"""

from __future__ import annotations

from typing import Protocol

from quotatree.core import JobId, Settings, State, apply, plan
from quotatree.core.decisions import Decision, Plan
from quotatree.core.events import Event, JobForgotten


class Brain(Protocol):
    """A scheduler: events in, decisions out. `state` may be looked at, never written."""

    @property
    def state(self) -> State: ...

    def apply(self, event: Event, now_ms: int) -> tuple[Decision, ...]:
        """Let one event happen. Raises Refused, and then nothing has changed."""

    def plan(self, now_ms: int) -> Plan:
        """Decide everything that can be decided now."""

    def at_rest(self) -> bool:
        """Would a plan decide nothing, whatever the time?"""

    def forget(self, job: JobId) -> None:
        """This job has ended and left: nothing about it need be kept."""


class CoreBrain:
    """The core as it is."""

    def __init__(self, settings: Settings) -> None:
        self._state = State(settings)

    @property
    def state(self) -> State:
        return self._state

    def apply(self, event: Event, now_ms: int) -> tuple[Decision, ...]:
        return apply(self._state, event, now_ms)

    def plan(self, now_ms: int) -> Plan:
        return plan(self._state, now_ms)

    def at_rest(self) -> bool:
        return at_rest(self._state)

    def forget(self, job: JobId) -> None:
        forget(self._state, job)


def at_rest(state: State) -> bool:
    """Nobody waits, nobody holds a promise, nobody could grow."""
    return not (state.waiting_quotas or state.held or state.elastic)


def forget(state: State, job: JobId) -> None:
    """The core keeps ended jobs for whoever asks about them; a replay of a million asks nobody."""
    ended = state.jobs.get(job)
    if ended is not None and not ended.leaving:
        apply(state, JobForgotten(job), 0)
