"""What does a simulation file say about the jobs: whose quota, which priority and module, how often
they save?
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeVar

from quotatree.core import HIGHEST_PRIORITY, LOWEST_PRIORITY, Idle, Module
from quotatree.scenario.amounts import (
    Unreadable,
    as_count,
    as_duration_ms,
    as_flag,
    as_gpu_milli,
    as_map,
    as_text,
    as_text_or_texts,
    one_of,
)
from quotatree.scenario.load_quota import as_priorities
from quotatree.scenario.table import Table
from quotatree.sim.setup import Ignore, JobDefaults, Rule
from quotatree.sim.work import CheckpointModel, Checkpoints

E = TypeVar("E", bound=Enum)


def read_teams(table: Table | None) -> tuple[tuple[tuple[str, str], ...], str | None]:
    if table is None:
        return (), None
    default = table.take("default", as_text, None)
    quotas = table.take("quotas", as_map(as_text), ())
    table.end()
    return quotas, default


def read_job_defaults(table: Table | None, leave_after_ms: int | None) -> JobDefaults:
    usual = JobDefaults(leave_after_ms=leave_after_ms)
    if table is None:
        return usual
    found = JobDefaults(
        idle=table.take("idle", one_of(Idle), usual.idle),
        grace_ms=table.take("grace", as_duration_ms, usual.grace_ms),
        leave_after_ms=leave_after_ms,
        requeue_notebooks=table.take("requeue_notebooks", as_flag, usual.requeue_notebooks),
        ignore=frozenset(table.take("ignore", _as_members(Ignore), ())),
        skip_larger=table.take("skip_larger", as_flag, usual.skip_larger),
    )
    table.end()
    return found


def read_rule(table: Table) -> Rule:
    rule = Rule(
        teams=table.take("teams", as_text_or_texts, ()),
        users=table.take("users", as_text_or_texts, ()),
        modules=table.take("modules", _as_members(Module), ()),
        priorities=table.take("priorities", as_priorities("priorities"), None),
        gpu_milli=table.take("gpus", _as_gpu_range, None),
        guaranteed=table.take("guaranteed", as_flag, None),
        share=table.take("share", _as_share, 1.0),
        priority=table.take("priority", _as_weighted_priorities, ()),
        module=table.take("module", one_of(Module), None),
        idle=table.take("idle", one_of(Idle), None),
        quota=table.take("quota", as_text, None),
        checkpoint_ms=table.take("checkpoint", as_duration_ms, None),
        grace_ms=table.take("grace", as_duration_ms, None),
        max_preemptions=table.take("max_preemptions", as_count, None),
        requeue=table.take("requeue", as_flag, None),
    )
    table.end()
    return rule


def read_checkpoints(table: Table | None) -> CheckpointModel:
    if table is None:
        return CheckpointModel()
    interval_ms = table.take("interval", as_duration_ms, None)
    usual = Checkpoints.TRACE if interval_ms is None else Checkpoints.INTERVAL
    model = CheckpointModel(
        table.take("model", one_of(Checkpoints), usual),
        interval_ms,
        table.take("pause", as_duration_ms, 0),
    )
    table.end()
    return model


def as_number(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise Unreadable("must be a number")
    return float(value)


def _as_share(value: object) -> float:
    share = as_number(value)
    if not 0 <= share <= 1:
        raise Unreadable("must be a share from 0 to 1")
    return share


def _as_gpu_range(value: object) -> tuple[int, int]:
    """Read 8, or [1, 8], the GPUs of a whole job, as a range in thousandths of a GPU, both ends
    included.
    """
    if isinstance(value, list) and len(value) == 2:
        return as_gpu_milli(value[0]), as_gpu_milli(value[1])
    return as_gpu_milli(value), as_gpu_milli(value)


def _as_weighted_priorities(value: object) -> tuple[tuple[int, float], ...]:
    """Read 5, one priority for all, or { 1 = 60, 5 = 30, 9 = 10 }, priorities drawn by weight, as
    (priority, weight).
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return ((_priority(str(value)), 1.0),)
    if not isinstance(value, dict) or not value:
        raise Unreadable(
            "must be a priority, or a table of priorities and weights such as { 1 = 60, 9 = 10 }"
        )
    pairs = tuple((_priority(key), as_number(weight)) for key, weight in value.items())
    if min(weight for _, weight in pairs) < 0 or not sum(weight for _, weight in pairs):
        raise Unreadable("must have weights of 0 or more, and one above 0")
    return pairs


def _priority(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not LOWEST_PRIORITY <= number <= HIGHEST_PRIORITY:
        raise Unreadable(f"must be priorities {LOWEST_PRIORITY} to {HIGHEST_PRIORITY}")
    return number


def _as_members(kind: type[E]) -> Callable[[object], tuple[E, ...]]:
    """A reader of one or several members of an enumeration, given by their values."""
    return lambda value: tuple(one_of(kind)(text) for text in as_text_or_texts(value))
