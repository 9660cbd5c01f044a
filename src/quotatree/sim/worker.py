"""A simulation in a process of its own: setups and a trace come in on stdin, progress and results go out on stdout.

What comes in is a pickle that the server made; what goes out are lines of JSON, `{"progress": …}` and then `{"result": …}` for
each setup, or one `{"error": …}`. The process bounds its own processor time, and is polite to whoever shares the machine.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, Final

from quotatree.core import WHOLE_GPU, QuotaTreeError
from quotatree.sim.export import plain
from quotatree.sim.replay import Progress
from quotatree.sim.result import SimResult, conclude, prepare
from quotatree.sim.setup import Setup
from quotatree.sim.trace import Trace

EVERY_SECONDS: Final = 0.5
MOST_SAMPLES: Final = 400
MOST_BYTES: Final = 4 << 30


@dataclass(frozen=True, slots=True)
class Work:
    """Several setups to be run with the same jobs, one after the other, within so many seconds of processor time."""

    setups: tuple[Setup, ...]
    trace: Trace
    cpu_seconds: int


def main() -> None:
    out = sys.stdout
    work = pickle.load(sys.stdin.buffer)  # written by the server that started this process, to a pipe
    assert isinstance(work, Work)
    with suppress(OSError, ValueError):
        os.nice(10)
        resource.setrlimit(resource.RLIMIT_CPU, (work.cpu_seconds, work.cpu_seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    for number, setup in enumerate(work.setups):
        try:
            _say(out, "result", _played(number, setup, work.trace, out))
        except QuotaTreeError as why:
            _say(out, "error", {"variant": number, "why": str(why)})
            return
        except Exception as bug:
            _say(out, "error", {"variant": number, "why": f"internal error: {type(bug).__name__}: {bug}"})
            raise


def _played(number: int, setup: Setup, trace: Trace, out: IO[str]) -> dict[str, Any]:
    told_at = 0.0

    def on_progress(progress: Progress) -> None:
        nonlocal told_at
        now = time.monotonic()
        if now - told_at >= EVERY_SECONDS:
            told_at = now
            done = {"variant": number, "ended": progress.ended, "total": progress.total}
            _say(out, "progress", {**done, "seconds_left": progress.seconds_left})

    replay = prepare(setup, trace, on_progress)
    replay.run()
    return {"variant": number, **_figures(conclude(setup, trace, replay))}


def _figures(result: SimResult) -> dict[str, Any]:
    """The metrics of a run, and its samples, thinned out; nothing of single jobs."""
    metrics, samples = result.metrics, result.timeline.samples
    step = -(-len(samples) // MOST_SAMPLES) or 1
    kept = samples[::step]
    teams = result.timeline.teams
    return {
        "complete": result.complete,
        "left_out": sum(count for _, count in result.left_out),
        "refused": len(result.refusals),
        "plans": result.plans,
        "cluster": plain(metrics.cluster),
        "overall": plain(metrics.overall),
        "by_quota": {name: plain(group) for name, group in metrics.by_team},
        "by_module": {name: plain(group) for name, group in metrics.by_module},
        "by_priority": {name: plain(group) for name, group in metrics.by_priority},
        "series": {
            "at_ms": [one.time_ms for one in kept],
            "capacity": [one.capacity / WHOLE_GPU for one in kept],
            "running": [one.running / WHOLE_GPU for one in kept],
            "idle": [one.idle / WHOLE_GPU for one in kept],
            "waiting": [one.waiting / WHOLE_GPU for one in kept],
            "by_quota": {
                team: [one.by_team[at] / WHOLE_GPU if at < len(one.by_team) else 0 for one in kept]
                for at, team in enumerate(teams)
            },
        },
    }


def _say(out: IO[str], kind: str, what: dict[str, Any]) -> None:
    out.write(json.dumps({kind: what}, separators=(",", ":")) + "\n")
    out.flush()
