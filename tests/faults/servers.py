"""Servers that are killed one after the other, what they acknowledged before, and what must be true afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quotatree.control.commands import values as do
from quotatree.control.loop import Controller
from quotatree.core.errors import QuotaTreeError
from quotatree.core.events import ScaleMode
from quotatree.core.model.resources import Bounds
from quotatree.store import JobFilter, Store
from tests.faults.under_load import submit
from tests.faults.world import GPUS, NODES

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Told:
    """What the servers acknowledged before they died."""

    wishes: dict[str, dict[str, Any]] = field(default_factory=dict)
    ids: dict[str, set[str]] = field(default_factory=dict)  # by key
    cancelled: set[str] = field(default_factory=set)
    priorities: dict[str, int] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    acknowledged: int = 0
    kills: int = 0

    def hear(self, line: dict[str, Any]) -> None:
        if "sent" in line:
            self.wishes[line["sent"]] = line["wish"]
        done = line.get("done")
        self.acknowledged += done is not None
        if done == "submit":
            self.ids.setdefault(line["key"], set()).add(line["id"])
        elif done == "cancel":
            self.cancelled.add(line["id"])
        elif done == "priority":
            self.priorities[line["id"]] = line["priority"]
        elif done == "transfer":
            self.versions[line["quota"]] = max(line["version"], self.versions.get(line["quota"], 0))

    @property
    def doubt(self) -> dict[str, dict[str, Any]]:
        return {key: wish for key, wish in self.wishes.items() if key not in self.ids}


class Servers:
    """One after the other, in processes of their own."""

    def __init__(self, directory: Path, *kind: str) -> None:
        self._directory = directory
        self._errors = directory / "errors"
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        command = [sys.executable, "-m", "tests.faults.under_load", str(directory), *kind]
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=ROOT,
                env={**os.environ, "PYTHONPATH": path},
            )  # fmt: skip

    def live_and_die(self, told: Told, end: Callable[[int], None]) -> None:
        """One life: from its first moment, recovery included, until `end`, in a thread of its own, has killed it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        (self._directory / "doubt.json").write_text(json.dumps(told.doubt))
        self._process.stdin.write(f"{told.kills}\n")
        self._process.stdin.flush()
        for text in self._process.stdout:
            line = json.loads(text)
            told.hear(line)
            if "begun" in line:
                threading.Thread(target=end, args=[line["begun"]]).start()
            if "over" in line:
                assert line["over"] == signal.SIGKILL, self._errors.read_text()[-3000:]
                told.kills += 1
                return
        raise AssertionError(self._errors.read_text()[-3000:])

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
        assert "broke" not in self._errors.read_text()


def settle_doubt(controller: Controller, told: Told) -> int:
    """Clients repeat what they got no answer to; what is refused now was not done before."""
    refused = 0
    for key, wish in told.doubt.items():
        try:
            answer = controller.call(submit(key, wish)).result(30)
            told.ids.setdefault(key, set()).add(answer.id)
        except QuotaTreeError:
            refused += 1
    return refused


def divide_evenly(controller: Controller) -> None:
    """Whatever was transferred: every job that waits must fit its quota again."""
    half = Bounds(NODES * GPUS * 500)
    mins = controller.ask(lambda world, _: {q: world.quota(q).min[0] or 0 for q in ("a", "b")}).result(30)
    for quota in sorted(mins, key=lambda q: -mins[q]):
        scale = do.ScaleQuota(actor="root", quota=quota, min=half, mode=ScaleMode.LAZY)
        controller.call(scale).result(30)


def wait_until_over(store: Store) -> None:
    """All timers end by themselves, unless their job is on hold."""
    until = time.monotonic() + 60
    pause = threading.Event()
    while time.monotonic() < until:
        active = store.jobs(JobFilter(active=True), None, 200).items
        if all(row.phase == "OnHold" for row in active):
            return
        pause.wait(0.05)
    raise AssertionError(
        f"still there after a minute: {[(row.id, row.phase, row.reason_code) for row in active][:5]}"
    )


def all_jobs(store: Store) -> list[Any]:
    found: list[Any] = []
    cursor = None
    while True:
        page = store.jobs(JobFilter(), cursor, 200)
        found += page.items
        cursor = page.next
        if cursor is None:
            return found


def unfinished(store: Store, jobs: dict[str, Any]) -> list[str]:
    """At the end nothing is open: every run has its outcome and every placement its end."""
    return [
        f"{job}: run {run.run} was never closed"
        for job in jobs
        for run in store.runs(job)
        if run.ended_ms is None or run.outcome is None
    ]


def broken_promises(told: Told, jobs: dict[str, Any]) -> list[str]:
    """What was acknowledged and is not so."""
    made = {job for ids in told.ids.values() for job in ids}
    faults = [f"{key} made {len(ids)} jobs" for key, ids in told.ids.items() if len(ids) > 1]
    faults += [f"acknowledged job {job} is lost" for job in made - jobs.keys()]
    faults += [f"job {job} was asked for by nobody" for job in jobs.keys() - made]
    faults += [
        f"{job} was cancelled and is {jobs[job].phase}"
        for job in told.cancelled
        if jobs[job].phase != "Cancelled"
    ]
    faults += [
        f"{job} has priority {jobs[job].priority}, {wanted} was acknowledged"
        for job, wanted in told.priorities.items()
        if jobs[job].priority != wanted
    ]
    return faults
