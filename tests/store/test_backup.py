"""A backup shows one moment, however busy the store is, and restores into either database."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, inspect, select

from quotatree.access.differences import differences
from quotatree.access.directory import Directory
from quotatree.access.values import User
from quotatree.control.load_world import runs_elsewhere
from quotatree.core.state import Settings
from quotatree.engines.base import Place
from quotatree.store import JobFilter, Store
from quotatree.store import rows as r
from quotatree.store import tables as t
from quotatree.store.backup import _copied
from quotatree.store.database import reading
from quotatree.store.errors import BadBackup, LeaseLost, NotEmpty, StoreError
from tests.store.building import HOLDER, HOUR_MS, batch, jobs_batch, writer

SIZE = 20


def content(store: Store) -> dict[str, list[Any]]:
    """All rows of the tables that are there; an older store does not have all, which is as if they were empty."""
    with reading(store._engine) as connection:
        there = inspect(connection).get_table_names()
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
            if table.name in there
            else []
            for table in _copied()
        }


def check_whole(store: Store) -> int:
    """Every batch is there with all its rows in every table, or not at all; how many there are."""
    with reading(store._engine) as connection:

        def number(table: Any) -> int:
            return connection.execute(select(func.count()).select_from(table)).scalar() or 0

        batches = connection.execute(select(t.LEASE.c.batch)).scalar() or 0
        jobs = batches * SIZE
        assert (number(t.JOBS), number(t.RUNS), number(t.PLACEMENTS)) == (jobs, jobs, jobs)
        assert (number(t.DECISIONS), number(t.EVENTS)) == (2 * jobs, 3 * jobs)
        return batches


@pytest.fixture(params=["sqlite", "postgresql"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A second, empty store to restore into."""
    if request.param == "sqlite":
        store = Store.open(str(tmp_path / "other.db"))
        yield store
        store.close()
        return
    from tests.store import postgres

    home = request.getfixturevalue("postgres_home")
    name = f"other_{os.getpid()}_{id(tmp_path)}"
    store = Store.open(postgres.create(home, name))
    yield store
    store.close()
    postgres.drop(home, name)


def test_a_backup_under_load_restores_to_one_moment(store: Store, tmp_path: Path) -> None:
    epoch = writer(store)
    stop = threading.Event()
    written = 0

    def load() -> None:
        nonlocal written
        while not stop.is_set():
            store.commit(jobs_batch(epoch, written + 1, SIZE))
            written += 1

    thread = threading.Thread(target=load)
    thread.start()
    counts: list[int] = []
    try:
        for number in range(3):
            before = store.last_batch()
            store.backup(tmp_path / f"backup-{number}", 7)
            restored = Store.open(str(tmp_path / f"restored-{number}.db"))
            assert restored.restore(tmp_path / f"backup-{number}", 0) == 7
            counts.append(check_whole(restored))
            assert before <= counts[-1] <= store.last_batch()
            restored.close()
    finally:
        stop.set()
        thread.join()
    assert written > counts[0], "nothing was written meanwhile"


def test_a_backup_restores_into_either_database(store: Store, other: Store, tmp_path: Path) -> None:
    epoch = writer(store)
    for number in range(1, 4):
        store.commit(jobs_batch(epoch, number, SIZE))
    store.commit(batch(epoch, 4, r.EngineRow("one", "host:/data")))
    store.backup(tmp_path / "b", 8)
    assert other.restore(tmp_path / "b", 0) == 8
    assert content(other) == content(store)
    assert other.load(Settings()) == store.load(Settings())


def test_the_restored_store_goes_on(store: Store, other: Store, tmp_path: Path) -> None:
    epoch = writer(store)
    people = Directory().with_user(User("ann", platform_admin=True, password="$argon2$x"))
    store.commit(batch(epoch, 1, directory=differences(Directory(), people)))
    store.backup(tmp_path / "b", 5)
    other.restore(tmp_path / "b", 0)
    assert other.load(Settings()).directory == people
    with pytest.raises(LeaseLost):
        other.commit(batch(epoch, 2))
    new = other.take_lease(HOLDER, 0, HOUR_MS)
    assert new is not None
    assert new > epoch
    other.commit(batch(new, 2))
    assert other.jobs(JobFilter()).items == ()


