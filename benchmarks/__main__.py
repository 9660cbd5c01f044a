"""Which figures do we stand by? `python -m benchmarks [NAME ...]` prints them beside their budgets.

Names: decision growth gang reclaims quality adversarial. Without a name: all of them. `--write` puts the tables into
docs/explanation/performance.md between its markers. Replays of traces are `python -m benchmarks.sim`.
"""

from __future__ import annotations

import sys

from benchmarks.adversarial import adversarial
from benchmarks.page import EXPLANATION, run
from benchmarks.quality import quality
from benchmarks.speed import decision, gang, growth, reclaims

SUITES = {
    "decision": decision,
    "growth": growth,
    "gang": gang,
    "reclaims": reclaims,
    "quality": quality,
    "adversarial": adversarial,
}


if __name__ == "__main__":
    sys.exit(run(SUITES, EXPLANATION / "performance.md", sys.argv[1:]))
