"""Everything a server must know to go on where another one stopped (A7), read in one transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, RowMapping, Table, func, select, text

from quotatree.access.centre import Centre
from quotatree.access.directory import Directory
from quotatree.access.roles import Role
from quotatree.access.values import Member, QuotaAdmin, SessionInfo, Workspace
from quotatree.codec import decode
from quotatree.core import Settings, Snapshot
from quotatree.store import read_rows
from quotatree.store import rows as r
from quotatree.store import tables as t

ANSWERS_LOADED: Final = 100_000
"""How many answers are loaded, the newest; older ones are looked up in the store."""


@dataclass(slots=True)
class Counters:
    """The last numbers that were given out, from which the loop counts on."""

    event: int = 0
    decision: int = 0
    preemption: int = 0
    audit: int = 0
    batch: int = 0


@dataclass(frozen=True, slots=True)
class Loaded:
    """`jobs` are those that are not finished, or still leaving; `runs`, `placements` and `usage` the open ones.

    `answers` are the newest ANSWERS_LOADED, oldest first. `versions` has keys such as ("quota", "root"). `engine` is the
    one that has the open runs; None: none is noted.
    """

    snapshot: Snapshot
    directory: Directory
    jobs: tuple[r.JobRow, ...]
    runs: tuple[r.RunRow, ...]
    placements: tuple[r.PlacementRow, ...]
    usage: tuple[r.UsageRow, ...]
    versions: dict[tuple[str, str], int]
    webhooks: tuple[r.WebhookRow, ...]
    answers: tuple[r.IdempotencyRow, ...]
    counters: Counters
    engine: r.EngineRow | None = None


def load(connection: Connection, settings: Settings) -> Loaded:
    pools = [read_rows.pool_row(row) for row in _all(connection, t.POOLS)]
    nodes = [read_rows.node_row(row) for row in _all(connection, t.NODES)]
    quotas = [read_rows.quota_row(row) for row in _all(connection, t.QUOTAS)]
    still = select(t.JOBS).where(text(t.OPEN)).order_by(t.JOBS.c.id)
    jobs = tuple(read_rows.job_row(row) for row in connection.execute(still).mappings())
    runs = select(t.RUNS).where(t.RUNS.c.ended_ms.is_(None)).order_by(t.RUNS.c.job, t.RUNS.c.run)
    places = t.PLACEMENTS
    standing = select(places).where(places.c.until_ms.is_(None)).order_by(*places.primary_key)
    stretches = select(t.USAGE).where(t.USAGE.c.until_ms.is_(None)).order_by(*t.USAGE.primary_key)
    newest = select(t.IDEMPOTENCY).order_by(t.IDEMPOTENCY.c.at_ms.desc()).limit(ANSWERS_LOADED)
    answers = [read_rows.answer_row(row) for row in connection.execute(newest).mappings()]
    versions = {("pool", pool.name): pool.version for pool in pools}
    versions |= {("node", node.name): node.version for node in nodes}
    versions |= {("quota", quota.id): quota.version for quota in quotas}
    return Loaded(
        snapshot=Snapshot(
            settings,
            tuple(pool.record for pool in pools),
            tuple(sorted((node.record for node in nodes), key=lambda record: record.index)),
            tuple(sorted((quota.record for quota in quotas), key=lambda record: record.order)),
            tuple(job.record for job in jobs),
        ),
        directory=_directory(connection),
        jobs=jobs,
        runs=tuple(read_rows.run_row(row) for row in connection.execute(runs).mappings()),
        placements=tuple(read_rows.placement_row(row) for row in connection.execute(standing).mappings()),
        usage=tuple(read_rows.usage_row(row) for row in connection.execute(stretches).mappings()),
        versions=versions,
        webhooks=tuple(read_rows.webhook_row(row) for row in _all(connection, t.WEBHOOKS)),
        answers=tuple(reversed(answers)),
        counters=Counters(
            _last(connection, t.EVENTS),
            _last(connection, t.DECISIONS),
            _last(connection, t.PREEMPTIONS),
            _last(connection, t.AUDIT),
            last_batch(connection),
        ),
        engine=_engine(connection),
    )


def last_batch(connection: Connection) -> int:
    return connection.execute(select(t.LEASE.c.batch)).scalar() or 0


def _engine(connection: Connection) -> r.EngineRow | None:
    found = connection.execute(select(t.META.c.value).where(t.META.c.key == t.ENGINE)).scalar()
    if found is None:
        return None
    body = json.loads(found)
    return r.EngineRow(body["id"], body["where"])


def _last(connection: Connection, table: Table) -> int:
    return connection.execute(select(func.max(table.c.seq))).scalar() or 0


def _all(connection: Connection, table: Table) -> Sequence[RowMapping]:
    return connection.execute(select(table).order_by(*table.primary_key)).mappings().all()


def _directory(connection: Connection) -> Directory:
    members: dict[str, list[Member]] = {}
    for workspace, user, role in connection.execute(select(t.MEMBERS).order_by(*t.MEMBERS.primary_key)):
        members.setdefault(workspace, []).append(Member(user, Role(role)))
    bound: dict[str, list[str]] = {}
    for workspace, quota in connection.execute(select(t.BINDINGS).order_by(*t.BINDINGS.primary_key)):
        bound.setdefault(workspace, []).append(quota)
    users = connection.execute(select(t.USERS)).mappings()
    tokens = connection.execute(select(t.TOKENS)).mappings()
    centres = connection.execute(select(t.CENTRES)).mappings()
    return Directory(
        {row["name"]: read_rows.user(row) for row in users},
        {
            row["id"]: Workspace(
                row["id"],
                row["description"],
                tuple(members.get(row["id"], ())),
                tuple(bound.get(row["id"], ())),
                row["version"],
            )
            for row in connection.execute(select(t.WORKSPACES)).mappings()
        },
        {(row["workspace"], row["quota"]): decode(Centre, json.loads(row["body"])) for row in centres},
        frozenset(QuotaAdmin(*row) for row in connection.execute(select(t.QUOTA_ADMINS))),
        {row["id"]: read_rows.token(row) for row in tokens},
        {row[0]: SessionInfo(*row) for row in connection.execute(select(t.SESSIONS))},
        priority_names=_priority_names(connection),
    )


def _priority_names(connection: Connection) -> dict[str, int]:
    found = connection.execute(select(t.META.c.value).where(t.META.c.key == t.PRIORITY_NAMES)).scalar()
    return {} if found is None else {str(name): int(number) for name, number in json.loads(found).items()}
