"""Whose work is lost? Our victims against the rule most schedulers use, with and without checkpoints.

All rules have the same rights: priorities 7-9 may take 1-6 of their own team, and a team within its quota takes back
what others use above theirs. What differs is which victims are chosen.
"""

from __future__ import annotations

from benchmarks.measure import Table
from benchmarks.sim import philly
from benchmarks.sim.runs import replayed
from quotatree.core import Strategy
from quotatree.sim.metrics import JobMetrics
from quotatree.sim.result import SimResult
from quotatree.sim.setup import PRODUCT
from quotatree.sim.work import CheckpointModel, Checkpoints

SCALE = 0.25
RULES = (PRODUCT, "informed", "peers", "kube")
MODELS = (
    ("every hour", philly.HOURLY),
    ("every 10 minutes", CheckpointModel(Checkpoints.INTERVAL, 600_000)),
    ("never", CheckpointModel(Checkpoints.NONE)),
)


def lost_work() -> list[Table]:
    return [table(results())]


def results() -> list[tuple[str, SimResult]]:
    """The result of each rule under each checkpoint model, with the model's name."""
    rows = [(saves, name, model) for saves, model in MODELS for name in RULES]
    setups = [philly.setup(SCALE, name, Strategy.TRAVERSE, philly.MIXED, model) for _, name, model in rows]
    found, _ = replayed(setups)
    return [(saves, result) for (saves, _, _), result in zip(rows, found, strict=True)]


def table(rows: list[tuple[str, SimResult]]) -> Table:
    made = Table(
        f"Philly, quotas x {SCALE}: what evictions cost",
        ("checkpoints", "victims by", "evictions", "jobs evicted %", "GPUs told to go", "lost GPU-h", "lost GPU-h each",
         "goodput %", "wait mean s, priority 8", "4", "1", "completion mean s"),
        note=(
            "Priorities 1 (60 %), 4 (25 %), 8 (15 %) by one seed; 7-9 may take 1-6 of their own team; whoever is within its "
            "quota takes back what others use above theirs, without regard to priority. QuotaTree and the peers' model "
            "have the same rights; kube-scheduler's has no quotas: nothing is ever taken back for a team, so fewer go. "
            "Lost: unsaved work, and restarts. QuotaTree loses a third of what the peers' rule loses with checkpoints, half "
            "without. The first replay of this table had it lose 761, 147 and 36,583 GPU-hours, the last twice the peers'; "
            "looking for the cause led to ADR 0020, so these figures are not a test of that rule on work it had not seen. "
            "What is not better: evictions are about as many, priority 4 waits longer than under the peers' rule, and without "
            "checkpoints kube-scheduler's rule, which owes no team anything, loses least."
        ),
    )  # fmt: skip
    for saves, result in rows:
        jobs, of = result.metrics.overall, dict(result.metrics.by_priority)
        assert jobs.completion is not None
        gpus = sum(taken.gpu_milli for taken in result.taken) / 1000
        made.add(
            saves, result.label, f"{jobs.evictions:,}", f"{100 * (jobs.evicted_share or 0):.2f}", f"{gpus:,.0f}",
            f"{jobs.lost_gpu_hours:,.0f}", f"{jobs.lost_gpu_hours / max(1, jobs.evictions):.2f}",
            f"{100 * (jobs.goodput or 0):.2f}", *(_wait(of[priority]) for priority in ("8", "4", "1")),
            f"{jobs.completion.mean_s:,.0f}",
        )  # fmt: skip
    return made


def _wait(jobs: JobMetrics) -> str:
    return "–" if jobs.wait is None else f"{jobs.wait.mean_s:,.0f}"
