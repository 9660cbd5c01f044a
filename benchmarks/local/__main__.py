"""What do real processes cost? `python -m benchmarks.local [NAME ...]` starts many, evicts some, and prints tables.

Names: start eviction throughput memory service. Without a name: all of them. `--write` puts the tables into
docs/explanation/local-performance.md between its markers.
"""

from __future__ import annotations

import sys

from benchmarks.local.running import memory, throughput
from benchmarks.local.service import service
from benchmarks.local.starting import eviction, start
from benchmarks.page import EXPLANATION, Suite, run

SUITES: dict[str, Suite] = {
    "start": start,
    "eviction": eviction,
    "throughput": throughput,
    "memory": memory,
    "service": service,
}


if __name__ == "__main__":
    sys.exit(run(SUITES, EXPLANATION / "local-performance.md", sys.argv[1:]))
