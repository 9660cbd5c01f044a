"""What do the replays have in common? Clusters of like nodes, checkpoint models, minutes as text."""

from __future__ import annotations

from quotatree.core import NodeSpec
from quotatree.sim.work import CheckpointModel, Checkpoints

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS


def nodes(count: int, pool: str = "default") -> tuple[NodeSpec, ...]:
    """Nodes of 8 GPUs. They have default CPU and memory: the replays ask for GPUs only."""
    return tuple(NodeSpec(f"{pool}-{number:03}", pool, gpus=8) for number in range(count))


def checkpoints(minutes: int | None) -> CheckpointModel:
    """A model in which all jobs save their state every `minutes`; None: never."""
    if minutes is None:
        return CheckpointModel(Checkpoints.NONE)
    return CheckpointModel(Checkpoints.INTERVAL, minutes * MINUTE_MS)


def minutes(seconds: float) -> str:
    return f"{seconds / 60:,.0f}" if seconds >= 600 else f"{seconds / 60:.1f}"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"
