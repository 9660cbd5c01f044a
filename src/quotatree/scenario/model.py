"""A scenario as a value: what stands at the beginning, what happens when, and what is expected of it.

All times are on the core's clock (see amounts.ORIGIN_MS). Jobs and quotas are the core's own specs; what only the
virtual engine needs to know of a job stands beside it, in Behaviour.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from quotatree.core import (
    JobId,
    JobSpec,
    PriorityNames,
    QuotaSpec,
    Settings,
    read_child_level,
    read_self_level,
)
from quotatree.core.events import Event
from quotatree.scenario.amounts import ORIGIN_MS


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How a job behaves on the virtual engine.

    `leaves_after_ms`: how long it takes to leave once it is told to; None: its grace period.
    `duration_ms`: how long it runs before it succeeds; None: for ever. A restart begins anew, or at the last checkpoint
    if it `resumes`.
    """

    leaves_after_ms: int | None = None
    duration_ms: int | None = None
    resumes: bool = False


@dataclass(frozen=True, slots=True)
class DeclaredJob:
    spec: JobSpec
    behaviour: Behaviour


QuotaChanges = tuple[tuple[str, Any], ...]
"""Fields of a quota's spec with their new values; policies as the file says them, for they may be a mere switch."""


@dataclass(frozen=True, slots=True)
class QuotaPatch:
    """A change of some fields of a quota's spec; all others keep the values they have at that time (Q6)."""

    quota: str
    changes: QuotaChanges


def with_changes(spec: QuotaSpec, changes: QuotaChanges) -> QuotaSpec:
    """The spec with these changes. A policy's switch alone keeps the settings that the spec has."""
    found = dict(changes)
    if "self_level" in found:
        found["self_level"] = read_self_level(found["self_level"], spec.self_level)
    if "child_level" in found:
        found["child_level"] = read_child_level(found["child_level"], spec.child_level)
    return replace(spec, **found)


Action = Event | QuotaPatch


@dataclass(frozen=True, slots=True)
class Setup:
    """One event that builds the state at the beginning. `where` names its table in messages."""

    where: str
    event: Event


@dataclass(frozen=True, slots=True)
class Entry:
    """A step of the timeline.

    `refused` are texts that its refusal must contain; empty: it must be accepted. `refusal` is set if the loader met
    one, because the step cannot even be written as an event (an invalid policy).
    """

    where: str
    time_ms: int
    actions: tuple[Action, ...]
    label: str
    refused: tuple[str, ...] = ()
    refusal: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One word of the vocabulary in expect.py, and the value the file expects."""

    word: str
    wanted: object


@dataclass(frozen=True, slots=True)
class Expectation:
    """What must hold at one time, after everything of that time has happened."""

    where: str
    time_ms: int
    checks: tuple[Check, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Decisions of one kind that must not be taken for these jobs between two times; `until_ms` None: to the end."""

    where: str
    kind: str
    jobs: tuple[str, ...]
    from_ms: int
    until_ms: int | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """The contents of a scenario file. `refusal` is set if its tree cannot be built and the file expects that."""

    name: str
    title: str
    story: str
    rules: tuple[str, ...]
    settings: Settings = Settings()
    leave_after_ms: int | None = None
    until_ms: int | None = None
    steady: bool = False
    load_refused: tuple[str, ...] = ()
    refusal: str | None = None
    setup: tuple[Setup, ...] = ()
    timeline: tuple[Entry, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    forbidden: tuple[Forbidden, ...] = ()
    previews: dict[str, JobSpec] = field(default_factory=dict)
    behaviours: dict[JobId, Behaviour] = field(default_factory=dict)
    priority_names: PriorityNames = field(default_factory=dict)

    @property
    def last_told_ms(self) -> int:
        """The last time that the file itself mentions."""
        times = [entry.time_ms for entry in self.timeline] + [
            expected.time_ms for expected in self.expectations
        ]
        return max(times, default=ORIGIN_MS)
