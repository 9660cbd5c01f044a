"""What are the policies worth? `python -m benchmarks.sim [NAME ...]` replays real traces and prints the tables.

Without a name: all of them. `--write` puts the tables into docs/explanation/results.md between its markers, and the
plots beside it.
"""

from __future__ import annotations

import sys

from benchmarks.page import EXPLANATION, Suite, run
from benchmarks.sim.capacity import capacity
from benchmarks.sim.fragmentation import fragmentation
from benchmarks.sim.guaranteed import guaranteed
from benchmarks.sim.inference import inference
from benchmarks.sim.informed import informed
from benchmarks.sim.lost_work import lost_work
from benchmarks.sim.quotas import quotas
from benchmarks.sim.replay import growth_of_replay, million, replay
from benchmarks.sim.traces import Absent

SUITES: dict[str, Suite] = {
    "fragmentation": fragmentation,
    "quotas": quotas,
    "informed": informed,
    "lost-work": lost_work,
    "guaranteed": guaranteed,
    "inference": inference,
    "capacity": capacity,
    "replay": replay,
    "replay-growth": growth_of_replay,
    "million": million,
}


def main() -> str | None:
    try:
        return run(SUITES, EXPLANATION / "results.md", sys.argv[1:])
    except Absent as why:
        return str(why)


if __name__ == "__main__":
    sys.exit(main())
