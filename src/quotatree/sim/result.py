"""What came out? One value with everything a table, a file or a report shows, and the function that makes it.

Nothing in a SimResult depends on the machine or on how long it took: the same setup and trace give the same value, and
the files written from it (quotatree.sim.export) are the same byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass

from quotatree.core import WHOLE_GPU
from quotatree.sim.baselines import baseline_named
from quotatree.sim.metrics import Counted, Metrics, measure
from quotatree.sim.outcome import JobOutcome, Refusal, Taken
from quotatree.sim.private import Mapper, leaves, private_waits
from quotatree.sim.replay import OnProgress, Replay
from quotatree.sim.setup import Setup
from quotatree.sim.timeline import Timeline
from quotatree.sim.trace import Trace
from quotatree.sim.workload import Workload


@dataclass(frozen=True, slots=True)
class SimResult:
    """Everything a run produced. `complete` is False if it was interrupted, or stopped before all jobs had ended."""

    name: str
    title: str
    baseline: str
    label: str
    source: str
    facts: tuple[tuple[str, str], ...]
    complete: bool
    jobs: tuple[JobOutcome, ...]
    timeline: Timeline
    taken: tuple[Taken, ...]
    refusals: tuple[Refusal, ...]
    skipped: tuple[str, ...]  # rows of the trace file, by reason
    left_out: tuple[tuple[str, int], ...]  # jobs of the trace that were not submitted, by reason
    plans: int
    high_priority: int  # from which priority on a job counts as urgent
    metrics: Metrics


def prepare(setup: Setup, trace: Trace, on_progress: OnProgress | None = None) -> Replay:
    """A replay under the setup's baseline, ready to run. Raises Refused or SetupError if its parts do not fit."""
    baseline = baseline_named(setup.baseline)
    adapted = baseline.adapted(setup)
    return Replay(
        adapted, trace, baseline.brain(adapted), on_progress, Workload(setup), baseline.resubmit(setup)
    )


def simulate(
    setup: Setup, trace: Trace, on_progress: OnProgress | None = None, mapper: Mapper = map
) -> SimResult:
    """Run a simulation including its private clusters. To handle Ctrl-C, use `prepare` and `conclude` instead."""
    replay = prepare(setup, trace, on_progress)
    replay.run()
    return conclude(setup, trace, replay, mapper)


def conclude(setup: Setup, trace: Trace, replay: Replay, mapper: Mapper = map) -> SimResult:
    """The result of a replay that has run. Private clusters take long, so an interrupted one goes without them."""
    replay.recorder.advance(replay.now_ms)
    timeline = replay.recorder.finished()
    jobs = tuple(track.outcome(replay.now_ms) for track in replay.tracks)
    alone = private_waits(setup, trace, mapper) if setup.private_clusters and not replay.interrupted else None
    counted = Counted(replay.fruitless, replay.alarms, setup.high_priority, quota_gpus(setup))
    return SimResult(
        name=setup.name,
        title=setup.title,
        baseline=setup.baseline,
        label=baseline_named(setup.baseline).label,
        source=trace.source,
        facts=setup.facts,
        complete=replay.finished,
        jobs=jobs,
        timeline=timeline,
        taken=tuple(replay.taken),
        refusals=tuple(replay.refusals),
        skipped=trace.skipped,
        left_out=tuple(sorted(replay.left_out.items())),
        plans=replay.plans,
        high_priority=setup.high_priority,
        metrics=measure(jobs, timeline, counted, alone),
    )


def quota_gpus(setup: Setup) -> tuple[tuple[str, float], ...]:
    """The GPUs of each quota without children, by name, at the beginning of the run."""
    return tuple((str(quota.id), (quota.min.gpu_milli or 0) / WHOLE_GPU) for quota in leaves(setup))
