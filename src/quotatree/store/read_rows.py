"""Rows of the tables as the values they were written from."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import RowMapping

from quotatree.access.values import TokenInfo, User
from quotatree.codec import decode
from quotatree.core import Autoscale, JobRecord, NodeRecord, PoolRecord, QuotaRecord
from quotatree.store import rows as r


def pool_row(row: RowMapping) -> r.PoolRow:
    return r.PoolRow(row["name"], decode(PoolRecord, json.loads(row["record"])), row["version"])


def node_row(row: RowMapping) -> r.NodeRow:
    return r.NodeRow(row["name"], decode(NodeRecord, json.loads(row["record"])), row["version"])


def quota_row(row: RowMapping) -> r.QuotaRow:
    return r.QuotaRow(row["id"], decode(QuotaRecord, json.loads(row["record"])), row["version"])


def job_row(row: RowMapping) -> r.JobRow:
    return r.JobRow(decode(JobRecord, json.loads(row["record"])), card_of(row), row["reason_code"])


def card_of(row: RowMapping) -> r.Card:
    """A job's card, from the columns of its row and their JSON. Older rows have no `restart_key`, most no `autoscale`."""
    body = json.loads(row["card"])
    return r.Card(
        name=row["name"],
        owner=row["owner"],
        program=body["program"],
        on_hold=body["on_hold"],
        first_started_ms=row["first_started_ms"],
        ended_ms=row["ended_ms"],
        confirmed=tuple(body["confirmed"]),
        late_ms=body["late_ms"],
        restart_key=body.get("restart_key", ""),
        autoscale=decode(Autoscale, body["autoscale"]) if "autoscale" in body else None,
    )


def run_row(row: RowMapping) -> r.RunRow:
    return r.RunRow(**row)


def placement_row(row: RowMapping) -> r.PlacementRow:
    return r.PlacementRow(**{**row, "devices": tuple(json.loads(row["devices"]))})


def usage_row(row: RowMapping) -> r.UsageRow:
    return r.UsageRow(**row)


def decision_row(row: RowMapping) -> r.DecisionRow:
    return r.DecisionRow(**_with_body(row))


def preemption_row(row: RowMapping) -> r.PreemptionRow:
    return r.PreemptionRow(**_with_body(row))


def victim_row(row: RowMapping) -> r.VictimRow:
    return r.VictimRow(**row)


def event_row(row: RowMapping) -> r.EventRow:
    return r.EventRow(**_with_body(row))


def audit_row(row: RowMapping) -> r.AuditRow:
    return r.AuditRow(**_with_body(row))


def answer_row(row: RowMapping) -> r.IdempotencyRow:
    return r.IdempotencyRow(**_with_body(row))


def webhook_row(row: RowMapping) -> r.WebhookRow:
    kinds = tuple(json.loads(row["kinds"]))
    return r.WebhookRow(
        id=row["id"],
        workspace=row["workspace"],
        url=row["url"],
        secret=row["secret"],
        kinds=kinds,
        active=row["active"],
        version=row["version"],
    )


def delivery_row(row: RowMapping) -> r.DeliveryRow:
    return r.DeliveryRow(**row)


def user(row: RowMapping) -> User:
    return User(
        name=row["name"],
        display=row["display"],
        email=row["email"],
        platform_admin=row["platform_admin"],
        disabled=row["disabled"],
        password=row["password"],
        identity=row["identity"],
        version=row["version"],
    )


def token(row: RowMapping) -> TokenInfo:
    return TokenInfo(
        id=row["id"],
        user=row["user_name"],
        name=row["name"],
        secret_hash=row["secret_hash"],
        created_ms=row["created_ms"],
        expires_ms=row["expires_ms"],
        revoked_ms=row["revoked_ms"],
        read_only=row["read_only"],
    )


def _with_body(row: RowMapping) -> dict[str, Any]:
    return {**row, "body": json.loads(row["body"])}
