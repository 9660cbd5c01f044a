"""How much of a cluster can be filled before what is free is of no use to anybody?

The protocol of FGD (Weng et al., ATC'23): a pod list of Alibaba's openb trace, random pods of it once more until the
GPUs asked for are 130 % of the cluster's, in random order, one after the other, no departures; a pod that does not fit
is given up. Every pod goes through the core as in production: submitted, planned, and cancelled if it did not start.
The published results of six policies are read from the artifact's own files; their random orders are others than
ours, so means over ten seeds are compared.
"""

from __future__ import annotations

import csv
import gzip
import lzma
from bisect import bisect_left
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import accumulate, repeat
from random import Random
from statistics import mean, stdev
from time import process_time
from typing import NamedTuple

from benchmarks.measure import Table, budgets
from benchmarks.sim.best_fit import best_fit_percent
from benchmarks.sim.traces import trace
from quotatree.core import (
    WHOLE_GPU,
    Bounds,
    JobId,
    JobSpec,
    NodeSpec,
    QuotaId,
    QuotaSpec,
    Refused,
    ReplicaGroup,
    Shape,
    State,
    apply,
    plan,
)
from quotatree.core import events as ev

LISTS = ("default", "cpu050", "gpushare40", "gpuspec20", "multigpu30")
POLICIES = {
    "01-Random": "random", "02-DotProd": "dot product", "03-GpuClustering": "clustering",
    "04-GpuPacking": "packing", "05-BestFit": "best fit", "06-FGD": "FGD",
}  # fmt: skip
SEEDS = range(42, 52)
FRESH_SEEDS = range(200, 220)
DEMAND_PERCENT = 130


class Filled(NamedTuple):
    """The result of filling the cluster once."""

    percent: float
    microseconds_a_pod: float


def fragmentation() -> list[Table]:
    published = read_published()
    table = Table(
        f"GPUs allocated when {DEMAND_PERCENT} % have been asked for, openb, mean of ten seeds, %",
        ("pod list", *POLICIES.values(), "best fit here", "QuotaTree", "±", "budget", "", "µs a pod"),
        note="Random to FGD: results published with the FGD artifact. Best fit here: the same rule written anew "
        "in the benchmark, on the pods that QuotaTree gets, to show that the protocol is the same. "
        "±: standard deviation between seeds.",
    )
    wanted = budgets()["fragmentation"]
    with ProcessPoolExecutor() as processes:
        runs = {name: processes.map(fill_from, repeat(name), SEEDS) for name in LISTS}
        plain = {name: processes.map(best_fit_from, repeat(name), SEEDS) for name in LISTS}
        fresh = processes.map(fill_from, repeat("default"), FRESH_SEEDS)
        for name in LISTS:
            ended = list(runs[name])
            budget = wanted.get(f"{name}_percent")
            ours = mean(run.percent for run in ended)
            table.add(
                name,
                *(f"{mean(published[name, policy]):.2f}" for policy in POLICIES),
                f"{mean(plain[name]):.2f}",
                f"{ours:.2f}",
                f"{stdev(run.percent for run in ended):.2f}",
                budget if budget is not None else "",
                "" if budget is None else "within" if ours >= budget else "MISSED",
                f"{mean(run.microseconds_a_pod for run in ended):.0f}",
            )
        return [table, _fresh([run.percent for run in fresh])]


def _fresh(percents: list[float]) -> Table:
    table = Table("The default list with twenty other seeds, %", ("mean", "±", "least", "most"))
    table.add(*(f"{of(percents):.2f}" for of in (mean, stdev, min, max)))
    return table


def fill_from(name: str, seed: int) -> Filled:
    nodes = read_nodes()
    return fill(nodes, arrivals(read_pods(name), nodes, seed))


def best_fit_from(name: str, seed: int) -> float:
    nodes = read_nodes()
    return best_fit_percent(nodes, arrivals(read_pods(name), nodes, seed))


def read_nodes() -> list[NodeSpec]:
    with gzip.open(trace("alibaba-openb-v2023/openb_node_list_gpu_node.csv.gz"), "rt") as file:
        return [
            NodeSpec(row["sn"], "default", row["model"], int(row["gpu"]), int(row["cpu_milli"]), int(row["memory_mib"]))
            for row in csv.DictReader(file)
        ]  # fmt: skip


def read_pods(name: str) -> list[Shape]:
    with gzip.open(trace(f"alibaba-openb-v2023/openb_pod_list_{name}.csv.gz"), "rt") as file:
        return [
            Shape(
                int(row["num_gpu"]) * int(row["gpu_milli"]),
                int(row["cpu_milli"]),
                int(row["memory_mib"]),
                tuple(dict.fromkeys((row.get("gpu_spec") or "").split("|"))) if row.get("gpu_spec") else (),
            )
            for row in csv.DictReader(file)
        ]


def read_published() -> dict[tuple[str, str], list[float]]:
    """Allocation in percent at the end of each published run, by pod list and policy."""
    found: dict[tuple[str, str], list[float]] = {}
    with lzma.open(trace("fgd-expected-results/analysis_allo_discrete.csv.xz"), "rt") as file:
        for row in csv.DictReader(file):
            key = (row["workload"].removeprefix("openb_pod_list_"), row["sc_policy"])
            found.setdefault(key, []).append(float(row[str(DEMAND_PERCENT)]))
    return found


def arrivals(pods: list[Shape], nodes: list[NodeSpec], seed: int) -> list[Shape]:
    """The pods in random order until they ask for DEMAND_PERCENT; if too few, random ones are repeated."""
    random = Random(seed)
    arriving = list(pods)
    enough = _capacity_milli(nodes) * DEMAND_PERCENT // 100
    demand = sum(pod.gpu_milli for pod in pods)
    while demand < enough:
        arriving.append(random.choice(pods))
        demand += arriving[-1].gpu_milli
    random.shuffle(arriving)
    asked = list(accumulate(pod.gpu_milli for pod in arriving))
    return arriving[: bisect_left(asked, enough) + 1]


def _capacity_milli(nodes: Iterable[NodeSpec]) -> int:
    return sum(node.gpus for node in nodes) * WHOLE_GPU


def fill(nodes: list[NodeSpec], pods: list[Shape]) -> Filled:
    """Fill the cluster through the core: submit each pod, plan, and cancel it if it did not start."""
    state = State()
    apply(state, ev.PoolDeclared("default", mixed=True), 0)
    for node in nodes:
        apply(state, ev.NodeJoined(node), 0)
    capacity = _capacity_milli(nodes)
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("all"), draws=(("default", Bounds(capacity)),))), 0)
    began = process_time()
    for number, shape in enumerate(pods):
        job = JobId(f"pod-{number}")
        try:
            apply(state, ev.JobSubmitted(JobSpec(job, "all", (ReplicaGroup(1, shape),), 0)), 0)
        except Refused:  # it can never fit (S11): given up, as the protocol says of a pod that does not fit
            continue
        plan(state, 0)
        if not state.jobs[job].running:
            apply(state, ev.JobCancelled(job), 0)
    seconds = process_time() - began
    return Filled(100 * state.quotas[QuotaId("all")].used[0] / capacity, seconds / len(pods) * 1e6)
