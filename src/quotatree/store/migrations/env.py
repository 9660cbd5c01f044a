"""Run by Alembic: the connection and its transaction are the caller's."""

from __future__ import annotations

from alembic import context

from quotatree.store.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
