"""How fast is a replay, and does a long trace cost more per event than a short one?

Every replay runs in a process of its own, so that its memory is its own. Time is the processor's: planning and
book-keeping from the first event to the last, without reading the trace. An event is a submit, a start, an end or an
eviction.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from time import process_time

from benchmarks.measure import Table, budgets, verdict
from benchmarks.sim.loads import philly, stationary
from quotatree.sim.replay import OnProgress, Progress
from quotatree.sim.result import prepare
from quotatree.sim.setup import Setup
from quotatree.sim.synthetic import DAY_S, SyntheticSpec
from quotatree.sim.trace import Trace

SCALES = (0.5, 0.35)
LENGTHS = (10_000, 20_000, 40_000, 80_000)
LOADS = (0.7, 0.9)
GROWTH_NODES = 128
MILLION, MILLION_NODES, MILLION_LOAD = 1_000_000, 10_000, 0.9
UPTO_TWO_NODES = tuple((size, weight) for size, weight in SyntheticSpec().sizes if size <= 16_000)
MINUTES = SyntheticSpec(
    duration_median_s=600.0, duration_sigma=1.0, duration_max_s=7_200.0, sizes=UPTO_TWO_NODES
)
"""Short and small jobs, so that filling and emptying the cluster is a small part of the trace."""
A_WEEK = SyntheticSpec(duration_median_s=3_600.0, duration_sigma=1.4, duration_max_s=2.0 * DAY_S)
"""A million of these jobs keep 10,000 nodes busy for about a week."""
SAID_EVERY = 16
"""Calls of the progress callback between two lines on stderr."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements of one replay."""

    name: str
    nodes: int
    jobs: int
    plans: int
    events: int
    evictions: int
    days: float
    allocated: float  # share of the GPU-time
    waiting_mean: float
    waiting_max: int
    seconds: float
    peak_mib: float

    @property
    def us_per_event(self) -> float:
        return self.seconds / self.events * 1e6


def replay() -> list[Table]:
    """Time all of Philly, with preemption and lending."""
    limit = budgets()["replay"]
    table = Table(
        "The whole Philly trace, with preemption and idle lending",
        ("cluster", "nodes", "jobs", "plans", "evictions", "seconds", "budget s", "", "µs per event", "memory MiB",
         "budget MiB", " "),
        note="cluster: the virtual clusters of the trace, each this part of its size. Priorities are drawn by a seed.",
    )  # fmt: skip
    for scale in SCALES:
        m = _alone(_philly, scale)
        table.add(
            f"x {scale}", m.nodes, f"{m.jobs:,}", f"{m.plans:,}", f"{m.evictions:,}", f"{m.seconds:.1f}",
            limit["philly_seconds"], verdict(m.seconds, limit["philly_seconds"]), f"{m.us_per_event:.0f}",
            f"{m.peak_mib:.0f}", limit["philly_mib"], verdict(m.peak_mib, limit["philly_mib"]),
        )  # fmt: skip
    return [table]


def growth_of_replay() -> list[Table]:
    """Time the same load for longer and longer traces."""
    limit = budgets()["replay"]["growth_ratio"]
    tables = []
    for load in LOADS:
        table = Table(
            f"Growth of a replay with the trace, {GROWTH_NODES} nodes, load {load}",
            ("jobs", "days", "evictions", "allocated", "waiting, mean", "waiting, most", "seconds", "µs per event",
             "against the shortest"),
        )  # fmt: skip
        first = 0.0
        for jobs in LENGTHS:
            m = _alone(_growing, jobs, load)
            first = first or m.us_per_event
            table.add(
                f"{m.jobs:,}", f"{m.days:.1f}", f"{m.evictions:,}", f"{m.allocated:.0%}", f"{m.waiting_mean:.1f}",
                m.waiting_max, f"{m.seconds:.1f}", f"{m.us_per_event:.0f}", f"x{m.us_per_event / first:.2f}",
            )  # fmt: skip
        ratio = m.us_per_event / first
        table.note = f"longest against shortest: x{ratio:.2f}, budget x{limit}: {verdict(ratio, limit)}."
        tables.append(table)
    return tables


def million() -> list[Table]:
    """Time one million jobs on ten thousand nodes, to the end."""
    m = _alone(_million)
    table = Table(
        "One million synthetic jobs on 10,000 nodes",
        ("jobs", "nodes", "days", "allocated", "plans", "evictions", "waiting, most", "seconds", "µs per job",
         "µs per event", "memory MiB"),
    )  # fmt: skip
    table.add(
        f"{m.jobs:,}", f"{m.nodes:,}", f"{m.days:.1f}", f"{m.allocated:.0%}", f"{m.plans:,}", f"{m.evictions:,}",
        f"{m.waiting_max:,}", f"{m.seconds:.0f}", f"{m.seconds / m.jobs * 1e6:.0f}", f"{m.us_per_event:.0f}",
        f"{m.peak_mib:.0f}",
    )  # fmt: skip
    return [table]


def _philly(scale: float) -> Measured:
    return measured(*philly(scale))


def _growing(jobs: int, load: float) -> Measured:
    return measured(*stationary(jobs, GROWTH_NODES, load, MINUTES))


def _million() -> Measured:
    return measured(*stationary(MILLION, MILLION_NODES, MILLION_LOAD, A_WEEK), _Teller().tell)


def _alone(work: Callable[..., Measured], *arguments: float) -> Measured:
    """Run `work` in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def measured(setup: Setup, trace: Trace, on_progress: OnProgress | None = None) -> Measured:
    player = prepare(setup, trace, on_progress)
    started = process_time()
    player.run()
    seconds = process_time() - started
    timeline = player.recorder.finished()
    waiting = [sample.waiting_jobs for sample in timeline.samples]
    ends = sum(track.end is not None for track in player.tracks)
    starts = sum(track.starts for track in player.tracks)
    return Measured(
        setup.name, len(setup.nodes), len(player.tracks), player.plans,
        len(player.tracks) + starts + ends + len(player.taken), len(player.taken),
        (timeline.until_ms - timeline.from_ms) / 1000 / DAY_S, timeline.running / timeline.capacity,
        sum(waiting) / len(waiting), max(waiting), seconds, _peak_mib(),
    )  # fmt: skip


def _peak_mib() -> float:
    """The most memory this process had; where /proc exists, without what its parent had at the fork."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text(encoding="ascii").splitlines())
        return int(lines["VmHWM"].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class _Teller:
    """Prints on stderr how far a long replay is."""

    def __init__(self) -> None:
        self._calls = 0

    def tell(self, at: Progress) -> None:
        self._calls += 1
        if self._calls % SAID_EVERY and at.ended < at.total:
            return
        left = f", {at.seconds_left / 60:.0f} min left" if at.seconds_left is not None else ""
        print(
            f"{at.submitted:,} submitted, {at.ended:,} of {at.total:,} ended, {at.jobs_per_second:.0f} a second, "
            f"{_peak_mib():.0f} MiB{left}",
            file=sys.stderr,
            flush=True,
        )
