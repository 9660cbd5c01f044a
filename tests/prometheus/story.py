"""A busy cluster for Prometheus to look at: three teams on 64 GPUs, played by timers, in as many seconds as there are.

One team begins late, so the others stand on its GPUs by loans and idle work, and give way when it comes; a service of the company takes
from all of them; a node is cordoned; a GPU falls ill; somebody has a wrong token. The GPUs are played too, and what NVML would
say of them.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx2

from quotatree.engines.base import DeviceReport, DeviceUse
from tests.cli.conftest import Cli, Serving

NODES: Final = 8
GPUS: Final = 8
MEMORY_BYTES: Final = 80 << 30
TREE: Final = """
quotas:
  - id: company
    draws: {default: {gpus: 64}}
    child_level: {priorities: 1-5}
    children:
      - {id: vision, min: {gpus: 32}, self_level: {high: 6-9, low: 1-5}}
      - {id: speech, min: {gpus: 16}, reserved: {gpus: 4}}
      - {id: search, min: {gpus: 16}}
workspaces:
  - {id: teams, quotas: [company, vision, speech, search]}
"""
JOBS: Final = 200
LATE: Final = 0.35
# What happens once, at which part of the story.
LOAN_IS_TAKEN, SERVICE_COMES, NODE_GOES, NODE_COMES, GPU_FALLS_ILL = 0.1, 0.5, 0.6, 0.75, 0.9


@contextmanager
def busy_server(directory: Path) -> Iterator[Serving]:
    """A server with the tree of the story and nothing in it yet."""
    serving = Serving(directory, nodes=f"{NODES}x{GPUS}")
    try:
        cli = Cli(serving, directory)
        cli.run("apply", "-y", "-f", cli.file("tree.yaml", TREE))
        _play_devices(serving)
        yield serving
    finally:
        serving.close()


def play(serving: Serving, seconds: float) -> None:
    """Let the story happen, which takes so many seconds."""
    engine: Any = serving.server.engine
    dice = random.Random(1)
    began = time.monotonic()
    with serving.client() as client:
        node = client.nodes.list()[0]["name"]
        once = {
            LOAN_IS_TAKEN: lambda: client.jobs.submit_many([_urgent(seconds) for _ in range(5)]),
            SERVICE_COMES: lambda: client.jobs.submit(_service(seconds)),
            NODE_GOES: lambda: client.nodes.cordon(node),
            NODE_COMES: lambda: client.nodes.uncordon(node),
            GPU_FALLS_ILL: lambda: engine._report(DeviceReport(node, 0, healthy=False, detail="XID 79")),
        }
        for number in range(JOBS):
            part = number / JOBS
            threading.Event().wait(max(0.0, began + part * seconds - time.monotonic()))
            for when in [when for when in once if when <= part]:
                once.pop(when)()
            client.jobs.submit(_job(dice, seconds, part))
            if number % 10 == 0:
                httpx2.get(f"{serving.url}/api/v1/quotas", headers={"Authorization": "Bearer qt_wrong"})


def _job(dice: random.Random, seconds: float, part: float) -> Any:
    module = dice.choices(("DLC", "DSW", "EAS"), (6, 2, 2))[0]
    teams = {"vision": 6, "speech": 3, "search": 3 if part > LATE else 0}
    return {
        "workspace": "teams",
        "quota": dice.choices(list(teams), list(teams.values()))[0],
        "groups": [{"gpus": dice.choice((1, 2, 4, 4, 8))}],
        "module": module,
        "priority": dice.choice((2, 3, 4, 5, 7)),
        "idle": "never" if module == "EAS" else dice.choice(("never", "never", "allow")),
        "requeue": True,
        "program": {
            "seconds": seconds * dice.uniform(0.03, 0.11),
            "starts_after": 0.1,
            "leaves_after": seconds * 0.01 * dice.random(),
            "checkpoint_every": seconds * 0.05,
        },
    }


def _urgent(seconds: float) -> Any:
    return {
        "workspace": "teams",
        "quota": "vision",
        "groups": [{"gpus": 8}],
        "priority": 9,
        "program": {"seconds": seconds * 0.35, "checkpoint_every": seconds * 0.05},
    }


def _service(seconds: float) -> Any:
    return {
        "workspace": "teams",
        "quota": "company",
        "groups": [{"replicas": 3, "gpus": 8}],
        "module": "EAS",
        "priority": 8,
        "program": {"seconds": seconds * 0.2},
    }


def _play_devices(serving: Serving) -> None:
    engine: Any = serving.server.engine
    with serving.client() as client:
        nodes = [node["name"] for node in client.nodes.list()]
    dice = random.Random(2)
    usual = {(node, gpu): dice.uniform(0.5, 0.95) for node in nodes for gpu in range(GPUS)}
    engine.device_uses = lambda: [
        DeviceUse(node, gpu, busy + dice.uniform(-0.04, 0.04), int(busy * MEMORY_BYTES), MEMORY_BYTES)
        for (node, gpu), busy in usual.items()
    ]
