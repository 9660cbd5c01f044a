"""How do the tables of an older version become ours, so that nothing is lost whatever happens? Under the lease, in one transaction.

    lock the lease ─> say what will be done ─> backup (SQLite) ─> migrate ─> renew the lease ─> commit

While the lease's row is locked nobody can take it, however long this lasts. The backup is of the very moment at which the
migration begins, since nobody writes in between. A kill leaves the tables as they were, and the backup, which the next try
finds by its name and does not write again.
"""

from __future__ import annotations

import glob
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, func, select

from quotatree.store import lease
from quotatree.store.backup import backup
from quotatree.store.database import shown, writing
from quotatree.store.errors import StoreUnavailable
from quotatree.store.form import Form, Tables, newest, tables
from quotatree.store.load import last_batch
from quotatree.store.migrate import migrate
from quotatree.store.progress import Progress
from quotatree.store.tables import AUDIT, EVENTS

Say = Callable[[str], None]


def make_tables(engine: Engine) -> None:
    """Make the tables where there are none; nobody can lead without them, so this needs no lease."""
    with writing(engine) as connection:
        if tables(connection).form is Form.MISSING:
            migrate(connection)


def upgrade(engine: Engine, holder: str, epoch: int, clock: Callable[[], int], ttl_ms: int, say: Say) -> None:
    """Bring the tables of an older version up to date. Raises LeaseLost, and does nothing, if (holder, epoch) does not lead."""
    with Progress(say) as progress, writing(engine) as connection:
        lease.hold(connection, holder, epoch)
        found = tables(connection)
        if found.form is not Form.OLDER:
            return
        say(
            f"the tables in {shown(engine.url)} are at revision {found.revision}, this version needs {newest()}"
        )
        if engine.dialect.name == "sqlite":
            _backup_beside(engine, connection, found, clock(), progress, say)
        else:
            say(
                "no backup of PostgreSQL is written here. The version before makes one, with its own settings, before an"
                " upgrade: quotatree backup FILE"
            )
        _migrate(connection, found, progress)
        lease.renew(connection, holder, epoch, clock(), ttl_ms)
    say(f"the tables are at revision {newest()} now, after {progress.seconds} s")


def backup_name(connection: Connection, file: Path, revision: str | None) -> Path:
    """Where the backup before a migration stands: beside the data, named after what is in it."""
    last_ms = max(connection.execute(select(func.max(t.c.at_ms))).scalar() or 0 for t in (EVENTS, AUDIT))
    when = datetime.fromtimestamp(last_ms / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")
    return file.with_name(f"{file.name}.revision-{revision}.batch-{last_batch(connection)}.{when}.backup")


def _backup_beside(
    engine: Engine, connection: Connection, found: Tables, at_ms: int, progress: Progress, say: Say
) -> None:
    file = Path(engine.url.database or "")
    path = backup_name(connection, file, found.revision)
    if path.exists():
        say(f"backup: {path} is there already, from a try that did not end")
        return
    for left_by_a_kill in file.parent.glob(f"{glob.escape(file.name)}.revision-*.backup.part"):
        left_by_a_kill.unlink()
    _check_room(file, connection)
    progress.begin(f"backup: writing {path}")
    backup(engine, path, at_ms, of_any_form=True)
    say(f"backup: {path}, {path.stat().st_size:,} bytes")


def _check_room(file: Path, connection: Connection) -> None:
    pages = connection.exec_driver_sql("PRAGMA page_count").scalar() or 0
    needed = pages * (connection.exec_driver_sql("PRAGMA page_size").scalar() or 0)
    free = shutil.disk_usage(file.parent).free
    if free < 2 * needed:
        raise StoreUnavailable(
            f"{file.parent}: {free:,} bytes are free, and the backup before a migration, and the migration, may need"
            f" {2 * needed:,}: nothing was changed"
        )


def _migrate(connection: Connection, found: Tables, progress: Progress) -> None:
    left = iter(found.steps)

    def begin_next() -> None:
        step = next(left, None)
        if step is not None:
            progress.begin(f"migrating to {step.revision}: {step.says}")

    begin_next()
    migrate(connection, progress.is_at, begin_next)
