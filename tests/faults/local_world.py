"""The same small cluster with real processes: what its server runs, and what may be killed of it."""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quotatree.control.loop import Controller, LoopSettings
from quotatree.engines.local.files import journal
from quotatree.engines.local.host import process_tree
from quotatree.engines.local.host.identity import Identity
from quotatree.engines.local.server.engine import LocalEngine
from quotatree.store import Store
from tests.faults.world import QUOTAS

RUN_AS = "root" if os.geteuid() == 0 else None
JOB = Path(__file__).with_name("local_job.py")
HABITS = ("good", "fails", "leaves", "deaf", "forks", "forks", "forks", "forks")


def open_local_server(directory: Path) -> tuple[Controller, Store]:
    store = Store.open(str(directory / "store.db"))
    engine = LocalEngine(directory / "engine", run_as=RUN_AS)
    return Controller(store, engine, "server", settings=LoopSettings(lease_ms=2_000)), store


def local_wish(directory: Path, dice: random.Random) -> dict[str, Any]:
    seconds, habit = round(dice.uniform(0.0, 0.5), 3), dice.choice(HABITS)
    witness = [sys.executable, "-I", "-S", str(JOB), str(directory / "evidence"), str(seconds), habit]
    return {
        "quota": dice.choice(QUOTAS),
        "gpus": dice.choice((1, 1, 2, 4)),
        "replicas": dice.choice((1, 1, 1, 2)),
        "priority": dice.randint(1, 9),
        "on_hold": dice.random() < 0.05,
        "program": {"command": witness},
    }


def engine_id(directory: Path) -> str:
    return str(json.loads((directory / "engine" / "engine.json").read_text())["id"])


def supervisors(directory: Path) -> list[Identity]:
    """Those that live."""
    found = []
    for path in (directory / "engine").glob("jobs/*/runs/*/journal"):
        for entry in journal.read(str(path))[0][:1]:
            identity = Identity.read(entry) if entry["is"] == "supervising" else None
            if identity is not None and identity.alive():
                found.append(identity)
    return found


def job_processes(directory: Path) -> list[Identity]:
    return process_tree.marked(engine_id(directory))


def lines(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        for text in path.read_text().splitlines():
            yield json.loads(text)