def test_a_restored_store_knows_which_engine_has_its_open_runs_a7(
    store: Store, other: Store, tmp_path: Path
) -> None:
    epoch = writer(store)
    named = Directory().with_priority_names({"urgent": 9})
    engine = r.EngineRow("one", "host:/data")
    store.commit(batch(epoch, 1, engine, directory=differences(Directory(), named)))
    store.commit(jobs_batch(epoch, 2, SIZE))
    store.backup(tmp_path / "b", 5)
    other.restore(tmp_path / "b", 0)
    found = other.load(Settings())
    assert found.engine == engine
    assert found.directory.priority_names == {"urgent": 9}
    other.restore(tmp_path / "b", 0, force=True)
    assert other.load(Settings()).engine == engine, "a second time, over the first"


def test_open_runs_of_a_backup_that_names_no_engine_are_nobodys_a7(
    store: Store, other: Store, tmp_path: Path
) -> None:
    epoch = writer(store)
    store.commit(jobs_batch(epoch, 1, SIZE))
    store.backup(tmp_path / "b", 5)
    other.restore(tmp_path / "b", 0)
    found = other.load(Settings())
    assert found.runs
    assert runs_elsewhere(found, Place("two", "host:/other")).startswith(f"{SIZE} run(s)")


def test_only_an_empty_store_is_filled_unless_forced(store: Store, tmp_path: Path) -> None:
    epoch = writer(store)
    store.commit(jobs_batch(epoch, 1, SIZE))
    store.backup(tmp_path / "b", 5)
    store.commit(jobs_batch(epoch, 2, SIZE))
    with pytest.raises(NotEmpty, match="server-1 is working"):
        store.restore(tmp_path / "b", 0)
    store.release_lease(HOLDER, epoch)
    with pytest.raises(NotEmpty, match="not empty"):
        store.restore(tmp_path / "b", 0)
    assert check_whole(store) == 2
    store.restore(tmp_path / "b", 0, force=True)
    assert check_whole(store) == 1
    with pytest.raises(LeaseLost):
        store.commit(batch(epoch, 3))


def test_a_backup_overwrites_nothing_and_is_private(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "b"
    store.backup(path, 5)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("b")) == ["b"]
    with pytest.raises(StoreError, match="exists already"):
        store.backup(path, 6)
    with pytest.raises(StoreError, match=r"/nowhere/b: No such file or directory$"):
        store.backup(tmp_path / "nowhere" / "b", 6)


def test_what_is_no_backup_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(BadBackup, match="no such file"):
        store.restore(tmp_path / "missing", 0)
    (tmp_path / "text").write_text("hello " * 1000)
    with pytest.raises(BadBackup, match="not a backup"):
        store.restore(tmp_path / "text", 0)
    live = Store.open(str(tmp_path / "live.db"))
    live.migrate()
    live.close()
    with pytest.raises(BadBackup, match="not a finished backup"):
        store.restore(tmp_path / "live.db", 0)
    store.backup(tmp_path / "b", 5)
    with closing(sqlite3.connect(tmp_path / "b")) as file:
        file.execute("UPDATE alembic_version SET version_num = 'from-the-future'")
        file.commit()
    with pytest.raises(BadBackup, match="newer QuotaTree"):
        store.restore(tmp_path / "b", 0)


@pytest.mark.parametrize("damage", [b"FitsFre\xff", b"FitsFred"])
def test_a_damaged_backup_is_refused_before_anything_is_written(
    store: Store, other: Store, tmp_path: Path, damage: bytes
) -> None:
    store.commit(jobs_batch(writer(store), 1, SIZE))
    store.backup(tmp_path / "b", 5)
    whole = (tmp_path / "b").read_bytes()
    assert b"FitsFree" in whole
    (tmp_path / "b").write_bytes(whole.replace(b"FitsFree", damage, 1))
    with pytest.raises(BadBackup, match="damaged"):
        other.restore(tmp_path / "b", 0)
    (tmp_path / "b").write_bytes(whole)
    other.restore(tmp_path / "b", 0)
    assert content(other) == content(store)


def test_a_mark_that_cannot_be_read_marks_nothing(store: Store, tmp_path: Path) -> None:
    store.backup(tmp_path / "b", 5)
    with closing(sqlite3.connect(tmp_path / "b")) as file:
        file.execute("UPDATE meta SET value = 'x' WHERE key = 'backup'")
        file.commit()
    with pytest.raises(BadBackup, match="not a finished backup"):
        store.restore(tmp_path / "b", 0)
