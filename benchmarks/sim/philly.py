"""What is replayed of Philly? October and November 2017, 11 virtual clusters below one root, quotas scaled down.

The quotas are the nodes that the Helios authors assumed for each virtual cluster, times 8 GPUs, times a scale; whole
nodes, to the nearest. The trace has no priorities: where they are wanted, a seed gives each job one.
"""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from functools import cache

from benchmarks.sim.traces import trace as trace_file
from quotatree.core import (
    Idle,
    Module,
    NodeSpec,
    Priorities,
    QuotaId,
    QuotaSpec,
    Scope,
    SelfLevel,
    SelfLevels,
    Strategy,
)
from quotatree.sim.setup import PRODUCT, JobDefaults, Rule, Setup, TraceSource
from quotatree.sim.sizing import TeamTree, fitting_nodes, gpus_drawn, team_quotas
from quotatree.sim.trace import Trace
from quotatree.sim.work import CheckpointModel, Checkpoints

GPUS_PER_NODE = 8
HOUR_MS = 3_600_000
HOURLY = CheckpointModel(Checkpoints.INTERVAL, HOUR_MS)
EQUAL: tuple[tuple[int, float], ...] = ()
MIXED = ((1, 60.0), (4, 25.0), (8, 15.0))
"""Pairs of priority and weight."""
HIGH_TAKES_LOW = SelfLevels.of(SelfLevel(Priorities(7, 9), Priorities(1, 6), frozenset(Module), Scope.OWN))


@cache
def trace() -> Trace:
    path = trace_file("philly-pollux/philly.csv.gz")
    first, until = datetime(2017, 10, 1, tzinfo=UTC), datetime(2017, 12, 1, tzinfo=UTC)
    return TraceSource(path=path, first=first, until=until).load()


@cache
def team_gpus() -> tuple[tuple[str, int], ...]:
    with trace_file("philly-pollux/philly_vc_nodes.csv").open(encoding="utf-8") as file:
        return tuple((row["vc"], int(row["node num"]) * GPUS_PER_NODE) for row in csv.DictReader(file))


def quotas(scale: float, strategy: Strategy, policies: SelfLevels) -> tuple[QuotaSpec, ...]:
    root = QuotaSpec(QuotaId("cluster"), strategy=strategy)
    each = QuotaSpec(QuotaId("team"), strategy=strategy, self_level=policies)
    return team_quotas(TeamTree(root, each, team_gpus(), scale, unit=GPUS_PER_NODE), trace())


def setup(
    scale: float,
    baseline: str = PRODUCT,
    strategy: Strategy = Strategy.FIFO,
    priorities: tuple[tuple[int, float], ...] = EQUAL,
    checkpoints: CheckpointModel = HOURLY,
) -> Setup:
    """Philly with quotas scaled by `scale`. Every job may run idle.

    With `priorities`, each job draws one, and 7 to 9 may take 1 to 6 within their own team.
    """
    tree = quotas(scale, strategy, HIGH_TAKES_LOW if priorities else SelfLevels())
    return Setup(
        name=f"philly at {scale}",
        nodes=fitting_nodes(gpus_drawn(tree, "default"), NodeSpec("like", gpus=GPUS_PER_NODE)),
        quotas=tree,
        baseline=baseline,
        jobs=JobDefaults(idle=Idle.ALLOW, skip_larger=True),
        rules=(Rule(priority=priorities),) if priorities else (),
        checkpoints=checkpoints,
        private_clusters=False,
    )
