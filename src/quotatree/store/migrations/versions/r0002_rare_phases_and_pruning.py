"""Indexes: jobs by phase, events by quota, and what of the outbox is done with."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

DONE = "state <> 'pending'"


def upgrade() -> None:
    op.create_index("jobs_by_phase", "jobs", ["phase", "submitted_ms", "id"])
    op.create_index("jobs_by_workspace_phase", "jobs", ["workspace", "phase", "submitted_ms", "id"])
    op.create_index("jobs_by_quota_phase", "jobs", ["quota", "phase", "submitted_ms", "id"])
    op.create_index("events_by_quota", "events", ["quota", "seq"])
    op.create_index(
        "deliveries_done", "deliveries", ["due_ms", "id"], sqlite_where=sa.text(DONE), postgresql_where=sa.text(DONE)
    )  # fmt: skip


def downgrade() -> None:
    """Nothing is ever migrated backwards."""
    raise NotImplementedError("restore a backup instead")
