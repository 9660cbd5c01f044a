"""A database that cannot be used says so, without its password."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import event, select

from quotatree.core.state import Settings
from quotatree.store import Store
from quotatree.store.database import parse_url, shown, writing
from quotatree.store.errors import StoreError, StoreUnavailable
from quotatree.store.tables import LEASE
from tests.store import postgres
from tests.store.building import batch, jobs_batch, writer


def test_a_database_that_is_not_there_is_unavailable() -> None:
    store = Store.open("postgresql://ann:secret@127.0.0.1:1/none")
    with pytest.raises(StoreUnavailable) as raised:
        store.check()
    assert "secret" not in str(raised.value)
    assert "secret" not in store.url
    store.close()


def test_a_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but long enough to look at" * 100)
    store = Store.open(str(tmp_path / "notes.txt"))
    with pytest.raises(StoreUnavailable, match="not a database"):
        store.check()
    store.close()


@pytest.mark.parametrize(
    "url", ["mysql://root:pw@localhost/x", "sqlite://", "sqlite:///:memory:", "://", "a://b://c"]
)
def test_other_urls_are_refused_without_their_password(url: str) -> None:
    with pytest.raises(StoreError) as raised:
        Store.open(url)
    assert "pw" not in str(raised.value)


def test_a_password_in_the_query_is_not_shown() -> None:
    assert "pw" not in shown(parse_url("postgresql://host/db?user=ann&password=pw"))


def test_nobody_else_may_read_the_file(tmp_path: Path) -> None:
    Store.open(str(tmp_path / "deep" / "store.db")).close()
    assert stat.S_IMODE((tmp_path / "deep" / "store.db").stat().st_mode) == 0o600


def test_a_locked_database_is_unavailable_and_heals(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quotatree.store.database.BUSY_MS", 50)
    store, other = Store.open(str(tmp_path / "a.db")), Store.open(str(tmp_path / "a.db"))
    store.migrate()
    epoch = writer(store)
    with other._engine.connect() as connection, connection.execution_options(writes=True).begin():
        with pytest.raises(StoreUnavailable, match="locked"):
            store.commit(batch(epoch, 1))
        assert store.last_batch() == 0, "readers do not wait"
    store.commit(batch(epoch, 1))
    store.close()
    other.close()


def test_a_full_disk_stops_writes_loses_nothing_and_heals(tmp_path: Any) -> None:
    store = Store.open(str(tmp_path / "a.db"))
    store.migrate()
    epoch = writer(store)
    store.commit(jobs_batch(epoch, 1, 5))
    before = store.load(Settings())
    store.close()

    full = True

    @event.listens_for(store._engine, "connect")
    def little_room(connection: Any, record: Any) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0] if full else 1 << 30
        connection.execute(f"PRAGMA max_page_count={pages}")

    with pytest.raises(StoreUnavailable, match="full"):
        store.commit(jobs_batch(epoch, 2, 500))
    assert store.load(Settings()) == before
    full = False
    store.close()
    store.commit(jobs_batch(epoch, 2, 500))
    assert store.last_batch() == 2
    store.close()


def test_a_connection_that_is_cut_is_made_again(postgres_home: str) -> None:
    name = "cut_off"
    store = Store.open(postgres.create(postgres_home, name, postgres.TEMPLATE))
    epoch = writer(store)
    store.commit(batch(epoch, 1))
    cut = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"

    def cut_off_in_the_middle() -> None:
        with writing(store._engine) as connection:
            with psycopg.connect(postgres.url_of(postgres_home, "postgres"), autocommit=True) as admin:
                admin.execute(cut.encode())
            connection.execute(select(LEASE))

    with pytest.raises(StoreUnavailable):
        cut_off_in_the_middle()
    store.commit(batch(epoch, 2))
    assert store.last_batch() == 2
    store.close()
    postgres.drop(postgres_home, name)
