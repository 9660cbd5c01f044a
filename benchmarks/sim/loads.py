"""What do the replays replay? The whole Philly trace at several sizes of its cluster, and synthetic loads that last.

A synthetic load is stationary: all hours are alike, and the length follows from the number of jobs, the size of the
cluster and the share of it they ask for. So a longer trace is more of the same, and what a job costs may be compared.
"""

from __future__ import annotations

import csv
from dataclasses import replace

from benchmarks.sim.traces import trace
from quotatree.core import (
    WHOLE_GPU,
    Idle,
    Module,
    NodeSpec,
    Priorities,
    QuotaId,
    QuotaSpec,
    Scope,
    SelfLevel,
    SelfLevels,
)
from quotatree.sim.loaders import load_trace
from quotatree.sim.setup import Ignore, JobDefaults, Rule, Setup
from quotatree.sim.sizing import TeamTree, fitting_nodes, gpus_drawn, team_quotas
from quotatree.sim.synthetic import DAY_S, SyntheticSpec, generate, stream
from quotatree.sim.trace import Trace
from quotatree.sim.work import CheckpointModel, Checkpoints

GPUS_PER_NODE = 8
NODE = NodeSpec("node", gpus=GPUS_PER_NODE)
HOUR_MS = 3_600_000
URGENT_TAKES_MINOR = SelfLevels.of(
    SelfLevel(Priorities(7, 9), Priorities(1, 4), frozenset(Module), Scope.OWN)
)
PRIORITIES = ((1, 50.0), (3, 20.0), (5, 15.0), (7, 10.0), (9, 5.0))
"""Philly's trace has no priorities: each job draws one of these, by weight."""


def philly(scale: float) -> tuple[Setup, Trace]:
    """All of Philly with each virtual cluster scaled by `scale`; urgent jobs preempt, idle GPUs are lent."""
    with trace("philly-pollux/philly_vc_nodes.csv").open(newline="") as file:
        gpus = tuple((row["vc"], int(row["node num"]) * GPUS_PER_NODE) for row in csv.DictReader(file))
    played = load_trace(trace("philly-pollux/philly.csv.gz"))
    setup = _setup(f"philly x{scale}", gpus, scale, played)
    drawn = Rule(priority=PRIORITIES)
    hourly = CheckpointModel(Checkpoints.INTERVAL, HOUR_MS)
    return replace(setup, rules=(drawn,), checkpoints=hourly), played


def stationary(jobs: int, nodes: int, load: float, spec: SyntheticSpec) -> tuple[Setup, Trace]:
    """Synthetic jobs that ask for `load` of the cluster's GPU-hours, spread evenly over the time this takes."""
    even = replace(spec, jobs=jobs, days=1.0, diurnal_depth=0.0, weekend_factor=1.0)
    asked_s = sum(job.total_gpu_milli * job.duration_ms for job in stream(even)) / WHOLE_GPU / 1000
    played = generate(replace(even, days=asked_s / (nodes * GPUS_PER_NODE * load) / DAY_S))
    share = nodes * GPUS_PER_NODE / sum(weight for _, weight in spec.teams)
    gpus = tuple((team, int(weight * share)) for team, weight in spec.teams)
    setup = _setup(f"{jobs:,} jobs on {nodes:,} nodes at {load}", gpus, 1.0, played)
    return replace(setup, nodes=fitting_nodes(nodes * GPUS_PER_NODE, NODE)), played


def _setup(name: str, gpus: tuple[tuple[str, int], ...], scale: float, played: Trace) -> Setup:
    tree = TeamTree(
        QuotaSpec(QuotaId("all")), QuotaSpec(QuotaId("each"), self_level=URGENT_TAKES_MINOR),
        gpus=gpus, scale=scale, unit=GPUS_PER_NODE,
    )  # fmt: skip
    quotas = team_quotas(tree, played)
    return Setup(
        name, fitting_nodes(gpus_drawn(quotas, "default"), NODE), quotas,
        jobs=JobDefaults(
            idle=Idle.ALLOW, ignore=frozenset({Ignore.CPU, Ignore.MEMORY}), skip_larger=True
        ),
        private_clusters=False,
    )  # fmt: skip
