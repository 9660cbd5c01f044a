"""What does it cost to let important jobs into a full cluster? `python -m benchmarks.kubernetes` asks two schedulers.

On a real control plane whose nodes are played (tests/kubernetes), filled with work of low priority, important jobs arrive.
First kube-scheduler preempts by PriorityClass; then QuotaTree decides about the same work, not knowing how old anybody's
checkpoint is, and then knowing it. `--write` puts the tables into docs/explanation/kubernetes-performance.md.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from benchmarks.kubernetes import native, ours
from benchmarks.kubernetes.outcome import COLUMNS, CPU_COLUMNS, Outcome, cpu_row, row
from benchmarks.kubernetes.world import GPUS_OF_A_NODE, GRACE_SECONDS, Work, World, made
from benchmarks.measure import Table
from benchmarks.page import EXPLANATION, write_suite
from tests.kubernetes.cluster import Cluster, Speed

SUITES = ["arrival", "large"]
NODES = 1000
LARGE_NODES = 5000
LARGE = Speed(lease_seconds=400, monitor_grace_seconds=600)
"""1,000 nodes that renew a lease of 8 s would keep the API server busy with nothing else; and none is to be lost here."""


@click.command()
@click.option("--nodes", type=int, help="Nodes, of 8 GPUs each: 1,000 unless said, or 5,000 with --large.")
@click.option("--arriving", default=500, show_default=True, help="Important jobs that arrive.")
@click.option("--seed", default=1, show_default=True)
@click.option(
    "--large",
    is_flag=True,
    help="Jobs of one GPU on all nodes, 40,000 on 5,000: memory, time to start and to take over.",
)
@click.option("--write", is_flag=True, help="Put the tables into docs/explanation/kubernetes-performance.md.")
def main(nodes: int | None, arriving: int, seed: int, large: bool, write: bool) -> None:
    """Let important jobs into a full cluster, by kube-scheduler and by QuotaTree."""
    found = large_tables(nodes or LARGE_NODES) if large else compared(made(nodes or NODES, arriving, seed))
    for table in found:
        click.echo(table.text() + "\n")
    if write:
        write_suite(EXPLANATION / "kubernetes-performance.md", SUITES, "large" if large else "arrival", found)


def compared(world: World) -> list[Table]:
    """One row for each who decides. The work is what kube-scheduler found room for: the others get the same."""
    with filled_by(world) as cluster:
        outcome, world = native.run(cluster, world, say)
    outcomes, paces = [outcome], []
    for knows_ages in (False, True):
        with filled_by(world) as cluster, tempfile.TemporaryDirectory(prefix="quotatree-bench-") as scratch:
            outcome, pace = ours.run(cluster, world, Path(scratch), say, knows_ages=knows_ages)
        outcomes.append(outcome)
        paces.append(pace)
    return tables(world, outcomes, paces[-1])


def large_tables(nodes: int) -> list[Table]:
    """What a job on every GPU weighs: 40,000 on 5,000 nodes."""
    low = tuple(Work(f"low-{number}", 1) for number in range(nodes * GPUS_OF_A_NODE))
    world = World(nodes, low, ())
    with filled_by(world) as cluster, tempfile.TemporaryDirectory(prefix="quotatree-bench-") as scratch:
        return [paced(world, ours.fill(cluster, world, Path(scratch), say))]


@contextmanager
def filled_by(world: World) -> Iterator[Cluster]:
    """A control plane of its own for each row, with all nodes Ready: what one row leaves behind costs the next nothing."""
    began = time.perf_counter()
    with Cluster.started(LARGE) as cluster:
        cluster.nodes.add(world.nodes, GPUS_OF_A_NODE)
        say(f"{world.nodes} nodes are Ready after {time.perf_counter() - began:.0f} s")
        yield cluster


def tables(world: World, outcomes: list[Outcome], pace: ours.Pace) -> list[Table]:
    title = f"{len(world.high)} jobs of {world.wanted_gpus} GPUs arrive at {world.nodes} full nodes, grace {GRACE_SECONDS} s"
    costs = Table(title, COLUMNS, note=f"Filled with {len(world.low)} jobs of low priority, in random order.")
    note = f"{os.cpu_count()} processors. Others: the benchmark's own watch, and whatever else this machine was doing."
    processors = Table("Processor seconds from the arrival until all are bound", CPU_COLUMNS, note=note)
    for outcome in outcomes:
        costs.add(*row(outcome))
        processors.add(*cpu_row(outcome))
    return [costs, processors, paced(world, pace)]


def paced(world: World, pace: ours.Pace) -> Table:
    table = Table(
        f"QuotaTree fills {world.nodes} nodes",
        ("jobs", "starts/s", "API requests a job", "server MiB", "a new process leads after s"),
    )
    table.add(
        pace.jobs,
        f"{pace.jobs / pace.seconds:.0f}",
        f"{pace.requests / pace.jobs:.1f}",
        pace.memory_mib,
        f"{pace.start_again_seconds:.1f}",
    )
    return table


def say(text: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
