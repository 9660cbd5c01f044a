"""How large must quotas and the cluster be? A tree with one quota for each team, and nodes for it.

For those who have a trace and no tree yet: the quotas are given as a table of GPUs, scaled if wished, or follow from
what the teams used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from quotatree.core import WHOLE_GPU, Bounds, NodeSpec, QuotaId, QuotaSpec
from quotatree.sim.setup import SetupError
from quotatree.sim.trace import Trace


@dataclass(frozen=True, slots=True)
class TeamTree:
    """One root, and below it one quota for each team, named like the team and with the policies of `each`.

    `gpus` are the teams and their GPUs before scaling. If it is empty, sizes follow from the trace: each team uses
    `load` of its quota on average and can start its largest job. Quotas are multiples of `unit` GPUs. The root draws
    from `pool`.
    """

    root: QuotaSpec
    each: QuotaSpec
    gpus: tuple[tuple[str, int], ...] = ()
    scale: float = 1.0
    load: float = 0.7
    unit: int = 1
    pool: str = "default"

    def __post_init__(self) -> None:
        for name, value in (("scale", self.scale), ("load", self.load), ("gpus_per_node", self.unit)):
            if value <= 0:
                raise SetupError(f"tree.{name}", value, "must be above 0")


def team_quotas(tree: TeamTree, trace: Trace) -> tuple[QuotaSpec, ...]:
    """The root and its children. Every team gets at least `unit` GPUs."""
    sizes = tree.gpus or _needed(trace, tree.load)
    scaled = [(team, max(1, round(gpus * tree.scale / tree.unit)) * tree.unit) for team, gpus in sizes]
    total = sum(gpus for _, gpus in scaled)
    root = replace(tree.root, draws=((tree.pool, Bounds(total * WHOLE_GPU)),))
    children = [
        replace(tree.each, id=QuotaId(team), parent=root.id, min=Bounds(gpus * WHOLE_GPU))
        for team, gpus in scaled
    ]
    return (root, *children)


def fitting_nodes(gpus: int, like: NodeSpec, prefix: str = "node-") -> tuple[NodeSpec, ...]:
    """Nodes like `like` with `gpus` GPUs in all; the last one may be smaller."""
    if like.gpus < 1:
        raise SetupError("cluster.gpus", like.gpus, "a node must have at least one GPU")
    count = -(-gpus // like.gpus)
    width = len(str(max(0, count - 1)))
    nodes = [replace(like, name=f"{prefix}{number:0{width}}") for number in range(count)]
    if gpus % like.gpus:
        nodes[-1] = replace(nodes[-1], gpus=gpus % like.gpus)
    return tuple(nodes)


def gpus_drawn(quotas: Sequence[QuotaSpec], pool: str) -> int:
    """The GPUs that the roots draw from a pool together, rounded up to whole ones."""
    drawn = [bounds.gpu_milli or 0 for spec in quotas for name, bounds in spec.draws if name == pool]
    return -(-sum(drawn) // WHOLE_GPU)


def _needed(trace: Trace, load: float) -> tuple[tuple[str, int], ...]:
    """For each team the GPUs it needs: its mean demand divided by `load`, at least the size of its largest job.

    The mean is taken over the time from the first submit to the last.
    """
    span_ms = max(1, trace.jobs[-1].submit_ms - trace.jobs[0].submit_ms)
    used: dict[str, int] = {}
    largest: dict[str, int] = {}
    for job in trace.jobs:
        used[job.team] = used.get(job.team, 0) + job.total_gpu_milli * job.duration_ms
        largest[job.team] = max(largest.get(job.team, 0), -(-job.total_gpu_milli // WHOLE_GPU))
    if "" in used:
        raise SetupError("tree", "", "some jobs of the trace have no team: name a column in [trace.mapping]")
    return tuple(
        (team, max(largest[team], -(-used[team] // round(span_ms * WHOLE_GPU * load))))
        for team in sorted(used)
    )
