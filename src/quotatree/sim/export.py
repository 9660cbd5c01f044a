"""How is a result written down? metrics.json, jobs.csv and timeline.csv, the same bytes for the same result.

The fields of metrics.json are those of quotatree.sim.metrics, defined in docs/reference/metrics.md; the columns of the
tables are described in docs/reference/simulation.md.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final

from quotatree.core import WHOLE_GPU
from quotatree.sim.metrics import GPU_HOUR
from quotatree.sim.result import SimResult

SCHEMA: Final = "quotatree.simulate/1"
JOB_COLUMNS: Final = (
    "id", "team", "quota", "module", "priority", "gpus", "submit_s", "work_s", "end", "first_start_s", "end_s",
    "waited_s", "starts", "idle_starts", "evictions", "moves", "useful_gpu_hours", "lost_gpu_hours",
    "paused_gpu_hours", "leaving_gpu_hours",
)  # fmt: skip
SAMPLE_COLUMNS: Final = (
    "time_s", "capacity", "running", "idle", "leaving", "waiting", "waiting_jobs", "running_jobs", "fragmented",
)  # fmt: skip
EVICTION_COLUMNS: Final = (
    "time_s", "job", "team", "priority", "gpus", "preemptor", "reason", "lost_gpu_hours", "told_gpu_hours", "moved",
)  # fmt: skip


def write_result(result: SimResult, folder: Path) -> list[Path]:
    """Write all files into `folder`, which is created if missing, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    metrics = folder / "metrics.json"
    metrics.write_text(json_text(result), encoding="utf-8")
    tables = (
        ("jobs.csv", JOB_COLUMNS, _job_rows(result)),
        ("timeline.csv", _sample_columns(result), _sample_rows(result)),
        ("evictions.csv", EVICTION_COLUMNS, _eviction_rows(result)),
    )
    for name, columns, rows in tables:
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows)
    return [metrics, *(folder / name for name, _, _ in tables)]


def json_text(result: SimResult) -> str:
    return json.dumps(as_json(result), indent=2, ensure_ascii=False) + "\n"


def as_json(result: SimResult) -> dict[str, Any]:
    """The metrics of a run and the facts about it; single jobs stand in the tables only."""
    metrics = result.metrics
    return {
        "schema": SCHEMA,
        "name": result.name,
        "title": result.title,
        "baseline": result.baseline,
        "label": result.label,
        "trace": result.source,
        "complete": result.complete,
        "facts": dict(result.facts),
        "skipped": list(result.skipped),
        "left_out": [{"why": why, "jobs": count} for why, count in result.left_out],
        "refusals": [
            {"time_s": refusal.time_ms / 1000, "what": refusal.what, "why": refusal.why}
            for refusal in result.refusals
        ],
        "cluster": plain(metrics.cluster),
        "overall": plain(metrics.overall),
        "by_team": {name: plain(group) for name, group in metrics.by_team},
        "by_module": {name: plain(group) for name, group in metrics.by_module},
        "by_priority": {name: plain(group) for name, group in metrics.by_priority},
        "safety": [{**plain(team), "safe": team.safe} for team in metrics.safety],
    }


def plain(value: Any) -> Any:
    """A metrics value as JSON types. Floats are rounded to nine digits, which every machine prints alike."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, float):
        return float(f"{value:.9g}")
    return value


def _job_rows(result: SimResult) -> Iterable[tuple[object, ...]]:
    for job in result.jobs:
        yield (
            job.id, job.team, job.quota, job.module, job.priority, _gpus(job.gpu_milli), _s(job.submit_ms),
            _s(job.work_ms), job.end.value, _s(job.first_start_ms), _s(job.end_ms), _s(job.waited_ms), job.starts,
            job.idle_starts, job.evictions, job.moves, _hours(job.useful), _hours(job.lost), _hours(job.paused),
            _hours(job.leaving),
        )  # fmt: skip


def _sample_columns(result: SimResult) -> tuple[str, ...]:
    return (*SAMPLE_COLUMNS, *(f"team:{team}" for team in result.timeline.teams))


def _sample_rows(result: SimResult) -> Iterable[tuple[object, ...]]:
    teams = len(result.timeline.teams)
    for sample in result.timeline.samples:
        by_team = [
            *sample.by_team,
            *[0] * (teams - len(sample.by_team)),
        ]  # a sample taken before a team's first job has no entry for it
        yield (
            _s(sample.time_ms), _gpus(sample.capacity), _gpus(sample.running), _gpus(sample.idle),
            _gpus(sample.leaving), _gpus(sample.waiting), sample.waiting_jobs, sample.running_jobs,
            _gpus(sample.fragmented), *map(_gpus, by_team),
        )  # fmt: skip


def _eviction_rows(result: SimResult) -> Iterable[tuple[object, ...]]:
    for taken in result.taken:
        yield (
            _s(taken.time_ms), taken.job, taken.team, taken.priority, _gpus(taken.gpu_milli), taken.preemptor or "",
            taken.code.name, _hours(taken.lost), _hours(taken.told), "yes" if taken.moved else "no",
        )  # fmt: skip


def _s(time_ms: int | None) -> str:
    return "" if time_ms is None else f"{time_ms / 1000:.3f}".rstrip("0").rstrip(".")


def _gpus(milli: int) -> str:
    return f"{milli / WHOLE_GPU:.3f}".rstrip("0").rstrip(".")


def _hours(amount: int) -> str:
    return f"{amount / GPU_HOUR:.6f}".rstrip("0").rstrip(".")
