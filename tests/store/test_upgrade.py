"""The tables of an older version become ours under the lease, after a backup; whatever fails, they stay what they were."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from sqlalchemy import select, text

from quotatree.store import Store, database
from quotatree.store import rows as r
from quotatree.store import tables as t
from quotatree.store import upgrade as upgrading
from quotatree.store.database import reading, writing
from quotatree.store.errors import InUse, LeaseLost, NewerTables, StoreError, StoreUnavailable
from quotatree.store.form import Form, newest, steps
from quotatree.store.samples import Span
from tests.store.building import HOLDER, HOUR_MS, batch, job, writer
from tests.store.old import fill
from tests.store.test_backup import content

ROOT = Path(__file__).resolve().parents[2]
TTL_MS = 15_000
NOW_MS = 1_795_070_000_000


@pytest.fixture
def older(url: str, tmp_path: Path) -> Iterator[Store]:
    """What b97389c wrote, with jobs that run: revision 0002."""
    fill("of_b97389c", url, tmp_path)
    store = Store.open(url)
    yield store
    store.close()


class Told(NamedTuple):
    store: Store
    epoch: int
    lines: list[str]

    def upgrade(self) -> None:
        self.store.upgrade(HOLDER, self.epoch, lambda: NOW_MS, TTL_MS, self.lines.append)


def leading(store: Store) -> Told:
    epoch = store.take_lease(HOLDER, NOW_MS, TTL_MS)
    assert epoch is not None
    return Told(store, epoch, [])


def backups(directory: Path) -> list[Path]:
    return sorted(directory.glob("store.db.*.backup*"))


def lease_of(store: Store) -> Any:
    with reading(store._engine) as connection:
        return connection.execute(select(t.LEASE)).mappings().one()


def test_what_will_be_done_is_said_then_done(older: Store, url: str, tmp_path: Path) -> None:
    before = content(older)
    told = leading(older)
    told.upgrade()
    assert older.tables().form is Form.OURS
    after = content(older)
    assert {**after, "usage": []} == before
    assert len(after["usage"]) == 4
    assert lease_of(older)["until_ms"] == NOW_MS + TTL_MS
    said = "\n".join(told.lines)
    assert f"are at revision 0002, this version needs {newest()}" in told.lines[0]
    for step in steps()[2:]:
        assert f"migrating to {step.revision}: {step.says}" in told.lines
    assert told.lines[-1].startswith(f"the tables are at revision {newest()} now")
    if url.startswith("postgresql"):
        assert "quotatree backup FILE" in said
        assert not backups(tmp_path)
    else:
        assert f"backup: {backups(tmp_path)[0]}" in said


def test_the_backup_beside_the_data_is_what_was_there_and_restores(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    fill("of_b97389c", url, tmp_path)
    store = Store.open(url)
    before = content(store)
    (tmp_path / "store.db.revision-0002.batch-3.20261119T043000Z.backup.part").write_text("left by a kill")
    leading(store).upgrade()
    (file,) = backups(tmp_path)
    assert file.name == "store.db.revision-0002.batch-20.20261119T043339Z.backup"
    assert file.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(file)) as backup:
        assert backup.execute("SELECT version_num FROM alembic_version").fetchone() == ("0002",)
    fresh = Store.open(str(tmp_path / "fresh.db"))
    fresh.restore(file, NOW_MS)
    assert {**content(fresh), "usage": []} == before
    fresh.close()
    store.close()


def test_who_has_lost_the_lease_changes_nothing(older: Store, tmp_path: Path) -> None:
    told = leading(older)
    assert older.take_lease("another", NOW_MS + HOUR_MS, TTL_MS) is not None
    with pytest.raises(LeaseLost):
        told.upgrade()
    assert older.tables().revision == "0002"
    assert told.lines == []
    assert not backups(tmp_path)


def test_nobody_takes_the_lease_meanwhile_however_long_it_lasts(
    older: Store, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_MS", 50)
    rival = Store.open(url)
    heard: list[str] = []

    def say(line: str) -> None:
        if line.startswith("migrating"):
            with pytest.raises(StoreUnavailable):
                rival.take_lease("rival", NOW_MS + HOUR_MS, TTL_MS)
            heard.append(rival.lease_holder())

    older.upgrade(HOLDER, leading(older).epoch, lambda: NOW_MS + HOUR_MS, TTL_MS, say)
    assert heard == [HOLDER] * 4, "before each step"
    assert rival.take_lease("rival", NOW_MS + HOUR_MS, TTL_MS) is None
    rival.close()


def test_a_migration_that_fails_leaves_all_as_it_was_and_its_backup_is_used_by_the_next(
    older: Store, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(older)
    told = leading(older)

    def broken(*_: Any) -> None:
        raise StoreUnavailable("the disk went away")

    with monkeypatch.context() as patched:
        patched.setattr(upgrading, "migrate", broken)
        with pytest.raises(StoreUnavailable):
            told.upgrade()
    assert older.tables().revision == "0002"
    assert content(older) == before
    there = backups(tmp_path)
    told.upgrade()
    assert older.tables().form is Form.OURS
    assert backups(tmp_path) == there
    if url.startswith("sqlite"):
        assert any("is there already" in line for line in told.lines)


def test_without_room_for_the_backup_nothing_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    fill("of_b97389c", url, tmp_path)
    store = Store.open(url)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(StoreUnavailable, match="1,000 bytes are free"):
        leading(store).upgrade()
    assert store.tables().revision == "0002"
    store.close()


KILLED = """
import os, signal, sys
from quotatree.store import Store, backup, upgrade
from quotatree.store.migrate import migrate
url, epoch, where = sys.argv[1], int(sys.argv[2]), sys.argv[3]
die = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
if where == "backup":
    backup.seal = die
