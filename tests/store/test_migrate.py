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
from sqlalchemy import create_engine, select, text

from quotatree.core.state import Settings
from quotatree.store import Store, UsageFilter
from quotatree.store import rows as r
from quotatree.store import tables as t
from quotatree.store.database import connect, parse_url, reading, writing
from quotatree.store.errors import NotMigrated
from quotatree.store.form import config, newest
from quotatree.store.tables import METADATA
from quotatree.store.write import write
from tests.store.building import batch, jobs_batch, writer
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
    assert content(store) == old | {"usage": usage_of(old)}
    store.close()


def test_the_use_of_old_runs_is_taken_over_from_their_placements(url: str) -> None:
    """To the millisecond, cut at midnight; who was evicted lost what the ledger says."""
    at_first_revision(url)
    store = Store.open(url)
    name, day = "dlc-00000001", 86_400_000
    as_before(
        store,
        batch(
            1, 2, r.RunRow(name, 1, "idle", 1, 2, 2 * day + 7, "evicted", ""),
            r.PlacementRow(name, 1, 0, "n1", (0, 1), 2000, 1, 2 * day + 7),
            r.PlacementRow(name, 1, 1, "n1", (2,), 1000, day - 5, day + 5),
            r.PreemptionRow(1, day, "dlc-00000002", "lab", "root", "OWN", 9, {}),
            r.VictimRow(1, 0, name, "lab", "root", 5, 2000, 77, 99),
        ),
    )  # fmt: skip
    store.migrate()
    with reading(store._engine) as connection:
        rows = [
            (row.from_ms, row.until_ms, row.gpu_milli, row.begins)
            for row in connection.execute(
                select(t.USAGE).where(t.USAGE.c.job == name).order_by(t.USAGE.c.from_ms)
            )
        ]
    assert rows == [
        (1, day - 5, 2000, 1), (day - 5, day, 3000, 0), (day, day + 5, 3000, 0), (day + 5, 2 * day, 2000, 0),
        (2 * day, 2 * day + 7, 2000, 0),
    ]  # fmt: skip
    asked = UsageFilter(0, 3 * day, 3 * day)
    found = {one.keys: one for one in store.usage(asked, ("claim", "taker_workspace"))}
    assert found["idle", None].used == (2 * day + 6) * 2000 + 10 * 1000
    assert (found["guaranteed", None].runs, found["idle", None].runs) == (4, 1)
    assert (found["guaranteed", "lab"].lost, found["guaranteed", "lab"].preempted) == (77, 1)
    store.close()


def usage_of(old: dict[str, list[Any]]) -> list[Any]:
    """The stretches that the open runs of a store of the first revision have."""
    jobs = {row[0]: row for row in old["jobs"]}
    return [
        (
            place[0],
            place[1],
            "guaranteed",
            place[3],
            None,
            place[6],
            1,
            *(jobs[place[0]][i] for i in (1, 2, 3, 5)),
        )
        for place in old["placements"]
    ]


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
    assert content(store) == old | {"usage": usage_of(old)}
    store.check()
    store.close()


def at_first_revision(url: str) -> dict[str, list[Any]]:
    """Tables as the first version made them, with jobs in them; what stands there."""
    engine = connect(parse_url(url))
    with writing(engine) as connection:
        METADATA.drop_all(connection)
        connection.execute(text("DROP TABLE IF EXISTS alembic_version"))
        command.upgrade(config(connection), "0001")
    engine.dispose()
    store = Store.open(url)
    as_before(store, jobs_batch(writer(store), 1, 5))
    found = content(store)
    store.close()
    assert len(found["jobs"]) == 5
    return found


def as_before(store: Store, written: r.Batch) -> None:
    """Commit as the version did whose tables these are: nobody looked at their revision."""
    with writing(store._engine) as connection:
        write(connection, written)
