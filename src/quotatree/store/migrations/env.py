"""Run by Alembic: the connection and its transaction are the caller's, and so is whom to tell how far it is."""

from __future__ import annotations

from alembic import context

from quotatree.store.tables import METADATA

given = context.config.attributes
context.configure(
    connection=given["connection"],
    target_metadata=METADATA,
    progress=given.get("progress", lambda done, of: None),
    on_version_apply=lambda **_: given.get("after", lambda: None)(),
)
context.run_migrations()
