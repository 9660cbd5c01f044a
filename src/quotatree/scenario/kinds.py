"""What kind of decision is this, in the words that scenario files, tables and JSON share?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from quotatree.core import Step, UnitKind
from quotatree.core.decisions import (
    Alarm,
    Decision,
    Demote,
    Evict,
    Fail,
    Hold,
    Preemption,
    Promote,
    Release,
    Start,
    Stop,
    Wait,
)

KINDS: Final = {
    "start": "a job starts: its core, and as many of the other replicas it wants as can be had",
    "grow": "more replicas of a running job start (P12)",
    "hold": "places are promised to a job that others still have to leave (P9, S10)",
    "evict": "a running job is told to stop, as a whole",
    "shrink": "replicas beyond the core are told to stop (P12)",
    "move": "a job is told to stop and starts elsewhere in the same plan (P8)",
    "demote": "a regular job runs on as idle (I1)",
    "promote": "a job or a replica becomes regular in place, or replicas become core (I1, P12)",
    "release": "a hold ends without a start: taken, expired or given up (P9)",
    "stop": "a running job is told to stop because its owner cancelled it",
    "fail": "a job ends as Failed (P11)",
    "alarm": "an operator should look (P11)",
    "wait": "a job was tried and has to wait",
}

PLAIN: Final[dict[type[object], str]] = {
    Hold: "hold",
    Demote: "demote",
    Promote: "promote",
    Release: "release",
    Stop: "stop",
    Fail: "fail",
    Alarm: "alarm",
    Wait: "wait",
}


def kind_of(decision: Decision) -> str:
    if isinstance(decision, Start):
        return "grow" if decision.grows or decision.surplus else "start"
    if isinstance(decision, Evict):
        if decision.kind is UnitKind.HOLD:
            return "release"
        if decision.kind in (UnitKind.WANTED, UnitKind.SURPLUS):
            return "shrink"
        return "move" if decision.moved else "evict"
    return PLAIN[type(decision)]


def jobs_by_kind(decisions: Iterable[Decision]) -> dict[str, tuple[str, ...]]:
    """For each kind of decision that occurs, the jobs it was about, each once, in order."""
    found: dict[str, dict[str, None]] = {}
    for decision in decisions:
        found.setdefault(kind_of(decision), {})[decision.job] = None
    return {kind: tuple(jobs) for kind, jobs in found.items()}


def preemption_of(decision: Decision) -> Preemption | None:
    return decision.preemption if isinstance(decision, Start | Hold | Promote) else None


def step_word(step: Step) -> str:
    """The step as files spell it: "siblings-above-min" for Step.SIBLINGS_ABOVE_MIN."""
    return step.name.lower().replace("_", "-")
