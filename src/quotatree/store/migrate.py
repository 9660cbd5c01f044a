"""Are the tables those of this version, and if not, make them so (Alembic, its scripts inside the package)."""

from __future__ import annotations

from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from quotatree.store.database import MIGRATE
from quotatree.store.errors import NotMigrated

LOCK: Final = 0x71756F7461
"""Key of a PostgreSQL advisory lock: with it, two servers that start together migrate one after the other."""


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", "quotatree.store:migrations")
    config.attributes["connection"] = connection
    return config


def newest() -> str:
    """The revision this version of QuotaTree works with."""
    found = ScriptDirectory.from_config(_config()).get_current_head()
    assert found is not None
    return found


def revision(connection: Connection) -> str | None:
    """The revision of the tables that are there; None: there are none."""
    return MigrationContext.configure(connection).get_current_revision()


def is_known(name: str) -> bool:
    """Whether the revision belongs to this version of QuotaTree or an earlier one."""
    return any(script.revision == name for script in ScriptDirectory.from_config(_config()).walk_revisions())


def migrate(connection: Connection) -> tuple[str | None, str]:
    """Bring the tables up to date, inside the caller's transaction; return the revisions before and after.

    Raises NotMigrated if the tables are those of a newer version.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
    before = revision(connection)
    if before is not None and not is_known(before):
        raise NotMigrated(_newer(before))
    command.upgrade(_config(connection), "head")
    return before, newest()


def check(connection: Connection) -> None:
    """Raise unless the tables are those of this version."""
    found, wanted = revision(connection), newest()
    if found == wanted:
        return
    if found is None:
        raise NotMigrated(f"there are no tables yet: {MIGRATE}")
    if is_known(found):
        raise NotMigrated(f"the tables are at revision {found}, this version needs {wanted}: {MIGRATE}")
    raise NotMigrated(_newer(found))


def _newer(found: str) -> str:
    return f"the tables are at revision {found}, of a newer QuotaTree: use that version, or restore an older backup"
