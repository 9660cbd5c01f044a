"""One batch as rows of its tables: parents before children, deletes the other way round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from json import JSONEncoder
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Table, delete

from quotatree.access.differences import Differences
from quotatree.codec import encode
from quotatree.core import FINAL_PHASES
from quotatree.store import rows as r
from quotatree.store import tables as t
from quotatree.store.samples import to_text
from quotatree.store.statements import delete_all, insert_all, upsert_all

to_json: Final = JSONEncoder(separators=(",", ":"), check_circular=False).encode

LARGEST: Final = (1 << 63) - 1
"""Largest number that a column can hold; a larger cost stands exactly in the body of its preemption."""

Values = tuple[Any, ...]


class _Kind(NamedTuple):
    """How rows of one type are written. `fixed` columns are never updated; None: rows are only ever added."""

    table: Table
    values: Callable[[Any, int], Values]
    fixed: frozenset[str] | None = frozenset()


def write(connection: Connection, batch: r.Batch) -> None:
    """Write all of a batch, inside the caller's transaction."""
    by_type: defaultdict[type[Any], list[Values]] = defaultdict(list)
    at_ms = batch.at_ms
    for row in batch.puts:
        by_type[type(row)].append(_KINDS[type(row)].values(row, at_ms))
    for row_type in _CURRENT:
        _put(connection, row_type, by_type)
    if batch.directory is not None:
        _write_directory(connection, batch.directory, at_ms)
    for row_type in _HISTORY:
        _put(connection, row_type, by_type)
    drops: defaultdict[type[Any], list[Values]] = defaultdict(list)
    for drop in batch.drops:
        drops[drop.row].append(drop.key)
    for row_type in reversed(_KINDS):
        delete_all(connection, _KINDS[row_type].table, drops[row_type])


def _put(connection: Connection, row_type: type[Any], by_type: dict[type[Any], list[Values]]) -> None:
    table, _, fixed = _KINDS[row_type]
    if fixed is None:
        insert_all(connection, table, by_type[row_type])
    else:
        upsert_all(connection, table, by_type[row_type], fixed)


def _write_directory(connection: Connection, d: Differences, at_ms: int) -> None:
    users = [
        (u.name, u.display, u.email, u.platform_admin, u.disabled, u.password, u.identity, u.version, at_ms, at_ms)
        for u in d.users
    ]  # fmt: skip
    upsert_all(connection, t.USERS, users)
    spaces = [(w.id, w.description, w.version, at_ms, at_ms) for w in d.workspaces]
    upsert_all(connection, t.WORKSPACES, spaces)
    changed = [*(w.id for w in d.workspaces), *d.workspaces_gone]
    delete_all(connection, t.CENTRES, [*d.centres_gone])
    for table in (t.MEMBERS, t.BINDINGS):
        for start in range(0, len(changed), 500):
            connection.execute(delete(table).where(table.c.workspace.in_(changed[start : start + 500])))
    members = [(w.id, m.user, m.role.value) for w in d.workspaces for m in w.members]
    insert_all(connection, t.MEMBERS, members)
    insert_all(connection, t.BINDINGS, [(w.id, quota) for w in d.workspaces for quota in w.quotas])
    centres = [(c.workspace, c.quota, to_json(encode(c)), c.version, at_ms, at_ms) for c in d.centres]
    upsert_all(connection, t.CENTRES, centres)
    upsert_all(connection, t.QUOTA_ADMINS, [tuple(admin) for admin in d.quota_admins])
    delete_all(connection, t.QUOTA_ADMINS, [tuple(admin) for admin in d.quota_admins_gone])
    tokens = [
        (k.id, k.user, k.name, k.secret_hash, k.created_ms, k.expires_ms, k.revoked_ms, k.read_only) for k in d.tokens
    ]  # fmt: skip
    upsert_all(connection, t.TOKENS, tokens)
    sessions = [(s.id_hash, s.user, s.csrf_hash, s.created_ms, s.expires_ms) for s in d.sessions]
    upsert_all(connection, t.SESSIONS, sessions)
    delete_all(connection, t.SESSIONS, [(name,) for name in d.sessions_gone])
    delete_all(connection, t.WORKSPACES, [(name,) for name in d.workspaces_gone])
    if d.priority_names is not None:
        upsert_all(connection, t.META, [(t.PRIORITY_NAMES, to_json(dict(d.priority_names)))])


def _pool(row: r.PoolRow, at_ms: int) -> Values:
    return row.name, to_json(encode(row.record)), row.version, at_ms, at_ms


def _node(row: r.NodeRow, at_ms: int) -> Values:
    record = row.record
    return row.name, record.spec.pool, record.state.value, to_json(encode(record)), row.version, at_ms, at_ms


def _quota(row: r.QuotaRow, at_ms: int) -> Values:
    return row.id, row.record.spec.parent, to_json(encode(row.record)), row.version, at_ms, at_ms


def _job(row: r.JobRow, at_ms: int) -> Values:
    record, card, spec = row.record, row.card, row.record.spec
    is_open = int(record.phase not in FINAL_PHASES or bool(record.leaving))
    return (
        spec.id, spec.workspace, spec.quota, card.owner, card.name, spec.module.value, record.priority, row.phase,
        spec.submitted_ms, card.first_started_ms, row.started_ms, card.ended_ms, row.gpu_milli, record.run,
        row.reason_code, is_open, to_json(encode(record)), to_json(card_body(card)), at_ms,
    )  # fmt: skip


