"""How are many replays run at once? One process for each core, the longest first; results in the order asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor

from benchmarks.sim import philly
from quotatree.sim.outcome import JobOutcome
from quotatree.sim.private import outcomes_alone, private_clusters
from quotatree.sim.result import SimResult, simulate
from quotatree.sim.setup import Setup

Alone = dict[str, JobOutcome]
"""The outcome of every job in a cluster of its team's own, by job id."""


def replayed(setups: Sequence[Setup], alone: Sequence[Setup] = ()) -> tuple[list[SimResult], list[Alone]]:
    """The results of Philly under each of `setups`, and for each of `alone` the outcomes of all teams on their own."""
    philly.trace()  # load it before the processes fork, so that each has it
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        runs: list[Future[SimResult]] = [pool.submit(_run, setup) for setup in setups]
        private = [
            [pool.submit(_run_alone, setup, number) for number in range(len(philly.team_gpus()))]
            for setup in alone
        ]
        return [run.result() for run in runs], [_merged(parts) for parts in private]


def _run(setup: Setup) -> SimResult:
    return simulate(setup, philly.trace())


def _run_alone(setup: Setup, number: int) -> Alone:
    """The outcomes of one team on its own; `number` counts teams from the one with most jobs."""
    teams = private_clusters(setup, philly.trace())
    return {job.id: job for job in outcomes_alone(teams[number])}


def _merged(parts: Sequence[Future[Alone]]) -> Alone:
    found: Alone = {}
    for part in parts:
        found.update(part.result())
    return found
