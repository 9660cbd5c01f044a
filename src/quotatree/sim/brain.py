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
        """Apply one event and return the decisions it forces. When it raises Refused, nothing has changed."""

    def plan(self, now_ms: int) -> Plan:
        """Decide everything that can be decided at `now_ms`."""

    def at_rest(self) -> bool:
        """True if a plan would decide nothing, whatever the time."""

    def forget(self, job: JobId) -> None:
        """Drop all records of a job that has ended."""


class CoreBrain:
    """The product's own scheduler: `quotatree.core`, unchanged."""

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
    """True if no job waits, holds a promise or could grow."""
    for root in state.roots:  # asked after every event: no generator
        tree = root.tree
        if tree.waiting or tree.held or tree.elastic:
            return False
    return True


def forget(state: State, job: JobId) -> None:
    """Drop an ended job from the core, which would keep it for queries that a replay never makes.

    A job whose replicas are still leaving, or that is not known, is left alone.
    """
    ended = state.jobs.get(job)
    if ended is not None and not ended.leaving:
        apply(state, JobForgotten(job), 0)
