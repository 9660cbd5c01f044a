"""Decisions as JSON with a stable schema, and as lines of text. docs/reference/cli.md documents both.

The schema's name carries its version. Fields may be added under the same name; none is removed or changes meaning.
Times are milliseconds since the scenario's start, costs and lost work GPU-seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from quotatree.core import GPU_SECOND, PriorityNames, Reason, Resources, name_of
from quotatree.core.decisions import (
    Decision,
    Demote,
    Evict,
    Hold,
    Preemption,
    ReplicaPlace,
    Start,
    StepTried,
    Stop,
)
from quotatree.scenario.amounts import ORIGIN_MS, moment_text, span_text
from quotatree.scenario.kinds import kind_of, preemption_of, step_word
from quotatree.scenario.model import Scenario
from quotatree.scenario.run import Instant

PLAN_SCHEMA: Final = "quotatree.plan/1"

Json = dict[str, Any]


def plan_json(scenario: Scenario, instants: Iterable[Instant]) -> Json:
    """All decisions and refusals, in order of time."""
    decisions: list[Json] = []
    refusals: list[Json] = []
    for instant in instants:
        decisions += [
            decision_json(decision, instant.time_ms, scenario.priority_names)
            for decision in instant.decisions
        ]
        refusals += [
            {"time_ms": instant.time_ms - ORIGIN_MS, "step": outcome.entry.label, "text": outcome.refusal}
            for outcome in instant.outcomes
            if outcome.refusal is not None
        ]
    return {"schema": PLAN_SCHEMA, "title": scenario.title, "decisions": decisions, "refusals": refusals}


def decision_json(decision: Decision, time_ms: int, names: PriorityNames) -> Json:
    """Return a decision; `names`: those that there are for priorities (W6)."""
    told: Json = {
        "time_ms": time_ms - ORIGIN_MS,
        "kind": kind_of(decision),
        "job": decision.job,
        "reason": reason_json(decision.reason),
    }
    if isinstance(decision, Start):
        told |= {
            "run": decision.run,
            "claim": decision.claim.value,
            "step": step_word(decision.step),
            "replicas": [_place_json(place) for place in decision.replicas],
            "preemption": preemption_json(decision.preemption, names),
        }
    elif isinstance(decision, Hold):
        told |= {
            "replicas": [_place_json(place) for place in decision.replicas],
            "waiting_on": list(decision.waiting_on),
            "expires_ms": None if decision.expires_ms is None else decision.expires_ms - ORIGIN_MS,
            "step": step_word(decision.step),
            "preemption": preemption_json(decision.preemption, names),
        }
    elif isinstance(decision, Evict):
        told |= {
            "run": decision.run,
            "unit": decision.kind.value,
            "replicas": list(decision.replicas),
            "preemptor": decision.preemptor,
            "cost_gpu_seconds": gpu_seconds(decision.cost),
            "lost_gpu_seconds": gpu_seconds(decision.lost_work),
            "grace_ms": decision.grace_ms,
            "requeued": decision.requeued,
            "counts": decision.counts,
            "moved": decision.moved,
        }
    elif isinstance(decision, Stop):
        told |= {"run": decision.run, "replicas": list(decision.replicas), "grace_ms": decision.grace_ms}
    elif isinstance(decision, Demote):
        told["preemptor"] = decision.preemptor
    return told


def preemption_json(entry: Preemption | None, names: PriorityNames) -> Json | None:
    """The entry of the preemption ledger (P13), or None."""
    if entry is None:
        return None
    return {
        "preemptor": entry.preemptor,
        "step": None if entry.step is None else step_word(entry.step),
        "victims": [
            {
                "job": victim.job,
                "unit": victim.kind.value,
                "replicas": list(victim.replicas),
                "quota": victim.quota,
                "priority": victim.priority,
                "priority_name": name_of(victim.priority, names),
                "lost_gpu_seconds": gpu_seconds(victim.lost_work),
                "cost_gpu_seconds": gpu_seconds(victim.cost),
                "freed": resources_json(victim.freed),
            }
            for victim in entry.victims
        ],
        "demoted": list(entry.demoted),
        "kept": list(entry.kept),
        "cost_gpu_seconds": gpu_seconds(entry.cost),
        "cost_without_ladder_gpu_seconds": gpu_seconds(entry.cost_without_ladder),
        "highest_priority": entry.highest_priority,
        "tried": tried_json(entry.tried),
    }


def tried_json(tried: Sequence[StepTried]) -> list[Json]:
    return [{"step": step_word(step), "reason": reason_json(reason)} for step, reason in tried]


def reason_json(reason: Reason) -> Json:
    return {
        "code": reason.code.name,
        "text": reason.text,
        "rules": list(reason.rules),
        "facts": dict(reason.facts),
    }


def resources_json(amount: Resources) -> Json:
    return {"gpu_milli": amount.gpu_milli, "cpu_milli": amount.cpu_milli, "memory_mib": amount.memory_mib}


def gpu_seconds(cost: int) -> int | float:
    """Convert from the core's unit (milli-GPU x ms). A whole number is returned as an int."""
    whole, rest = divmod(cost, GPU_SECOND)
    return whole if not rest else cost / GPU_SECOND


# -- text --------------------------------------------------------------------------------------------------------


def plan_rows(instants: Iterable[Instant]) -> list[tuple[str, str, str, str]]:
    """Rows of time, kind of decision, job and description; a refused step is a row of kind "refused"."""
    rows = []
    for instant in instants:
        time = moment_text(instant.time_ms)
        for outcome in instant.outcomes:
            if outcome.refusal is not None:
                rows.append((time, "refused", "", f"{outcome.entry.label}: {outcome.refusal}"))
        rows += [(time, kind_of(d), str(d.job), decision_text(d)) for d in instant.decisions]
    return rows


def decision_text(decision: Decision) -> str:
    """The details of a decision beyond its kind and job: where, at which cost, and why."""
    parts = []
    if isinstance(decision, Start | Hold) and decision.replicas:
        parts.append("on " + places_text(decision.replicas))
    if isinstance(decision, Hold):
        if decision.waiting_on:
            parts.append("waits for " + ", ".join(decision.waiting_on))
        if decision.expires_ms is not None:
            parts.append(f"until {moment_text(decision.expires_ms)}")
    if isinstance(decision, Evict):
        parts.append(f"loses {cost_text(decision.lost_work)}, cost {cost_text(decision.cost)}")
    if isinstance(decision, Evict | Stop):
        parts.append(f"{span_text(decision.grace_ms)} to leave")
    parts.append(decision.reason.text)
    entry = preemption_of(decision)
    if entry is not None and entry.cost_without_ladder != entry.cost:
        parts.append(f"without the priority ladder {cost_text(entry.cost_without_ladder)}")
    return "; ".join(parts)


def places_text(places: Sequence[ReplicaPlace]) -> str:
    """Nodes and devices: "node-0:0-7, node-1:0-7"."""
    return ", ".join(f"{p.node}:{_devices_text(p.devices)}" if p.devices else p.node for p in places)


def cost_text(cost: int) -> str:
    return f"{gpu_seconds(cost):,} GPU-s"


def _devices_text(devices: Sequence[int]) -> str:
    if len(devices) > 2 and devices[-1] - devices[0] == len(devices) - 1:
        return f"{devices[0]}-{devices[-1]}"
    return ",".join(map(str, devices))


def _place_json(place: ReplicaPlace) -> Json:
    return {"replica": place.replica, "node": place.node, "devices": list(place.devices)}
