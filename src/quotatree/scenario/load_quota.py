"""How does a file declare a quota, its policies, and a later change of them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from quotatree.core import (
    PAI_FIELDS,
    QUOTA_SETTINGS,
    Bounds,
    Priorities,
    QuotaId,
    QuotaSpec,
    Refused,
    in_our_words,
    parse_priorities,
    parse_strategy,
    read_child_level,
    read_self_level,
)
from quotatree.core.events import QuotaCreated
from quotatree.scenario.amounts import (
    Unreadable,
    as_cpu_milli,
    as_gpu_milli,
    as_memory_mib,
    as_text,
)
from quotatree.scenario.errors import RuleBroken
from quotatree.scenario.model import QuotaChanges, Setup, with_changes
from quotatree.scenario.noun_fields import read_fields
from quotatree.scenario.table import Table

_POLICIES: Final = ("strategy", "self_level", "child_level")


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
    changes = read_quota_changes(table)
    table.end()
    return with_changes(spec, changes)


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


def read_quota_changes(table: Table) -> QuotaChanges:
    """The fields of QuotaSpec that the table names, with their new values; `with_changes` applies them."""
    found = tuple(read_fields(table, QUOTA_SETTINGS).items())
    return (*found, *_policies(table))


def _policies(table: Table) -> QuotaChanges:
    """Strategy and policies, in our words or PAI's. What the core would refuse is refused here, naming the table."""
    said = {name: table.need(name, _as_said) for name in (*_POLICIES, *PAI_FIELDS) if table.has(name)}
    for name in _POLICIES:
        table.take(name, _as_said, None)
    try:
        ours = in_our_words(said)
        read_self_level(ours.get("self_level"))
        read_child_level(ours.get("child_level"))
        if "strategy" in ours:
            ours["strategy"] = parse_strategy(str(ours["strategy"]))
    except Refused as why:
        raise RuleBroken(table.where, why) from None
    return tuple(ours.items())


def _as_said(value: object) -> object:
    return value


def as_priorities(field: str) -> Callable[[object], Priorities]:
    """A reader of a priority such as 4 or a range such as "6-9"; the core refuses invalid ones as `field`."""

    def read(value: object) -> Priorities:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise Unreadable('must be a priority such as 4, or a range such as "6-9"')
        return parse_priorities(field, value)

    return read


def _as_pools(value: object) -> tuple[tuple[str, object], ...]:
    if not isinstance(value, dict) or not value:
        raise Unreadable("must be a table of pools such as {default = 128}")
    return tuple(value.items())


def _gpus_of(table: Table, pool: str, raw: object) -> int:
    try:
        return as_gpu_milli(raw)
    except Unreadable as why:
        raise table.fail(f"draws.{pool}", raw, str(why)) from None
