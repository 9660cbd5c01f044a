"""From a TOML file to a simulation: a Setup and its trace. The format is described in
docs/reference/simulation.md.

Nodes, pools, quotas, limits, settings and the operator's steps are written and read as in scenario
files; what belongs to a trace (its source, the rules for its jobs, the checkpoint model) is read
here. Nothing that is not understood is ignored.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Final

from quotatree.cli.try_out.simulation_facts import facts_of
from quotatree.cli.try_out.simulation_jobs import (
    as_number,
    read_checkpoints,
    read_job_defaults,
    read_rule,
    read_teams,
)
from quotatree.core import WHOLE_GPU, NodeSpec, QuotaId, QuotaSpec, Refused
from quotatree.core.events import Event, LimitsSet, NodeJoined, PoolDeclared, QuotaCreated, QuotaUpdated
from quotatree.scenario.amounts import (
    ORIGIN_MS,
    Unreadable,
    as_count,
    as_cpu_milli,
    as_duration_ms,
    as_flag,
    as_gpu_milli,
    as_map,
    as_memory_mib,
    as_text,
)
from quotatree.scenario.errors import ScenarioError
from quotatree.scenario.load_quota import read_quota_changes, read_quotas
from quotatree.scenario.load_timeline import Declarations, read_timeline
from quotatree.scenario.load_tree import read_limits, read_nodes, read_pools, read_settings
from quotatree.scenario.model import QuotaPatch, with_changes
from quotatree.scenario.table import Table
from quotatree.sim.baselines import baseline_named
from quotatree.sim.mapping import MappingError, read_mapping
from quotatree.sim.setup import PRODUCT, Setup, SetupError, TimedEvents, TraceSource
from quotatree.sim.sizing import TeamTree, fitting_nodes, gpus_drawn, team_quotas
from quotatree.sim.synthetic import spec_from_table
from quotatree.sim.trace import Trace

OPERATOR_STEPS: Final = frozenset(
    {"scale", "transfer", "update", "return_loan", "create_quota", "node", "join"}
)


@dataclass(frozen=True, slots=True)
class Simulation:
    """What a simulation file says, and its trace."""

    setup: Setup
    trace: Trace


def load_simulation(path: Path, baseline: str | None = None) -> Simulation:
    """Read a simulation file and its trace. `baseline` wins over the file's own. Paths in the file
    are relative to it.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as why:
        raise ScenarioError(str(path), f"cannot be read: {why.strerror}") from None
    except UnicodeDecodeError:
        raise ScenarioError(str(path), "cannot be read: it is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as why:
        raise ScenarioError(str(path), f"is not valid TOML: {why}") from None
    name = str(path)
    try:
        return _read(Table(name, raw), name, path, baseline)
    except (SetupError, MappingError, Refused) as why:
        raise ScenarioError(name, str(why)) from None


def _read(top: Table, name: str, path: Path, baseline: str | None) -> Simulation:
    title = top.take("title", as_text, path.stem)
    chosen = top.take("baseline", as_text, PRODUCT)
    seed = top.take("seed", as_count, 1)
    until_ms = top.take("until", as_duration_ms, None)
    sample_ms = top.take("sample", as_duration_ms, None)
    high_priority = top.take("high_priority", as_count, 7)
    private = top.take("private_clusters", as_flag, True)
    settings, leave_after_ms = read_settings(top.table("settings"))
    source = _trace(_needed(top, "trace"), path.parent)
    pools = [s.event for s in read_pools(top, name) if isinstance(s.event, PoolDeclared)]
    like = _node_like(top.table("cluster"))
    declared = _declared_nodes(top, name)
    quotas = tuple(_quota_specs(top, name))
    tree = _tree(top.table("tree"), like.spec.pool)
    limits = [s.event for s in read_limits(top, name) if isinstance(s.event, LimitsSet)]
    teams, default_quota = read_teams(top.table("teams"))
    defaults = read_job_defaults(top.table("jobs"), leave_after_ms)
    rules = tuple(read_rule(Table(f"{name}: [[rules]]", raw)) for raw in top.tables("rules"))
    checkpoints = read_checkpoints(top.table("checkpoints"))
    if tree is not None and quotas:
        raise ScenarioError(
            name, "has both a [tree] and [[quotas]]: one of them must say what the quotas are"
        )
    # Only now the trace, which may be long: everything that can be wrong with the file itself has been read.
    pending = _pending_timeline(top, name, quotas)
    top.end()
    baseline_named(baseline or chosen)
    trace = source.load()
    if tree is not None:
        quotas = team_quotas(tree, trace)
    nodes = declared or _sized_nodes(like, quotas, name)
    setup = Setup(
        name=path.stem,
        nodes=nodes,
        quotas=quotas,
        title=title,
        baseline=baseline or chosen,
        seed=seed,
        pools=tuple(pools),
        limits=tuple(limits),
        settings=settings,
        teams=teams,
        default_quota=default_quota,
        jobs=defaults,
        rules=rules,
        checkpoints=checkpoints,
        timeline=pending(quotas),
        until_ms=until_ms,
        sample_ms=sample_ms,
        high_priority=high_priority,
        private_clusters=private,
    )
    return Simulation(replace(setup, facts=facts_of(setup, trace)), trace)


# -- the trace ---------------------------------------------------------------------------------------------------


def _trace(table: Table, folder: Path) -> TraceSource:
    where = table.either(("path", "synthetic"))
    first, until = table.take("from", _as_moment, None), table.take("until", _as_moment, None)
    limit = table.take("limit", as_count, None)
    if where == "synthetic":
        made = table.need("synthetic", _as_table)
        table.end()
        return TraceSource(synthetic=spec_from_table(made), first=first, until=until, limit=limit)
    source = TraceSource(
        path=folder / table.need("path", as_text),
        format=table.take("format", as_text, None),
        mapping=read_mapping(table.take("mapping", _as_table, {})),
        gpus_per_node=table.take("gpus_per_node", as_count, 8),
        first=first,
        until=until,
        limit=limit,
    )
    table.end()
    return source


# -- cluster and tree --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Like:
    """What nodes look like, and how many there are; None: as many as the quotas need."""

    spec: NodeSpec
    count: int | None


def _node_like(table: Table | None) -> _Like:
    usual = NodeSpec("node")
    if table is None:
        return _Like(usual, None)
    count = None if table.says("nodes", "as needed") else table.take("nodes", as_count, None)
    spec = NodeSpec(
        "node",
        pool=table.take("pool", as_text, usual.pool),
        model=table.take("model", as_text, usual.model),
        gpus=table.take("gpus", as_count, usual.gpus),
        cpu_milli=table.take("cpu", as_cpu_milli, usual.cpu_milli),
        memory_mib=table.take("memory", as_memory_mib, usual.memory_mib),
    )
    table.end()
    return _Like(spec, count)


def _declared_nodes(top: Table, name: str) -> tuple[NodeSpec, ...]:
    joined, changed, _ = read_nodes(top, name)
    if changed:
        raise ScenarioError(changed[0].where, "state: a simulation begins with ready nodes; use [[at]] node")
    return tuple(setup.event.node for setup in joined if isinstance(setup.event, NodeJoined))


def _sized_nodes(like: _Like, quotas: tuple[QuotaSpec, ...], name: str) -> tuple[NodeSpec, ...]:
    if like.count is not None:
        return fitting_nodes(like.count * like.spec.gpus, like.spec)
    gpus = gpus_drawn(quotas, like.spec.pool)
    if not gpus:
        raise ScenarioError(
            name,
            f"no root draws GPUs from pool {like.spec.pool}: say nodes in [cluster], or declare [[nodes]]",
        )
    return fitting_nodes(gpus, like.spec)


def _quota_specs(top: Table, name: str) -> list[QuotaSpec]:
    return [made.event.quota for made in read_quotas(top, name) if isinstance(made.event, QuotaCreated)]


def _tree(table: Table | None, pool: str) -> TeamTree | None:
    if table is None:
        return None
    root_id = table.take("root", as_text, "cluster")
    sizes = None if table.says("gpus", "as needed") else table.take("gpus", as_map(as_gpu_milli), None)
    nodes = table.take("nodes", as_map(as_count), None)
    per_node = table.take("gpus_per_node", as_count, 8)
    if sizes is not None and nodes is not None:
        raise ScenarioError(
            table.where, "has both gpus and nodes: one of them must say how large the teams are"
        )
    gpus = tuple((team, milli // WHOLE_GPU) for team, milli in sizes or ())
    gpus = gpus or tuple((team, count * per_node) for team, count in nodes or ())
    scale, load = table.take("scale", as_number, 1.0), table.take("load", as_number, 0.7)
    root = _policies(table.table("policies"), QuotaSpec(QuotaId(root_id)))
    each = _policies(table.table("each"), QuotaSpec(QuotaId("each")))
    table.end()
    return TeamTree(
        root=root, each=each, gpus=gpus, scale=scale, load=load, unit=per_node if nodes else 1, pool=pool
    )


def _policies(table: Table | None, spec: QuotaSpec) -> QuotaSpec:
    if table is None:
        return spec
    changes = read_quota_changes(table)
    table.end()
    return with_changes(spec, changes)


def _pending_timeline(
    top: Table, name: str, quotas: tuple[QuotaSpec, ...]
) -> Callable[[tuple[QuotaSpec, ...]], tuple[TimedEvents, ...]]:
    """Read the operator's steps; return a function that completes updates of quotas once the quotas
    are known.
    """
    entries = read_timeline(top, name, Declarations(quotas={str(quota.id): quota for quota in quotas}))
    for entry in entries:
        word = entry.where.rpartition(", ")[2]
        if word not in OPERATOR_STEPS:
            raise ScenarioError(
                entry.where, f"jobs come from the trace; an operator may {', '.join(sorted(OPERATOR_STEPS))}"
            )

    def complete(known: tuple[QuotaSpec, ...]) -> tuple[TimedEvents, ...]:
        specs = {str(spec.id): spec for spec in known}
        found = []
        for entry in entries:
            events: list[Event] = []
            for action in entry.actions:
                if not isinstance(action, QuotaPatch):
                    events.append(action)
                    continue
                if action.quota not in specs:
                    raise ScenarioError(entry.where, f"there is no quota {action.quota}")
                specs[action.quota] = with_changes(specs[action.quota], action.changes)
                events.append(QuotaUpdated(specs[action.quota]))
            found.append(TimedEvents(entry.time_ms - ORIGIN_MS, tuple(events), entry.label))
        return tuple(found)

    return complete


# -- small readers -----------------------------------------------------------------------------------------------


def _needed(top: Table, name: str) -> Table:
    found = top.table(name)
    if found is None:
        raise ScenarioError(top.where, f"[{name}] is missing")
    return found


def _as_table(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise Unreadable("must be a table")
    return value


def _as_moment(value: object) -> datetime:
    """Read 2017-10-01 or 2017-10-01T12:00:00; without a zone it is UTC."""
    if isinstance(value, datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    raise Unreadable("must be a date such as 2017-10-01, without quotation marks")
