"""Why work was lost. Of what is there already the cause was not recorded: it stays empty."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("losses", sa.Column("cause", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Nothing is ever migrated backwards."""
    raise NotImplementedError("restore a backup instead")
