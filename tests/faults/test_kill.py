"""`kill -9` at random moments during submissions, evictions, scalings and ends of jobs (A7).

Afterwards no acknowledged write is lost, no job ran twice and no GPU was given twice. The numbers are printed.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

from tests.faults import evidence
from tests.faults.servers import (
    Servers,
    Told,
    all_jobs,
    broken_promises,
    divide_evenly,
    settle_doubt,
    unfinished,
    wait_until_over,
)
from tests.faults.world import furnish, open_server
from tests.profiles import by_profile

KILLS = by_profile(quick=10, deep=100)
LONGEST_SECONDS = 300


def test_a_server_killed_again_and_again_loses_nothing_and_runs_nothing_twice(tmp_path: Path, capsys):
    began = time.monotonic()
    dice = random.Random(1)
    told = Told()
    furnish(tmp_path)
    servers = Servers(tmp_path)
    while (told.kills < KILLS or not cut_short(tmp_path)) and time.monotonic() - began < LONGEST_SECONDS:
        servers.live_and_die(told, lambda pid: kill_later(pid, dice.uniform(0.02, 0.9)))
    servers.close()
    controller, store = open_server(tmp_path)
    controller.start()
    refused = settle_doubt(controller, told)
    divide_evenly(controller)
    wait_until_over(store)
    versions = controller.ask(lambda world, _: dict(world.versions)).result(30)
    controller.stop()

    jobs = {row.id: row for row in all_jobs(store)}
    runs, faults = evidence.read(tmp_path / "timers")
    faults += evidence.overlaps(runs)
    faults += broken_promises(told, jobs)
    faults += [
        f"{quota}: version went back"
        for quota, seen in told.versions.items()
        if versions["quota", quota] < seen
    ]
    faults += unfinished(store, jobs)
    evicted = cut_short(tmp_path)
    with capsys.disabled():
        sys.stdout.write(
            f"\nkill -9: {told.kills} kills in {time.monotonic() - began:.0f} s, {told.acknowledged} acknowledged writes, "
            f"{len(jobs)} jobs, {len(runs)} runs, {evicted} of them cut short, {refused} in doubt and refused later; "
            f"faults: {len(faults)}\n"
        )
    store.close()
    assert faults == []
    assert told.kills >= min(KILLS, 5), "too slow a machine to say anything"
    assert len(runs) > told.kills
    assert evicted


def cut_short(directory: Path) -> int:
    """How many runs were evicted so far. On a busy machine servers may die too early for a first one."""
    runs, _ = evidence.read(directory / "timers")
    return sum(1 for run in runs.values() if not run.came_to_its_end)


def kill_later(pid: int, seconds: float) -> None:
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
