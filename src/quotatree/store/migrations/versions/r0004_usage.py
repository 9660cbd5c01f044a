"""GPU time by claim, and what preemption lost. What is there already is taken over: idle runs as idle, others as guaranteed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from alembic import op

from quotatree.store.stretches import Place, stretches

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
PORTION = 1000
OPEN = sa.text("until_ms IS NULL")


def text(name: str) -> Any:
    return sa.Column(name, sa.Text(), nullable=False)


def number(name: str, null: bool = False) -> Any:
    return sa.Column(name, NUMBER, nullable=null, autoincrement=False)


def upgrade() -> None:
    usage = op.create_table(
        "usage", text("job"), number("run"), text("claim"), number("from_ms"), number("until_ms", null=True),
        number("gpu_milli"), number("begins"), text("workspace"), text("quota"), text("owner"), text("module"),
        sa.PrimaryKeyConstraint("job", "run", "claim", "from_ms", name="pk_usage"),
        sa.ForeignKeyConstraint(["job", "run"], ["runs.job", "runs.run"], name="fk_usage_job"),
    )  # fmt: skip
    op.create_index("usage_by_time", "usage", ["from_ms"])
    op.create_index("usage_open", "usage", ["from_ms"], sqlite_where=OPEN, postgresql_where=OPEN)
    losses = op.create_table(
        "losses", number("preemption"), number("position"), number("at_ms"), number("lost_work"), number("preempted"),
        text("claim"), text("workspace"), text("quota"), text("owner"), text("module"), text("taker_workspace"),
        text("taker_quota"),
        sa.PrimaryKeyConstraint("preemption", "position", name="pk_losses"),
        sa.ForeignKeyConstraint(
            ["preemption", "position"], ["preemption_victims.preemption", "preemption_victims.position"],
            name="fk_losses_preemption",
        ),
        sqlite_with_rowid=False,
    )  # fmt: skip
    op.create_index("losses_by_time", "losses", ["at_ms"])
    connection = op.get_bind()
    _insert(connection, usage, _stretches(connection, op.get_context().opts["progress"]))
    connection.execute(
        losses.insert().from_select(
            [column.name for column in losses.columns],
            sa.text(
                "SELECT v.preemption, v.position, p.at_ms, v.lost_work, 1, 'guaranteed', v.workspace, v.quota, j.owner,"
                " j.module, p.workspace, p.quota FROM preemption_victims v"
                " JOIN preemptions p ON p.seq = v.preemption JOIN jobs j ON j.id = v.job"
            ).columns(*(sa.column(column.name) for column in losses.columns)),
        )
    )


def _stretches(connection: sa.Connection, progress: Callable[[int, int], None]) -> Iterator[dict[str, Any]]:
    """Rows for all runs: their placements, swept in the order of time, cut at midnight where they are over."""
    runs = connection.execute(sa.text("SELECT COUNT(*) FROM runs")).scalar() or 0
    rows = connection.execute(
        sa.text(
            "SELECT r.job, r.run, r.claim, p.from_ms, p.until_ms, p.gpu_milli, j.workspace, j.quota, j.owner, j.module"
            " FROM placements p JOIN runs r ON r.job = p.job AND r.run = p.run JOIN jobs j ON j.id = p.job"
            " ORDER BY r.job, r.run"
        )
    ).mappings()
    for number, (_, found) in enumerate(groupby(rows, key=lambda row: (row["job"], row["run"]))):
        progress(number, runs)
        places = list(found)
        first = places[0]
        fixed = {name: first[name] for name in ("job", "run", "workspace", "quota", "owner", "module")}
        fixed["claim"] = "idle" if first["claim"] == "idle" else "guaranteed"
        begins = 1
        stood = [Place(row["from_ms"], row["until_ms"], row["gpu_milli"]) for row in places]
        for stretch in stretches(stood):
            yield {**fixed, **stretch._asdict(), "begins": begins}
            begins = 0


def _insert(connection: sa.Connection, table: sa.Table, rows: Iterator[dict[str, Any]]) -> None:
    portion: list[dict[str, Any]] = []
    for row in rows:
        portion.append(row)
        if len(portion) == PORTION:
            connection.execute(table.insert(), portion)
            portion = []
    if portion:
        connection.execute(table.insert(), portion)


def downgrade() -> None:
    """Nothing is ever migrated backwards."""
    raise NotImplementedError("restore a backup instead")
