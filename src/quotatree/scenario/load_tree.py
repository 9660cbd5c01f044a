"""Which settings, pools, nodes and amount limits does a file declare?"""

from __future__ import annotations

from dataclasses import replace

from quotatree.core import AmountLimit, NodeSpec, NodeState, Settings
from quotatree.core.events import LimitsSet, NodeChanged, NodeJoined, PoolDeclared
from quotatree.scenario.amounts import (
    as_count,
    as_cpu_milli,
    as_duration_ms,
    as_flag,
    as_gpu_milli,
    as_labels,
    as_memory_mib,
    as_text,
    one_of,
)
from quotatree.scenario.load_quota import as_priorities
from quotatree.scenario.model import Setup
from quotatree.scenario.table import Table


def read_settings(table: Table | None) -> tuple[Settings, int | None]:
    """The cluster's settings, and how long evicted work takes to leave, in ms; None: its grace period."""
    if table is None:
        return Settings(), None
    usual = Settings()
    settings = Settings(
        aging_interval_ms=table.take("aging_interval", as_duration_ms, usual.aging_interval_ms),
        balance_timeout_ms=table.take("balance_timeout", as_duration_ms, usual.balance_timeout_ms),
        starvation_guard_ms=table.take("starvation_guard", as_duration_ms, usual.starvation_guard_ms),
        eas_outage_ms=table.take("eas_outage", as_duration_ms, usual.eas_outage_ms),
        longest_grace_ms=table.take("longest_grace", as_duration_ms, usual.longest_grace_ms),
    )
    leave_after_ms = table.take("leave_after", as_duration_ms, None)
    table.end()
    return settings, leave_after_ms


def read_pools(top: Table, name: str) -> list[Setup]:
    found = []
    for raw in top.tables("pools"):
        table = Table(f"{name}: [[pools]]", raw)
        pool = table.need("name", as_text)
        mixed = table.take("mixed", as_flag, False)
        table.end()
        found.append(Setup(f"{name}: [[pools]] {pool}", PoolDeclared(pool, mixed)))
    return found


def read_nodes(top: Table, name: str) -> tuple[list[Setup], list[Setup], list[NodeSpec]]:
    """Events by which nodes join, events that change their state, and the nodes' specs.

    The changes of state must be applied after the running jobs have been placed.
    """
    joined: list[Setup] = []
    changed: list[Setup] = []
    specs: list[NodeSpec] = []
    for raw in top.tables("nodes"):
        table = Table(f"{name}: [[nodes]]", raw)
        names = table.names("name")
        state = table.take("state", one_of(NodeState), NodeState.READY)
        first = read_node(table, names[0])
        for node_name in names:
            spec = replace(first, name=node_name)
            specs.append(spec)
            joined.append(Setup(table.where, NodeJoined(spec)))
            if state is not NodeState.READY:
                changed.append(Setup(table.where, NodeChanged(node_name, state)))
    return joined, changed, specs


def read_node(table: Table, node_name: str) -> NodeSpec:
    usual = NodeSpec(node_name)
    spec = NodeSpec(
        node_name,
        pool=table.take("pool", as_text, usual.pool),
        model=table.take("model", as_text, usual.model),
        gpus=table.take("gpus", as_count, usual.gpus),
        cpu_milli=table.take("cpu", as_cpu_milli, usual.cpu_milli),
        memory_mib=table.take("memory", as_memory_mib, usual.memory_mib),
        labels=table.take("labels", as_labels, ()),
    )
    table.end()
    return spec


def read_limits(top: Table, name: str) -> list[Setup]:
    """The amount limits, as one event for each quota (W3)."""
    by_quota: dict[str, list[AmountLimit]] = {}
    for raw in top.tables("limits"):
        table = Table(f"{name}: [[limits]]", raw)
        quota = table.need("quota", as_text)
        subject = table.need("subject", as_text)
        low, high = table.take("priorities", as_priorities("priorities"), (1, 9))
        gpu_milli = table.need("gpus", as_gpu_milli)
        table.end()
        by_quota.setdefault(quota, []).append(AmountLimit(quota, subject, low, high, gpu_milli))
    return [
        Setup(f"{name}: [[limits]]", LimitsSet(quota, tuple(limits))) for quota, limits in by_quota.items()
    ]