else:
    upgrade.migrate = lambda connection, progress, after: migrate(connection, progress, die)
Store.open(url).upgrade("server-1", epoch, lambda: 0, 1000, lambda line: None)
"""


@pytest.mark.parametrize("where", ["backup", "migration"])
def test_kill_9_loses_nothing_and_the_next_try_goes_on(
    older: Store, url: str, tmp_path: Path, where: str
) -> None:
    """In the backup, and after the first step of the migration."""
    if where == "backup" and url.startswith("postgresql"):
        pytest.skip("no backup is written of PostgreSQL")
    before = content(older)
    told = leading(older)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, url, str(told.epoch), where],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, check=False, timeout=60,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL
    assert older.tables().revision == "0002"
    assert content(older) == before
    told.upgrade()
    assert older.tables().form is Form.OURS
    assert not older.faults_in_books()
    if url.startswith("sqlite"):
        assert [path.suffix for path in backups(tmp_path)] == [".backup"], "one, and it is whole"


def test_a_command_migrates_only_while_nobody_leads(older: Store, tmp_path: Path) -> None:
    assert older.take_lease("server-7", 10**15, TTL_MS) is not None
    with pytest.raises(InUse, match="server-7 leads"):
        older.migrate()
    assert older.tables().revision == "0002"
    older.release_lease("server-7", lease_of(older)["epoch"])
    assert older.migrate() == ("0002", newest())
    assert lease_of(older)["holder"] == ""


def test_every_commit_checks_that_the_tables_are_still_of_this_version(store: Store) -> None:
    epoch = writer(store)
    store.commit(batch(epoch, 1, job("dlc-1")))
    of_a_newer_version(store)
    writes: dict[str, Callable[[], object]] = {
        "commit": lambda: store.commit(batch(epoch, 2, job("dlc-2"))),
        "renew": lambda: store.renew_lease(HOLDER, epoch, 0, TTL_MS),
        "take": lambda: store.take_lease(HOLDER, 0, TTL_MS),
        "samples": lambda: store.put_samples(HOLDER, epoch, []),
        "forget": lambda: store.forget_samples(["q"], Span.DAY, 0),
        "delivery": lambda: store.put_delivery(r.DeliveryRow("1-w", "w", 1, 0)),
        "prune": lambda: store.prune(0, 0, 1),
        "books": lambda: store.mend_books(HOLDER, epoch, thorough=True),
        "migrate": store.migrate,
    }
    for name, write in writes.items():
        with pytest.raises(NewerTables, match="of a newer QuotaTree"):
            pytest.fail(f"{name} wrote: {write()}")
    with reading(store._engine) as connection:
        assert [row.id for row in connection.execute(select(t.JOBS.c.id))] == ["dlc-1"]
    assert lease_of(store)["epoch"] == epoch


def test_tables_of_an_older_version_are_not_written_to_either(older: Store) -> None:
    """As after a restore under a server that leads."""
    epoch = leading(older).epoch
    with pytest.raises(StoreError, match="at revision 0002"):
        older.commit(batch(epoch, 21, job("dlc-2")))


def of_a_newer_version(store: Store) -> None:
    with writing(store._engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'from-the-future'"))
