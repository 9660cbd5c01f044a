"""Where are the traces? Beside the project, or where QUOTATREE_TRACES says; each may be absent."""

from __future__ import annotations

import os
from pathlib import Path

TRACES = Path(os.environ.get("QUOTATREE_TRACES") or Path(__file__).resolve().parents[3] / "shared" / "traces")


class Absent(Exception):
    """A benchmark's trace is not on this machine."""


def trace(name: str) -> Path:
    """The path of a trace file, such as "philly-pollux/philly.csv.gz"."""
    path = TRACES / name
    if not path.exists():
        raise Absent(f"{name} is not in {TRACES}; set QUOTATREE_TRACES to the folder that has it")
    return path
