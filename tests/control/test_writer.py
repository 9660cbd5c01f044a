"""May this server write, and in which form? Nothing is migrated under a server that leads, and none writes to newer tables."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from quotatree.control.errors import Unavailable
from quotatree.control.loop import Controller, LoopSettings, Mode
from quotatree.engines.timer import TimerEngine
from quotatree.store.database import writing
from quotatree.store.errors import NewerTables
from quotatree.store.form import Form
from tests.control.kept_store import KeptStore
from tests.control.server import Server, submission
from tests.store.old import fill

NOW_MS = 1_795_070_000_000
LEASE_MS = 15_000


class Clock:
    def __init__(self) -> None:
        self.now_ms = NOW_MS

    def __call__(self) -> int:
        return self.now_ms


@pytest.fixture
def older(url: str, tmp_path: Path) -> Iterator[KeptStore]:
    """What b97389c wrote, with jobs that run."""
    fill("of_b97389c", url, tmp_path)
    store = KeptStore.at(url)
    yield store
    store.close()


def controller(store: Any, name: str, clock: Callable[[], int] | None = None, **more: Any) -> Controller:
    engine = TimerEngine(threaded=False)
    if clock is not None:
        more["clock"] = clock
    return Controller(store, engine, name, settings=LoopSettings(lease_ms=LEASE_MS), **more)


def mode(server: Controller) -> Mode:
    return server.health.mode


def commits_as_before(store: KeptStore, holder: str, epoch: int) -> bool:
    """Whether a leader of an older version could commit now: it looks at the lease, and at nothing else."""
    fence = text("UPDATE lease SET batch = batch + 1 WHERE holder = :holder AND epoch = :epoch")
    with writing(store._engine) as connection:
        return connection.execute(fence, {"holder": holder, "epoch": epoch}).rowcount == 1


def test_a_newer_version_waits_while_an_older_one_leads_and_says_so(older: KeptStore) -> None:
    clock = Clock()
    epoch = older.take_lease("old", NOW_MS, LEASE_MS)
    assert epoch is not None
    said: list[str] = []
    newer = controller(older, "new", clock, say=said.append)
    newer.step()
    assert (newer.health.mode, newer.health.detail) == (Mode.WAITS_FOR_OLDER, "old leads")
    assert not newer.health.writable
    refused = newer.call(submission())
    newer.step()
    with pytest.raises(Unavailable, match=r"an older version leads.*write to old"):
        refused.result(0)
    assert older.tables().revision == "0002"
    assert commits_as_before(older, "old", epoch)

    older.release_lease("old", epoch)
    clock.now_ms += LEASE_MS // 2
    newer.step()
    assert newer.health.mode is Mode.LEADING
    assert older.tables().form is Form.OURS
    assert any("migrating to 0004" in line for line in said)
    newer.stop()


def test_an_older_leader_that_wakes_up_after_the_migration_writes_nothing(older: KeptStore) -> None:
    """It was paused, its lease ended: what keeps it out is the lease, the only thing that it looks at."""
    clock = Clock()
    epoch = older.take_lease("old", NOW_MS, LEASE_MS)
    assert epoch is not None
    clock.now_ms += LEASE_MS + 1
    newer = controller(older, "new", clock)
    newer.step()
    assert newer.health.mode is Mode.LEADING
    assert not commits_as_before(older, "old", epoch)
    assert not older.faults_in_books()
    newer.stop()


def test_two_new_servers_that_start_at_once_migrate_once(older: KeptStore, url: str) -> None:
    said: list[str] = []
    stores = [KeptStore.at(url), KeptStore.at(url)]
    servers = [
        controller(store, f"new-{number}", say=said.append, clock=Clock())
        for number, store in enumerate(stores)
    ]
    both = threading.Barrier(2)

    def start(server: Controller) -> None:
        both.wait()
        server.step()

    threads = [threading.Thread(target=start, args=[server]) for server in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum("migrating to 0003" in line for line in said) == 1
    modes = {server.health.mode for server in servers}
    assert Mode.LEADING in modes
    assert modes - {Mode.LEADING} <= {Mode.STANDBY, Mode.WAITS_FOR_OLDER}
    for server in servers:
        server.stop()
    for store in stores:
        store.close()


def test_two_servers_that_start_at_once_on_an_empty_database_make_its_tables_once(tmp_path: Path) -> None:
    path = str(tmp_path / "new.db")
    stores = [KeptStore.at(path), KeptStore.at(path)]
    servers = [controller(store, f"new-{number}", Clock()) for number, store in enumerate(stores)]
    for server in servers:
        server.step()
    assert [server.health.mode for server in servers] == [Mode.LEADING, Mode.STANDBY]
    for server, store in zip(servers, stores, strict=True):
        server.stop()
        store.close()


def test_while_the_tables_are_brought_up_to_date_requests_are_refused_at_once(older: KeptStore) -> None:
    """The loop's thread hears nobody then, for a minute if there is much."""
    answers: list[Future[Any]] = []
    modes: list[Mode] = []

    def say(line: str) -> None:
        modes.append(server.health.mode)
        answers.extend((server.call(submission()), server.ask(lambda world, _: len(world.cards))))

    server = controller(older, "new", Clock(), say=say)
    early = server.call(submission())
    server.step()
    assert set(modes) == {Mode.MIGRATING}
    for answer in (early, *answers):
        with pytest.raises(Unavailable, match="brought up to date"):
            answer.result(0)
    assert server.health.mode is Mode.LEADING
    server.stop()


