"""When the server said that a waiting job would start, so that its worth can be told."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "estimates",
        sa.Column("job", sa.Text, nullable=False),
        sa.Column("asked_ms", NUMBER, nullable=False, autoincrement=False),
        sa.Column("likely_ms", NUMBER, nullable=False, autoincrement=False),
        sa.PrimaryKeyConstraint("job", "asked_ms", name="pk_estimates"),
        sa.ForeignKeyConstraint(["job"], ["jobs.id"], name="fk_estimates_job"),
        sqlite_with_rowid=False,
    )
    op.create_index("estimates_by_time", "estimates", ["asked_ms"])


def downgrade() -> None:
    """Nothing is ever migrated backwards."""
    raise NotImplementedError("restore a backup instead")
