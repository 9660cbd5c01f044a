"""Figures of quotas over time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "quota_samples",
        sa.Column("quota", sa.Text, nullable=False),
        sa.Column("span_ms", NUMBER, nullable=False, autoincrement=False),
        sa.Column("at_ms", NUMBER, nullable=False, autoincrement=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("quota", "span_ms", "at_ms", name="pk_quota_samples"),
        sa.ForeignKeyConstraint(["quota"], ["quotas.id"], name="fk_quota_samples_quota", ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Nothing is ever migrated backwards."""
    raise NotImplementedError("restore a backup instead")
