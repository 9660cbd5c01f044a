"""The tables. Columns are what is filtered, joined or counted; everything else of a row is one JSON text.

A finished job stays for ever, and so does every decision (P13): only current things (pools, nodes, quotas, workspaces …)
are ever deleted, and what has served its time (answers to repeat, deliveries that are done, old figures). History names quotas and workspaces without a foreign key, so that it outlives them.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    text,
)

METADATA: Final = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
    }
)


NUMBER: Final = BigInteger().with_variant(Integer(), "sqlite")
"""64 bits everywhere; SQLite wants the word INTEGER to make a key the row's own number."""


def _name(name: str, *args: Any, key: bool = False, null: bool = False) -> Column[str]:
    return Column(name, Text, *args, primary_key=key, nullable=null)


def _number(name: str, *, key: bool = False, null: bool = False) -> Column[int]:
    return Column(name, NUMBER, primary_key=key, nullable=null, autoincrement=False)


def _json(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


def _kept() -> tuple[Column[int], Column[int]]:
    """Columns for the times at which the row was first and last written."""
    return _number("created_ms"), _number("updated_ms")


# -- the cluster and the tree ----------------------------------------------------------------------------------------

POOLS: Final = Table(
    "pools", METADATA, _name("name", key=True), _json("record"), _number("version"), *_kept()
)  # fmt: skip
NODES: Final = Table(
    "nodes", METADATA, _name("name", key=True), _name("pool"), _name("state"), _json("record"), _number("version"),
    *_kept(),
)  # fmt: skip
QUOTAS: Final = Table(
    "quotas", METADATA, _name("id", key=True), _name("parent", null=True), _json("record"), _number("version"), *_kept()
)  # fmt: skip

# -- people ----------------------------------------------------------------------------------------------------------

USERS: Final = Table(
    "users", METADATA, _name("name", key=True), _name("display"), _name("email"),
    Column("platform_admin", Boolean, nullable=False), Column("disabled", Boolean, nullable=False),
    _name("password", null=True), _name("identity", null=True), _number("version"), *_kept(),
)  # fmt: skip
WORKSPACES: Final = Table(
    "workspaces", METADATA, _name("id", key=True), _name("description"), _number("version"), *_kept()
)
MEMBERS: Final = Table(
    "members", METADATA, _name("workspace", ForeignKey("workspaces.id"), key=True),
    _name("user_name", ForeignKey("users.name"), key=True), _name("role", key=True),
)  # fmt: skip
BINDINGS: Final = Table(
    "bindings", METADATA, _name("workspace", ForeignKey("workspaces.id"), key=True),
    _name("quota", ForeignKey("quotas.id"), key=True),
)  # fmt: skip
CENTRES: Final = Table(
    "centres", METADATA, _name("workspace", ForeignKey("workspaces.id"), key=True),
    _name("quota", ForeignKey("quotas.id"), key=True), _json("body"), _number("version"), *_kept(),
)  # fmt: skip
QUOTA_ADMINS: Final = Table(
    "quota_admins", METADATA, _name("user_name", ForeignKey("users.name"), key=True),
    _name("quota", ForeignKey("quotas.id"), key=True),
)  # fmt: skip
TOKENS: Final = Table(
    "tokens", METADATA, _name("id", key=True), _name("user_name", ForeignKey("users.name")), _name("name"),
    _name("secret_hash"), _number("created_ms"), _number("expires_ms", null=True), _number("revoked_ms", null=True),
    Column("read_only", Boolean, nullable=False),
)  # fmt: skip
SESSIONS: Final = Table(
    "sessions", METADATA, _name("id_hash", key=True), _name("user_name", ForeignKey("users.name")), _name("csrf_hash"),
    _number("created_ms"), _number("expires_ms"),
)  # fmt: skip

# -- work ------------------------------------------------------------------------------------------------------------

OPEN: Final = "is_open = 1"
"""Condition for a job that is not finished, or finished and still leaving its devices: a restart must load it."""

JOBS: Final = Table(
    "jobs", METADATA, _name("id", key=True), _name("workspace"), _name("quota"), _name("owner"), _name("name"),
    _name("module"), _number("priority"), _name("phase"), _number("submitted_ms"),
    _number("first_started_ms", null=True), _number("started_ms", null=True), _number("ended_ms", null=True),
    _number("gpu_milli"), _number("run"), _name("reason_code"), Column("is_open", Integer, nullable=False),
    _json("record"), _json("card"), _number("updated_ms"),
    Index("jobs_by_time", "submitted_ms", "id"),
    Index("jobs_by_workspace", "workspace", "submitted_ms", "id"),
    Index("jobs_by_quota", "quota", "submitted_ms", "id"),
    Index("jobs_by_phase", "phase", "submitted_ms", "id"),
    Index("jobs_by_workspace_phase", "workspace", "phase", "submitted_ms", "id"),
    Index("jobs_by_quota_phase", "quota", "phase", "submitted_ms", "id"),
    Index("jobs_open_by_time", "submitted_ms", "id", sqlite_where=text(OPEN), postgresql_where=text(OPEN)),
    Index(
        "jobs_open_by_workspace", "workspace", "submitted_ms", "id", sqlite_where=text(OPEN), postgresql_where=text(OPEN)
    ),
)  # fmt: skip
RUNS: Final = Table(
    "runs", METADATA, _name("job", ForeignKey("jobs.id"), key=True), _number("run", key=True), _name("claim"),
    _number("started_ms"), _number("confirmed_ms", null=True), _number("ended_ms", null=True),
    _name("outcome", null=True), _name("detail"),
    Index(
        "runs_open", "job", "run",
        sqlite_where=text("ended_ms IS NULL"), postgresql_where=text("ended_ms IS NULL"),
    ),
    sqlite_with_rowid=False,
)  # fmt: skip
PLACEMENTS: Final = Table(
    "placements", METADATA, _name("job", key=True), _number("run", key=True), _number("replica", key=True),
    _number("from_ms", key=True), _name("node"), _json("devices"), _number("gpu_milli"), _number("until_ms", null=True),
    ForeignKeyConstraint(["job", "run"], ["runs.job", "runs.run"]),
    Index("placements_by_node", "node", "from_ms"),
    Index(
        "placements_open", "job", "replica",
        sqlite_where=text("until_ms IS NULL"), postgresql_where=text("until_ms IS NULL"),
    ),
    sqlite_with_rowid=False,
)  # fmt: skip
USAGE: Final = Table(
    "usage", METADATA, _name("job", key=True), _number("run", key=True), _name("claim", key=True),
    _number("from_ms", key=True), _number("until_ms", null=True), _number("gpu_milli"), _number("begins"),
    _name("workspace"), _name("quota"), _name("owner"), _name("module"),
    ForeignKeyConstraint(["job", "run"], ["runs.job", "runs.run"]),
    Index("usage_by_time", "from_ms"),
    Index(
        "usage_open", "from_ms",
        sqlite_where=text("until_ms IS NULL"), postgresql_where=text("until_ms IS NULL"),
    ),
)  # fmt: skip

# -- history: rows are only ever added -------------------------------------------------------------------------------

DECISIONS: Final = Table(
    "decisions", METADATA, _number("seq", key=True), _number("at_ms"), _name("kind"), _name("job"), _name("workspace"),
    _name("quota"), _name("reason_code"), _json("body"),
    Index("decisions_by_job", "job", "seq"),
    Index("decisions_by_workspace", "workspace", "seq"),
    Index("decisions_by_quota", "quota", "seq"),
)  # fmt: skip
PREEMPTIONS: Final = Table(
    "preemptions", METADATA, _number("seq", key=True), _number("at_ms"), _name("preemptor"), _name("workspace"),
    _name("quota"), _name("step"), _number("cost"), _json("body"),
    Index("preemptions_by_preemptor", "preemptor", "seq"),
    Index("preemptions_by_workspace", "workspace", "seq"),
    Index("preemptions_by_quota", "quota", "seq"),
)  # fmt: skip
VICTIMS: Final = Table(
    "preemption_victims", METADATA, Column(
        "preemption", NUMBER, ForeignKey("preemptions.seq"), primary_key=True, autoincrement=False
    ),
    _number("position", key=True), _name("job"), _name("workspace"), _name("quota"), _number("priority"),
    _number("gpu_milli"), _number("lost_work"), _number("cost"),
    Index("victims_by_job", "job", "preemption"),
    Index("victims_by_workspace", "workspace", "preemption"),
    Index("victims_by_quota", "quota", "preemption"),
    sqlite_with_rowid=False,
)  # fmt: skip
LOSSES: Final = Table(
    "losses", METADATA, _number("preemption", key=True), _number("position", key=True), _number("at_ms"),
    _number("lost_work"), _number("preempted"), _name("claim"), _name("workspace"), _name("quota"), _name("owner"),
    _name("module"), _name("taker_workspace"), _name("taker_quota"), _name("cause"),
    ForeignKeyConstraint(
        ["preemption", "position"], ["preemption_victims.preemption", "preemption_victims.position"]
    ),
    Index("losses_by_time", "at_ms"),
    sqlite_with_rowid=False,
)  # fmt: skip
EVENTS: Final = Table(
    "events", METADATA, _number("seq", key=True), _number("at_ms"), _name("kind"), _name("workspace", null=True),
    _name("quota", null=True), _name("job", null=True), _json("body"),
    Index("events_by_job", "job", "seq"),
    Index("events_by_quota", "quota", "seq"),
)  # fmt: skip
AUDIT: Final = Table(
    "audit", METADATA, _number("seq", key=True), _number("at_ms"), _name("actor"), _name("action"), _name("target"),
    _name("workspace", null=True), _json("body"),
    Index("audit_by_actor", "actor", "seq"),
    Index("audit_by_workspace", "workspace", "seq"),
    Index("audit_by_target", "target", "seq"),
)  # fmt: skip

QUOTA_SAMPLES: Final = Table(
    "quota_samples", METADATA, _name("quota", ForeignKey("quotas.id", ondelete="CASCADE"), key=True),
    _number("span_ms", key=True), _number("at_ms", key=True), _json("body"),
    sqlite_with_rowid=False,
)  # fmt: skip
"""Figures over time. Unlike the history above it goes with its quota, for whoever may see that is who may see these."""

ESTIMATES: Final = Table(
    "estimates", METADATA, _name("job", ForeignKey("jobs.id"), key=True), _number("asked_ms", key=True),
    _number("likely_ms"),
    Index("estimates_by_time", "asked_ms"),
    sqlite_with_rowid=False,
)  # fmt: skip

# -- the server's own ------------------------------------------------------------------------------------------------

IDEMPOTENCY: Final = Table(
    "idempotency", METADATA, _name("actor", key=True), _name("key", key=True), _name("fingerprint"), _number("status"),
    _json("body"), _number("at_ms"),
    Index("idempotency_by_time", "at_ms"),
)  # fmt: skip
WEBHOOKS: Final = Table(
    "webhooks", METADATA, _name("id", key=True), _name("workspace", null=True), _name("url"), _name("secret"),
    _json("kinds"), Column("active", Boolean, nullable=False), _number("version"), *_kept(),
)  # fmt: skip
PENDING: Final = "state = 'pending'"
DONE: Final = "state <> 'pending'"
DELIVERIES: Final = Table(
    "deliveries", METADATA, _name("id", key=True), _name("webhook", ForeignKey("webhooks.id", ondelete="CASCADE")),
    Column("event_seq", NUMBER, ForeignKey("events.seq"), nullable=False), _number("due_ms"), _number("attempts"),
    _name("state"), _name("last_error"),
    Index("deliveries_by_webhook", "webhook", "event_seq"),
    Index("deliveries_pending", "due_ms", "id", sqlite_where=text(PENDING), postgresql_where=text(PENDING)),
    Index("deliveries_done", "due_ms", "id", sqlite_where=text(DONE), postgresql_where=text(DONE)),
)  # fmt: skip
LEASE: Final = Table(
    "lease", METADATA, _number("id", key=True), _name("holder"), _number("epoch"), _number("until_ms"), _number("batch")
)  # fmt: skip
META: Final = Table("meta", METADATA, _name("key", key=True), _json("value"))
PRIORITY_NAMES: Final = "priority_names"
"""Key in `meta` of the names of priorities."""
ENGINE: Final = "engine"
"""Key in `meta` of the engine that has the open runs."""
