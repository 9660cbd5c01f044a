"""Which variables does a replica see? A small clean set, what the program asks for, and what it needs to know of itself.

The server's own variables are not among them: they may hold its secrets. Later ones win, so a program cannot take
another's GPUs by setting CUDA_VISIBLE_DEVICES.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MARK = "QUOTATREE_MARK"


def mark(engine: str, job: str, run: int, replica: int | None = None) -> str:
    """Mark by which processes of a replica are known; without `replica`, the beginning that all marks of a run share."""
    return f"{engine}:{job}:{run}:" if replica is None else f"{engine}:{job}:{run}:{replica}"


def of_replica(
    spec: Mapping[str, Any],
    order: Mapping[str, Any],
    *,
    secrets: Mapping[str, str],
    home: str,
    user: str,
    port: int,
    master_port: int,
    checkpoints: str,
    checkpoint_file: str,
) -> dict[str, str]:
    """All variables of one replica. `spec` is the content of spec.json, `order` one replica of a start order."""
    program = spec["program"]
    return {
        **_base(home, user),
        **{str(name): str(value) for name, value in program.get("env", {}).items()},
        **secrets,
        **_devices(order),
        **_ranks(spec, order, master_port),
        **_ours(spec, order, port, checkpoints, checkpoint_file),
    }


def _base(home: str, user: str) -> dict[str, str]:
    return {
        # Last, the directory of the server's Python, so that a job finds the command `quotatree checkpoint`.
        "PATH": f"{PATH}:{os.path.dirname(sys.executable)}",
        "HOME": home,
        "USER": user,
        "LOGNAME": user,
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "TMPDIR": "/tmp",
    }


def _devices(order: Mapping[str, Any]) -> dict[str, str]:
    devices = ",".join(str(device) for device in order["devices"])
    return {
        "CUDA_VISIBLE_DEVICES": devices,
        "NVIDIA_VISIBLE_DEVICES": devices,
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",  # as NVML numbers them; by default CUDA puts the fastest first
    }


def _ranks(spec: Mapping[str, Any], order: Mapping[str, Any], master_port: int) -> dict[str, str]:
    """Variables that plain PyTorch reads, and (PET_*) those that torchrun takes for its options: one node per replica."""
    rank, world = str(order["replica"]), str(spec["world_size"])
    return {
        "RANK": rank,
        "WORLD_SIZE": world,
        "LOCAL_RANK": "0",
        "LOCAL_WORLD_SIZE": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(master_port),
        "PET_NNODES": world,
        "PET_NODE_RANK": rank,
        "PET_NPROC_PER_NODE": str(max(1, len(order["devices"]))),
        "PET_MASTER_ADDR": "127.0.0.1",
        "PET_MASTER_PORT": str(master_port),
    }


def _ours(
    spec: Mapping[str, Any], order: Mapping[str, Any], port: int, checkpoints: str, checkpoint_file: str
) -> dict[str, str]:
    job, run, replica = str(spec["job"]), int(spec["run"]), int(order["replica"])
    ours = {
        "QUOTATREE_JOB": job,
        "QUOTATREE_RUN": str(run),
        "QUOTATREE_REPLICA": str(replica),
        "QUOTATREE_NODE": str(order["node"]),
        "QUOTATREE_MODULE": str(spec["module"]),
        "QUOTATREE_CHECKPOINT_DIR": checkpoints,
        "QUOTATREE_CHECKPOINT_FILE": checkpoint_file,
        "QUOTATREE_PORT": str(port),
        "QUOTATREE_GRACE_SECONDS": f"{spec['grace_ms'] / 1000:g}",
        MARK: mark(str(spec["engine"]), job, run, replica),
    }
    if spec.get("token"):
        ours["QUOTATREE_TOKEN"] = str(spec["token"])
    return ours
