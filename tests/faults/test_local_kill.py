"""`kill -9` of the server, of a supervisor, of a job, at random moments, with real processes (A7).

Afterwards no acknowledged job is lost, none ran twice at the same time, no GPU was given twice and no process is left.
Every job holds locks on its run and on its GPUs while anything of it lives, and says when it finds one taken.
The numbers are printed.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from quotatree.engines.local.host.identity import Identity
from tests.faults import local_world
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
from tests.faults.world import furnish
from tests.profiles import by_profile

KILLS = by_profile(quick=10, deep=100)
LONGEST_SECONDS = 150


def test_whoever_is_killed_nothing_is_lost_nothing_runs_twice_and_nothing_is_left(tmp_path: Path, capsys):
    began = time.monotonic()
    os.chmod(tmp_path, 0o711)
    (tmp_path / "evidence").mkdir()
    furnish(tmp_path)
    told, killed, servers = Told(), Assassin(tmp_path), Servers(tmp_path, "local")
    while killed.total < KILLS and time.monotonic() - began < LONGEST_SECONDS:
        servers.live_and_die(told, killed.during_the_life_of)
    servers.close()
    controller, store = local_world.open_local_server(tmp_path)
    controller.start()
    settle_doubt(controller, told)
    divide_evenly(controller)
    wait_until_over(store)
    controller.stop()

    jobs = {row.id: row for row in all_jobs(store)}
    starts = list(local_world.lines(tmp_path / "evidence" / "starts"))
    outcomes = Counter(run.outcome for job in jobs for run in store.runs(job))
    faults = [str(line) for line in local_world.lines(tmp_path / "evidence" / "violations")]
    faults += broken_promises(told, jobs)
    faults += unfinished(store, jobs)
    faults += never_ended_well(tmp_path, jobs)
    faults += [f"process {process.pid} is left" for process in local_world.job_processes(tmp_path)]
    faults += [f"supervisor {process.pid} is left" for process in local_world.supervisors(tmp_path)]
    with capsys.disabled():
        sys.stdout.write(
            f"\nkill -9 of {dict(killed.by_kind)} in {time.monotonic() - began:.0f} s: {told.acknowledged} acknowledged "
            f"writes, {len(jobs)} jobs, {len(starts)} processes, runs {dict(outcomes)}; faults: {len(faults)}\n"
        )
    store.close()
    assert faults == []
    assert killed.total >= min(KILLS, 5), "too slow a machine to say anything"
    assert starts


class Assassin:
    """Kills somebody of a server's world now and then, and in the end the server."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._dice = random.Random(2)
        self.by_kind: Counter[str] = Counter()

    @property
    def total(self) -> int:
        return self.by_kind.total()

    def during_the_life_of(self, server: int) -> None:
        for _ in range(self._dice.randint(0, 4)):
            time.sleep(self._dice.uniform(0.02, 0.4))
            if self._dice.random() < 0.5:
                self._kill_one("supervisors", local_world.supervisors(self._directory))
            else:
                self._kill_one("jobs", local_world.job_processes(self._directory))
        time.sleep(self._dice.uniform(0.02, 0.4))
        os.kill(server, signal.SIGKILL)
        self.by_kind["servers"] += 1

    def _kill_one(self, kind: str, living: list[Identity]) -> None:
        if living and self._dice.choice(living).send(signal.SIGKILL):
            self.by_kind[kind] += 1


def never_ended_well(directory: Path, jobs: dict[str, Any]) -> list[str]:
    """Nobody may be called succeeded who did not say so himself."""
    ended = {line["job"] for line in local_world.lines(directory / "evidence" / "ends") if line["well"]}
    return [
        f"{job} is said to have succeeded"
        for job, row in jobs.items()
        if row.phase == "Succeeded" and job not in ended
    ]
