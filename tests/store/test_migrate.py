"""The tables are what the migrations make, on both databases; a store that is not ready says what to do."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, text

from quotatree.core.state import Settings
from quotatree.store import Store
from quotatree.store.database import connect, parse_url, reading, writing
from quotatree.store.errors import NotMigrated
from quotatree.store.migrate import _config, newest
from quotatree.store.tables import METADATA
from tests.store.building import jobs_batch, writer
from tests.store.test_backup import content


def test_the_migrations_make_exactly_the_tables(store: Store) -> None:
    with reading(store._engine) as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []


def test_migrating_twice_changes_nothing(store: Store) -> None:
    before, after = store.migrate()
    assert before == after


def test_a_store_without_tables_says_what_to_do(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "new.db"))
    with pytest.raises(NotMigrated, match="quotatree migrate"):
        store.load(Settings())
    with pytest.raises(NotMigrated, match="quotatree migrate"):
        store.last_batch()
    store.close()


def test_a_store_of_a_newer_version_is_left_alone(store: Store, url: str) -> None:
    engine = create_engine(parse_url(url))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'from-the-future'"))
    engine.dispose()
    with pytest.raises(NotMigrated, match="newer QuotaTree"):
        store.migrate()
    with pytest.raises(NotMigrated, match="newer QuotaTree"):
        store.load(Settings())


def test_a_store_of_the_first_revision_is_migrated_with_what_is_in_it(url: str) -> None:
    old = at_first_revision(url)
    store = Store.open(url)
    with pytest.raises(NotMigrated, match="revision 0001"):
        store.check()
    assert store.migrate() == ("0001", newest())
    store.check()
    with reading(store._engine) as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    assert content(store) == old
    store.close()


def test_a_backup_of_the_first_revision_restores_into_this_one(url: str, tmp_path: Path) -> None:
    old = at_first_revision(f"sqlite:///{tmp_path}/old.db")
    with closing(sqlite3.connect(tmp_path / "old.db")) as file:
        file.execute(
            "INSERT INTO meta VALUES ('backup', ?)", ('{"schema": "quotatree.backup/1", "at_ms": 7}',)
        )
        file.execute("PRAGMA journal_mode=DELETE")
        file.commit()
    store = Store.open(url)
    store.migrate()
    assert store.restore(tmp_path / "old.db", 0) == 7
    assert content(store) == old
    store.check()
    store.close()


def at_first_revision(url: str) -> dict[str, list[Any]]:
    """Tables as the first version made them, with jobs in them; what stands there."""
    engine = connect(parse_url(url))
    with writing(engine) as connection:
        METADATA.drop_all(connection)
        connection.execute(text("DROP TABLE IF EXISTS alembic_version"))
        command.upgrade(_config(connection), "0001")
    engine.dispose()
    store = Store.open(url)
    store.commit(jobs_batch(writer(store), 1, 5))
    found = content(store)
    store.close()
    assert len(found["jobs"]) == 5
    return found