def card_body(card: r.Card) -> r.Json:
    """The part of a card that is stored as JSON; the rest of it stands in columns."""
    body: r.Json = {
        "program": dict(card.program),
        "on_hold": card.on_hold,
        "confirmed": list(card.confirmed),
        "late_ms": card.late_ms,
        "restart_key": card.restart_key,
    }
    if card.autoscale is not None:
        body["autoscale"] = encode(card.autoscale)
    return body


def _run(row: r.RunRow, at_ms: int) -> Values:
    return (
        row.job, row.run, row.claim, row.started_ms, row.confirmed_ms, row.ended_ms, row.outcome, row.detail,
    )  # fmt: skip


def _placement(row: r.PlacementRow, at_ms: int) -> Values:
    return (
        row.job, row.run, row.replica, row.from_ms, row.node, to_json(row.devices), row.gpu_milli, row.until_ms,
    )  # fmt: skip


def _usage(row: r.UsageRow, at_ms: int) -> Values:
    return (
        row.job, row.run, row.claim, row.from_ms, row.until_ms, row.gpu_milli, row.begins, row.workspace, row.quota,
        row.owner, row.module,
    )  # fmt: skip


def _loss(row: r.LossRow, at_ms: int) -> Values:
    return (
        row.preemption, row.position, row.at_ms, min(row.lost_work, LARGEST), row.preempted, row.claim, row.workspace,
        row.quota, row.owner, row.module, row.taker_workspace, row.taker_quota, row.cause,
    )  # fmt: skip


def _decision(row: r.DecisionRow, at_ms: int) -> Values:
    return (
        row.seq, row.at_ms, row.kind, row.job, row.workspace, row.quota, row.reason_code,
        to_json(row.body),
    )  # fmt: skip


def _preemption(row: r.PreemptionRow, at_ms: int) -> Values:
    return (
        row.seq, row.at_ms, row.preemptor, row.workspace, row.quota, row.step, min(row.cost, LARGEST),
        to_json(row.body),
    )  # fmt: skip


def _victim(row: r.VictimRow, at_ms: int) -> Values:
    return (
        row.preemption, row.position, row.job, row.workspace, row.quota, row.priority, row.gpu_milli,
        min(row.lost_work, LARGEST), min(row.cost, LARGEST),
    )  # fmt: skip


def _event(row: r.EventRow, at_ms: int) -> Values:
    return row.seq, row.at_ms, row.kind, row.workspace, row.quota, row.job, to_json(row.body)


def _audit(row: r.AuditRow, at_ms: int) -> Values:
    return row.seq, row.at_ms, row.actor, row.action, row.target, row.workspace, to_json(row.body)


def _answer(row: r.IdempotencyRow, at_ms: int) -> Values:
    return row.actor, row.key, row.fingerprint, row.status, to_json(row.body), row.at_ms


def _webhook(row: r.WebhookRow, at_ms: int) -> Values:
    kinds = to_json(row.kinds)
    return row.id, row.workspace, row.url, row.secret, kinds, row.active, row.version, at_ms, at_ms


def delivery_values(row: r.DeliveryRow, at_ms: int = 0) -> Values:
    return row.id, row.webhook, row.event_seq, row.due_ms, row.attempts, row.state, row.last_error


def _engine(row: r.EngineRow, at_ms: int) -> Values:
    return t.ENGINE, to_json({"id": row.id, "where": row.where})


def sample_values(row: r.SampleRow, at_ms: int = 0) -> Values:
    return row.quota, int(row.span), row.at_ms, to_text(row.sample)


def estimate_values(row: r.EstimateRow, at_ms: int = 0) -> Values:
    return row.job, row.asked_ms, row.likely_ms


_AS_SUBMITTED: Final = frozenset({"workspace", "quota", "owner", "name", "module", "submitted_ms"})

_KINDS: Final[dict[type[Any], _Kind]] = {
    r.PoolRow: _Kind(t.POOLS, _pool),
    r.NodeRow: _Kind(t.NODES, _node),
    r.QuotaRow: _Kind(t.QUOTAS, _quota),
    r.JobRow: _Kind(t.JOBS, _job, _AS_SUBMITTED),
    r.RunRow: _Kind(t.RUNS, _run),
    r.PlacementRow: _Kind(t.PLACEMENTS, _placement),
    r.UsageRow: _Kind(t.USAGE, _usage),
    r.DecisionRow: _Kind(t.DECISIONS, _decision, None),
    r.PreemptionRow: _Kind(t.PREEMPTIONS, _preemption, None),
    r.VictimRow: _Kind(t.VICTIMS, _victim, None),
    r.LossRow: _Kind(t.LOSSES, _loss, None),
    r.EventRow: _Kind(t.EVENTS, _event, None),
    r.AuditRow: _Kind(t.AUDIT, _audit, None),
    r.IdempotencyRow: _Kind(t.IDEMPOTENCY, _answer),
    r.WebhookRow: _Kind(t.WEBHOOKS, _webhook),
    r.DeliveryRow: _Kind(t.DELIVERIES, delivery_values),
    r.EngineRow: _Kind(t.META, _engine),
    r.SampleRow: _Kind(t.QUOTA_SAMPLES, sample_values),
    r.EstimateRow: _Kind(t.ESTIMATES, estimate_values),
}
"""By type of row; tables of parents stand before those of their children."""

_CURRENT: Final = (r.PoolRow, r.NodeRow, r.QuotaRow)
_HISTORY: Final = tuple(row_type for row_type in _KINDS if row_type not in _CURRENT)
