"""The first tables."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def text(name: str, null: bool = False) -> Any:
    return sa.Column(name, sa.Text(), nullable=null)


def number(name: str, null: bool = False) -> Any:
    return sa.Column(name, NUMBER, nullable=null, autoincrement=False)


def flag(name: str) -> Any:
    return sa.Column(name, sa.Boolean(), nullable=False)


def key(table: str, *columns: str) -> Any:
    return sa.PrimaryKeyConstraint(*columns, name=f"pk_{table}")


def refers(table: str, columns: list[str], to: str, there: list[str], ondelete: str | None = None) -> Any:
    name = f"fk_{table}_{columns[0]}"
    return sa.ForeignKeyConstraint(columns, [f"{to}.{one}" for one in there], name=name, ondelete=ondelete)


def index(name: str, table: str, columns: list[str], where: str | None = None) -> None:
    only: dict[str, Any] = (
        {} if where is None else {"sqlite_where": sa.text(where), "postgresql_where": sa.text(where)}
    )
    op.create_index(name, table, columns, **only)


def upgrade() -> None:
    op.create_table(
        "audit", number("seq"), number("at_ms"), text("actor"), text("action"), text("target"),
        text("workspace", null=True), text("body"), key("audit", "seq"),
    )  # fmt: skip
    index("audit_by_actor", "audit", ["actor", "seq"])
    index("audit_by_target", "audit", ["target", "seq"])
    index("audit_by_workspace", "audit", ["workspace", "seq"])
    op.create_table(
        "decisions", number("seq"), number("at_ms"), text("kind"), text("job"), text("workspace"), text("quota"),
        text("reason_code"), text("body"), key("decisions", "seq"),
    )  # fmt: skip
    index("decisions_by_job", "decisions", ["job", "seq"])
    index("decisions_by_quota", "decisions", ["quota", "seq"])
    index("decisions_by_workspace", "decisions", ["workspace", "seq"])
    op.create_table(
        "events", number("seq"), number("at_ms"), text("kind"), text("workspace", null=True),
        text("quota", null=True), text("job", null=True), text("body"), key("events", "seq"),
    )  # fmt: skip
    index("events_by_job", "events", ["job", "seq"])
    op.create_table(
        "idempotency", text("actor"), text("key"), text("fingerprint"), number("status"), text("body"),
        number("at_ms"), key("idempotency", "actor", "key"),
    )  # fmt: skip
    index("idempotency_by_time", "idempotency", ["at_ms"])
    op.create_table(
        "jobs", text("id"), text("workspace"), text("quota"), text("owner"), text("name"), text("module"),
        number("priority"), text("phase"), number("submitted_ms"), number("first_started_ms", null=True),
        number("started_ms", null=True), number("ended_ms", null=True), number("gpu_milli"), number("run"),
        text("reason_code"), sa.Column("is_open", sa.Integer(), nullable=False), text("record"), text("card"),
        number("updated_ms"), key("jobs", "id"),
    )  # fmt: skip
    index("jobs_by_quota", "jobs", ["quota", "submitted_ms", "id"])
    index("jobs_by_time", "jobs", ["submitted_ms", "id"])
    index("jobs_by_workspace", "jobs", ["workspace", "submitted_ms", "id"])
    index("jobs_open_by_time", "jobs", ["submitted_ms", "id"], "is_open = 1")
    index("jobs_open_by_workspace", "jobs", ["workspace", "submitted_ms", "id"], "is_open = 1")
    op.create_table(
        "lease", number("id"), text("holder"), number("epoch"), number("until_ms"), number("batch"),
        key("lease", "id"),
    )  # fmt: skip
    op.create_table(
        "meta", text("key"), text("value"), key("meta", "key"),
    )  # fmt: skip
    op.create_table(
        "nodes", text("name"), text("pool"), text("state"), text("record"), number("version"),
        number("created_ms"), number("updated_ms"), key("nodes", "name"),
    )  # fmt: skip
    op.create_table(
        "pools", text("name"), text("record"), number("version"), number("created_ms"), number("updated_ms"),
        key("pools", "name"),
    )  # fmt: skip
    op.create_table(
        "preemptions", number("seq"), number("at_ms"), text("preemptor"), text("workspace"), text("quota"),
        text("step"), number("cost"), text("body"), key("preemptions", "seq"),
    )  # fmt: skip
    index("preemptions_by_preemptor", "preemptions", ["preemptor", "seq"])
    index("preemptions_by_quota", "preemptions", ["quota", "seq"])
    index("preemptions_by_workspace", "preemptions", ["workspace", "seq"])
    op.create_table(
        "quotas", text("id"), text("parent", null=True), text("record"), number("version"), number("created_ms"),
        number("updated_ms"), key("quotas", "id"),
    )  # fmt: skip
    op.create_table(
        "users", text("name"), text("display"), text("email"), flag("platform_admin"), flag("disabled"),
        text("password", null=True), text("identity", null=True), number("version"), number("created_ms"),
        number("updated_ms"), key("users", "name"),
    )  # fmt: skip
    op.create_table(
        "webhooks", text("id"), text("workspace", null=True), text("url"), text("secret"), text("kinds"),
        flag("active"), number("version"), number("created_ms"), number("updated_ms"), key("webhooks", "id"),
    )  # fmt: skip
    op.create_table(
        "workspaces", text("id"), text("description"), number("version"), number("created_ms"),
        number("updated_ms"), key("workspaces", "id"),
    )  # fmt: skip
    op.create_table(
        "bindings", text("workspace"), text("quota"), key("bindings", "workspace", "quota"),
        refers("bindings", ["quota"], "quotas", ["id"]), refers("bindings", ["workspace"], "workspaces", ["id"]),
    )  # fmt: skip
    op.create_table(
        "centres", text("workspace"), text("quota"), text("body"), number("version"), number("created_ms"),
        number("updated_ms"), key("centres", "workspace", "quota"), refers("centres", ["quota"], "quotas", ["id"]),
        refers("centres", ["workspace"], "workspaces", ["id"]),
    )  # fmt: skip
    op.create_table(
        "deliveries", text("id"), text("webhook"), number("event_seq"), number("due_ms"), number("attempts"),
        text("state"), text("last_error"), key("deliveries", "id"),
        refers("deliveries", ["event_seq"], "events", ["seq"]),
        refers("deliveries", ["webhook"], "webhooks", ["id"], ondelete="CASCADE"),
    )  # fmt: skip
    index("deliveries_by_webhook", "deliveries", ["webhook", "event_seq"])
    index("deliveries_pending", "deliveries", ["due_ms", "id"], "state = 'pending'")
    op.create_table(
        "members", text("workspace"), text("user_name"), text("role"),
        key("members", "workspace", "user_name", "role"), refers("members", ["user_name"], "users", ["name"]),
        refers("members", ["workspace"], "workspaces", ["id"]),
    )  # fmt: skip
    op.create_table(
        "preemption_victims", number("preemption"), number("position"), text("job"), text("workspace"),
        text("quota"), number("priority"), number("gpu_milli"), number("lost_work"), number("cost"),
        key("preemption_victims", "preemption", "position"),
        refers("preemption_victims", ["preemption"], "preemptions", ["seq"]), sqlite_with_rowid=False,
    )  # fmt: skip
    index("victims_by_job", "preemption_victims", ["job", "preemption"])
    index("victims_by_quota", "preemption_victims", ["quota", "preemption"])
    index("victims_by_workspace", "preemption_victims", ["workspace", "preemption"])
    op.create_table(
        "quota_admins", text("user_name"), text("quota"), key("quota_admins", "user_name", "quota"),
        refers("quota_admins", ["quota"], "quotas", ["id"]),
        refers("quota_admins", ["user_name"], "users", ["name"]),
    )  # fmt: skip
    op.create_table(
        "runs", text("job"), number("run"), text("claim"), number("started_ms"), number("confirmed_ms", null=True),
        number("ended_ms", null=True), text("outcome", null=True), text("detail"), key("runs", "job", "run"),
        refers("runs", ["job"], "jobs", ["id"]), sqlite_with_rowid=False,
    )  # fmt: skip
    index("runs_open", "runs", ["job", "run"], "ended_ms IS NULL")
    op.create_table(
        "sessions", text("id_hash"), text("user_name"), text("csrf_hash"), number("created_ms"),
        number("expires_ms"), key("sessions", "id_hash"), refers("sessions", ["user_name"], "users", ["name"]),
    )  # fmt: skip
    op.create_table(
        "tokens", text("id"), text("user_name"), text("name"), text("secret_hash"), number("created_ms"),
        number("expires_ms", null=True), number("revoked_ms", null=True), flag("read_only"), key("tokens", "id"),
        refers("tokens", ["user_name"], "users", ["name"]),
    )  # fmt: skip
    op.create_table(
        "placements", text("job"), number("run"), number("replica"), number("from_ms"), text("node"),
        text("devices"), number("gpu_milli"), number("until_ms", null=True),
        key("placements", "job", "run", "replica", "from_ms"),
        refers("placements", ["job", "run"], "runs", ["job", "run"]), sqlite_with_rowid=False,
    )  # fmt: skip
    index("placements_by_node", "placements", ["node", "from_ms"])
    index("placements_open", "placements", ["job", "replica"], "until_ms IS NULL")


def downgrade() -> None:
    """There is nothing before the first tables."""
    raise NotImplementedError("restore a backup instead")