class Robbed:
    """A store whose lease somebody takes right before the tables are migrated."""

    def __init__(self, store: KeptStore) -> None:
        self._store = store

    def upgrade(self, *given: Any) -> None:
        assert self._store.take_lease("rival", NOW_MS + 2 * LEASE_MS, LEASE_MS) is not None
        self._store.upgrade(*given)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_a_server_that_loses_the_lease_before_it_migrates_stands_by(older: KeptStore) -> None:
    server = controller(Robbed(older), "new", Clock())
    server.step()
    assert server.health.mode is Mode.STANDBY
    assert older.tables().revision == "0002"
    server.stop()


def test_a_migration_whose_connection_is_cut_changes_nothing_and_is_tried_again(
    older: KeptStore, url: str
) -> None:
    """PostgreSQL is restarted in the middle; before the next try another server takes the lease."""
    if not url.startswith("postgresql"):
        pytest.skip("SQLite has no connection to be cut")
    clock, said = Clock(), list[str]()

    def say(line: str) -> None:
        said.append(line)
        if line.startswith("migrating to 0004") and len(said) < 6:
            with psycopg.connect(url, autocommit=True) as admin:
                admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )

    server = controller(older, "new", clock, say=say)
    server.step()
    assert mode(server) is Mode.STORE_AWAY
    assert said[-1].startswith("the tables stay as they were: ")
    assert older.tables().revision == "0002"
    rival = older.take_lease("rival", NOW_MS + LEASE_MS + 1, LEASE_MS)
    assert rival is not None
    clock.now_ms += 2 * LEASE_MS
    server.step()
    assert mode(server) is Mode.WAITS_FOR_OLDER
    older.release_lease("rival", rival)
    clock.now_ms += LEASE_MS
    server.step()
    assert mode(server) is Mode.LEADING
    assert older.tables().form is Form.OURS
    server.stop()


def test_a_leader_that_finds_a_newer_version_stops_clean(
    kept: KeptStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is written, what waits is answered, the lease is given back at once; its jobs go on running."""
    told: list[str] = []
    server = Server(tmp_path, kept).furnish()
    server.controller._tell_overtaken = lambda: told.append("overtaken")
    running = server.submit(seconds=None)
    migrated_by_a_newer_version(kept)
    waiting = server.controller.call(submission())
    server.controller.step()
    with pytest.raises(Unavailable):
        waiting.result(0)
    assert server.mode() is Mode.STOPPED
    assert "of a newer QuotaTree" in server.controller.overtaken
    assert told == ["overtaken"]
    server.controller.stop()
    assert kept.lease_holder() == ""
    assert server.phase(running) == "Running"
    assert "Traceback" not in capsys.readouterr().out


def test_a_leader_with_nothing_to_do_finds_it_when_it_renews_its_lease(
    kept: KeptStore, tmp_path: Path
) -> None:
    server = Server(tmp_path, kept).furnish()
    migrated_by_a_newer_version(kept)
    server.pass_time(6)
    assert server.controller.overtaken
    server.controller.stop()


def test_a_standby_of_an_older_version_ends_too(kept: KeptStore, tmp_path: Path) -> None:
    clock = Clock()
    assert kept.take_lease("leader", NOW_MS, LEASE_MS) is not None
    standby = controller(kept, "standby", clock)
    standby.step()
    assert standby.health.mode is Mode.STANDBY
    migrated_by_a_newer_version(kept)
    clock.now_ms += LEASE_MS // 2
    standby.step()
    assert standby.overtaken
    standby.stop()


def test_a_loop_that_was_overtaken_ends_by_itself(kept: KeptStore) -> None:
    ended = threading.Event()
    migrated_by_a_newer_version(kept)
    server = controller(kept, "one", overtaken=ended.set)
    server.start()
    assert ended.wait(30)
    server._thread.join(30)
    assert not server._thread.is_alive()
    server.stop()


def migrated_by_a_newer_version(store: KeptStore) -> None:
    with writing(store._engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'from-the-future'"))
    with pytest.raises(NewerTables):
        store.tables()
