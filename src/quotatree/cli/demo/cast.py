"""Who and what is on stage in the demo: a tree of 128 GPUs, three workspaces, and programs that
really run.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from quotatree import examples

if TYPE_CHECKING:
    from quotatree.client import types as t

NODES: Final = "16x8:A100"
GRACE: Final = "5s"
ROOT: Final = "Quota1"
TRAINING_QUOTA: Final = "Quota1.1"
NOTEBOOK_QUOTA: Final = "Quota1.2"
QUOTAS: Final[tuple[dict[str, Any], ...]] = (
    {
        "id": ROOT,
        "draws": {"default": {"gpus": 128}},
        "child_level": {"priorities": "1-3", "modules": ["DLC", "DSW"]},
    },
    {"id": TRAINING_QUOTA, "parent": ROOT, "min": {"gpus": 48}},
    {"id": NOTEBOOK_QUOTA, "parent": ROOT, "min": {"gpus": 80}},
)
# workspace: (its owner, its quota)
TEAMS: Final = {
    "workspace-a": ("ada", ROOT),
    "workspace-b": ("bob", TRAINING_QUOTA),
    "workspace-c": ("cai", NOTEBOOK_QUOTA),
}
EXAMPLES: Final = Path(examples.__file__).parent
STEPS: Final = 100_000  # of a training: more than the demo lasts
SELDOM_SECONDS: Final = 3600


def training() -> list[t.JobIn]:
    """Jobs of 48 GPUs. Two have priority 1, so that any other may take them: one saves every
    second, the other seldom.
    """
    return [
        _train("sweep-b", priority=1, save_every=SELDOM_SECONDS),
        _train("tune", priority=3, replicas=2, save_every=5),
        _train("rank", priority=2, save_every=5),
        _train("embed", priority=2, save_every=5),
        _train("sweep-a", priority=1, save_every=1),
    ]


def extra() -> t.JobIn:
    return _train("extra", priority=1, save_every=5)


def notebooks() -> list[t.JobIn]:
    """Notebooks of 80 GPUs. `scratch` has priority 1 and wants to be started again should it be
    evicted.
    """
    return [_notebook("scratch", priority=1, requeue=True)] + [
        _notebook(f"notebook-{n}", 2) for n in range(1, 10)
    ]


def service() -> t.JobIn:
    job = _job("service", "workspace-a", "EAS", 5, "service")
    job["groups"] = [{"replicas": 2, "gpus": 8}]
    job["min_replicas"] = 2
    job["program"]["health"] = {"path": "/health", "interval_seconds": 0.2}
    return job


def _train(name: str, priority: int, save_every: int, replicas: int = 1) -> t.JobIn:
    arguments = ["--steps", str(STEPS), "--step-seconds", "0.1", "--save-every", str(save_every)]
    job = _job(name, "workspace-b", "DLC", priority, "train", *arguments)
    job["groups"] = [{"replicas": replicas, "gpus": 8}]
    return job


def _notebook(name: str, priority: int, requeue: bool = False) -> t.JobIn:
    job = _job(name, "workspace-c", "DSW", priority, "notebook")
    job["requeue"] = requeue
    return job


def _job(name: str, workspace: str, module: Any, priority: int, example: str, *arguments: str) -> t.JobIn:
    return {
        "name": name,
        "workspace": workspace,
        "quota": TEAMS[workspace][1],
        "groups": [{"replicas": 1, "gpus": 8}],
        "module": module,
        "priority": priority,
        "grace": GRACE,
        "program": {"command": [sys.executable, str(EXAMPLES / f"{example}.py"), *arguments]},
    }
