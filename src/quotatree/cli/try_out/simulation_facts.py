"""What does a reader have to know of a simulation beside its numbers? A few facts, told the same
way for every file.

Runs that are compared differ in some of them; a report shows which.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from quotatree.core import WHOLE_GPU, QuotaSpec
from quotatree.scenario.amounts import span_text
from quotatree.sim.private import leaves
from quotatree.sim.setup import Setup
from quotatree.sim.trace import Trace
from quotatree.sim.work import CheckpointModel

QUOTAS_NAMED: Final = 12


def facts_of(setup: Setup, trace: Trace) -> tuple[tuple[str, str], ...]:
    return (
        ("trace", f"{trace.source}, {len(trace.jobs)} jobs"),
        ("cluster", f"{sum(node.gpus for node in setup.nodes)} GPUs on {len(setup.nodes)} nodes"),
        ("quotas", _quotas(setup)),
        ("policies", _policies(setup.quotas)),
        ("idle jobs", setup.jobs.idle.value),
        ("checkpoints", _checkpoints(setup.checkpoints)),
        ("seed", str(setup.seed)),
    )


def _quotas(setup: Setup) -> str:
    lowest = leaves(setup)
    named = [f"{quota.id} {(quota.min.gpu_milli or 0) / WHOLE_GPU:g}" for quota in lowest[:QUOTAS_NAMED]]
    if len(lowest) > QUOTAS_NAMED:
        named.append(f"{len(lowest) - QUOTAS_NAMED} more")
    return f"{len(setup.quotas)}; GPUs: {', '.join(named)}" if named else str(len(setup.quotas))


def _policies(quotas: tuple[QuotaSpec, ...]) -> str:
    """The policies of all quotas in one line, equal ones once with their number; "none" if there
    are none.
    """
    found: Counter[str] = Counter()
    for quota in quotas:
        for policy in quota.self_level.switched_on():
            whom = "any lower priority" if policy.any_lower else f"{policy.low}"
            found[f"self-level, {policy.high} may take {whom}, scope {policy.scope.value}"] += 1
        if quota.child_level is not None and not quota.child_level.off:
            found[f"child-level, may take {quota.child_level.priorities} from below"] += 1
        if not quota.lending:
            found["no lending"] += 1
    told = [f"{text} ({count} {'quota' if count == 1 else 'quotas'})" for text, count in found.items()]
    return "; ".join(told) or "none"


def _checkpoints(model: CheckpointModel) -> str:
    told = model.kind.value
    if model.interval_ms is not None:
        told = f"every {span_text(model.interval_ms)}"
    if model.pause_ms:
        told += f", {span_text(model.pause_ms)} each"
    return told
