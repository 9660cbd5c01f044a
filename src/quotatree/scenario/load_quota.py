"""How does a file declare a quota, its policies, and a later change of them?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from quotatree.core import (
    Bounds,
    ChildLevel,
    Module,
    Priorities,
    QuotaId,
    QuotaSpec,
    Refused,
    Resources,
    Scope,
    SelfLevel,
    parse_modules,
    parse_priorities,
    parse_strategy,
)
from quotatree.core.events import QuotaCreated
from quotatree.scenario.amounts import (
    Unreadable,
    as_cpu_milli,
    as_duration_ms,
    as_flag,
    as_gpu_milli,
    as_labels,
    as_memory_mib,
    as_text,
    as_texts,
    one_of,
)
from quotatree.scenario.errors import RuleBroken
from quotatree.scenario.model import Setup
from quotatree.scenario.table import Table

# Fields that may also be changed later (Q6): name in the file, name in QuotaSpec, reader.
_CHANGEABLE: Final[tuple[tuple[str, str, Callable[[object], object]], ...]] = (
    ("strategy", "strategy", lambda value: parse_strategy(as_text(value))),
    ("reserved", "reserved", lambda value: Resources(as_gpu_milli(value))),
    ("lending", "lending", as_flag),
    ("idle_limit", "idle_limit_milli", as_gpu_milli),
    ("min_runtime", "min_runtime_ms", as_duration_ms),
    ("preemption_delay", "preemption_delay_ms", as_duration_ms),
    ("description", "description", as_text),
    ("labels", "labels", as_labels),
)


def read_quotas(top: Table, name: str) -> list[Setup]:
    found: list[Setup] = []
    for raw in top.tables("quotas"):
        table = Table(f"{name}: [[quotas]]", raw)
        spec = read_quota(table)
        found.append(Setup(table.where, QuotaCreated(spec)))
    return found


def read_quota(table: Table) -> QuotaSpec:
    """Read a quota: without a parent it is a root and draws from pools, otherwise it has a min (Q1)."""
    quota_id = table.need("id", as_text)
    table.where += f" {quota_id}"
    parent = table.take("parent", as_text, None)
    if parent is None:
        spec = QuotaSpec(QuotaId(quota_id), draws=read_draws(table))
    else:
        spec = QuotaSpec(QuotaId(quota_id), QuotaId(parent), read_bounds(table))
    changes = dict(read_quota_changes(table))
    table.end()
    return replace(spec, **changes)


def read_bounds(table: Table) -> Bounds:
    return Bounds(
        table.take("gpus", as_gpu_milli, None),
        table.take("cpu", as_cpu_milli, None),
        table.take("memory", as_memory_mib, None),
    )


def read_draws(table: Table) -> tuple[tuple[str, Bounds], ...]:
    """Read `draws = {pool = 64, other = {gpus = 8, cpu = 64}}`, or in short `pool = "default"` and `gpus = 128`."""
    if table.either(("draws", "gpus")) == "gpus":
        return ((table.take("pool", as_text, "default"), read_bounds(table)),)
    draws = table.need("draws", _as_pools)
    found = []
    for pool, raw in draws:
        if isinstance(raw, dict):
            inner = Table(f"{table.where}, draws.{pool}", raw)
            found.append((pool, read_bounds(inner)))
            inner.end()
        else:
            found.append((pool, Bounds(_gpus_of(table, pool, raw))))
    return tuple(found)


def read_quota_changes(table: Table) -> list[tuple[str, Any]]:
    """The fields of QuotaSpec that the table names, with their new values."""
    found: list[tuple[str, Any]] = []
    for field, name, read in _CHANGEABLE:
        if table.has(field):
            found.append((name, table.need(field, read)))
        else:
            table.take(field, read, None)
    for level, read_level in (("self_level", _read_self_level), ("child_level", _read_child_level)):
        if table.says(level, "off"):
            found.append((level, None))
            continue
        inner = table.table(level)
        if inner is not None:
            found.append((level, read_level(inner)))
    return found


def as_priorities(field: str) -> Callable[[object], Priorities]:
    """A reader of a priority such as 4 or a range such as "6-9"; the core refuses invalid ones as `field`."""

    def read(value: object) -> Priorities:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise Unreadable('must be a priority such as 4, or a range such as "6-9"')
        return parse_priorities(field, value)

    return read


def _read_self_level(table: Table) -> SelfLevel:
    high = table.need("high", as_priorities("self_level.high"))
    low = table.need("low", as_priorities("self_level.low"))
    modules = table.need("modules", _as_modules("self_level.modules"))
    scope = table.take("scope", one_of(Scope), Scope.LEVEL)
    table.end()
    try:
        return SelfLevel(high, low, modules, scope)
    except Refused as why:
        raise RuleBroken(table.where, why) from None


def _read_child_level(table: Table) -> ChildLevel:
    priorities = table.need("priorities", as_priorities("child_level.priorities"))
    modules = table.need("modules", _as_modules("child_level.modules"))
    table.end()
    return ChildLevel(priorities, modules)


def _as_modules(field: str) -> Callable[[object], frozenset[Module]]:
    return lambda value: parse_modules(field, as_texts(value))


def _as_pools(value: object) -> tuple[tuple[str, object], ...]:
    if not isinstance(value, dict) or not value:
        raise Unreadable("must be a table of pools such as {default = 128}")
    return tuple(value.items())


def _gpus_of(table: Table, pool: str, raw: object) -> int:
    try:
        return as_gpu_milli(raw)
    except Unreadable as why:
        raise table.fail(f"draws.{pool}", raw, str(why)) from None
