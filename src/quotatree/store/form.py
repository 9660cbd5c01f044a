"""In which form are the tables, and may this version write them?

A form has the name of the migration that made it, its revision. Only the table of the lease never changes its form: it is how
servers of different versions agree on who writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final

from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, TextClause, select, text

from quotatree.store.errors import NewerTables, NotMigrated

MIGRATE: Final = "run `quotatree migrate` first"


class Form(Enum):
    MISSING = "missing"
    OLDER = "older"
    OURS = "ours"
    NEWER = "newer"


@dataclass(frozen=True, slots=True)
class Step:
    """One migration; `says` is what it brings: the first sentence of its script."""

    revision: str
    says: str


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables that are there. `revision` is None where there are none; `steps` lead from there to this version's."""

    form: Form
    revision: str | None
    steps: tuple[Step, ...] = ()


def config(connection: Connection | None = None) -> Config:
    found = Config()
    found.set_main_option("script_location", "quotatree.store:migrations")
    found.attributes["connection"] = connection
    return found


@cache
def steps() -> tuple[Step, ...]:
    """All migrations of this version, the first one first."""
    scripts = ScriptDirectory.from_config(config()).walk_revisions()
    return tuple(
        reversed([Step(script.revision, script.doc.split(". ")[0].rstrip(".")) for script in scripts])
    )


def newest() -> str:
    """The revision this version of QuotaTree works with."""
    return steps()[-1].revision


def is_known(revision: str) -> bool:
    """Whether the revision belongs to this version of QuotaTree or an earlier one."""
    return any(step.revision == revision for step in steps())


def tables(connection: Connection) -> Tables:
    revision = MigrationContext.configure(connection).get_current_revision()
    if revision is None:
        return Tables(Form.MISSING, None, steps())
    if not is_known(revision):
        return Tables(Form.NEWER, revision)
    known = [step.revision for step in steps()]
    missing = steps()[known.index(revision) + 1 :]
    return Tables(Form.OLDER if missing else Form.OURS, revision, missing)


def check(connection: Connection) -> None:
    """Raise NotMigrated unless the tables are those of this version, NewerTables if they are those of a newer one."""
    found = tables(connection)
    if found.form is Form.MISSING:
        raise NotMigrated(f"there are no tables yet: {MIGRATE}")
    if found.form is Form.OLDER:
        raise NotMigrated(
            f"the tables are at revision {found.revision}, this version needs {newest()}: {MIGRATE}"
        )
    check_not_newer(found)


def check_not_newer(found: Tables) -> None:
    if found.form is Form.NEWER:
        raise NewerTables(
            f"the tables are at revision {found.revision}, of a newer QuotaTree: use that version, or restore an older backup"
        )


def check_still(connection: Connection) -> None:
    """The same as `check` for tables that are there, in one quick question where all is well."""
    if not connection.execute(select(is_ours())).scalar():
        check(connection)


def is_ours() -> TextClause:
    """Condition of a statement that is to write only while the tables are those of this version."""
    return text("EXISTS (SELECT 1 FROM alembic_version WHERE version_num = :newest)").bindparams(
        newest=newest()
    )
