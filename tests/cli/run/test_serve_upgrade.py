"""`serve` over a change of the tables, as processes: a backup first, a newer version that waits, an older one that ends."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from quotatree.client import Client
from quotatree.client.errors import ClientError
from quotatree.store import Store
from quotatree.store.database import connect, parse_url, reading
from quotatree.store.form import newest, tables
from tests.cli.process import Process, run
from tests.newer import REVISION, newer_version
from tests.store import postgres
from tests.store.conftest import NUMBERS
from tests.store.old import DATABASES, fill

LEASE = {"QUOTATREE_LOOP_LEASE": "2s"}


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """One database for several servers, with nothing in it."""
    if request.param == "sqlite":
        yield str(tmp_path / "shared.db")
        return
    home = request.getfixturevalue("postgres_home")
    name = f"upgrade_{next(NUMBERS)}"
    yield postgres.create(home, name)
    postgres.drop(home, name)


def until(true: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def health(server: Process) -> dict[str, Any]:
    with Client(server.url) as client:
        try:
            return dict(client.health())
        except ClientError:
            return {}


def revision(url: str) -> str | None:
    engine = connect(parse_url(url))
    try:
        with reading(engine) as connection:
            return tables(connection).revision
    finally:
        engine.dispose()


def test_an_old_database_is_backed_up_and_brought_up_to_date_with_its_jobs_running(
    tmp_path: Path, started: list[Process]
):
    data = tmp_path / "data"
    data.mkdir()
    fill("of_b97389c", f"sqlite:///{data}/quotatree.db", tmp_path)
    (data / "timer.log").write_bytes((DATABASES / "of_b97389c.timers").read_bytes())
    server = Process(data)
    started.append(server)
    until(lambda: bool(health(server).get("writable")), "it leads")
    (backup,) = data.glob("*.backup")
    said = server.said + server.end()
    for line in (
        f"the tables in sqlite:///{data}/quotatree.db are at revision 0002, this version needs {newest()}",
        f"backup: writing {backup}",
        "migrating to 0003: Figures of quotas over time",
    ):
        assert f"{line}\n" in said
    store = Store.open(str(data / "quotatree.db"))
    phases = {row.phase for row in store.jobs_by_id(JOBS).values()}
    store.close()
    assert phases == {"Running"}
    run("restore", str(backup), "--data", str(tmp_path / "back"))


JOBS = ["dlc-0tkb45cr4p", "dlc-sx6p5anr0q", "dlc-41bdxqd89b", "dlc-q7b3c78prk"]


def test_a_newer_version_waits_for_the_older_leader_then_migrates_and_no_older_one_starts_again(
    tmp_path: Path, database: str, started: list[Process]
):
    words = ("--database", database)
    older = Process(tmp_path / "one" / "data", *words, "--nodes", "1x8", env=LEASE)
    started.append(older)
    with older.client(older.token) as client:
        client.quotas.create({"id": "q", "draws": {"default": {"gpus": 8}}})
        client.workspaces.create({"id": "w", "owners": ["admin"]})
        client.workspaces.bind("w", "q")
        newer = Process(tmp_path / "two" / "data", *words, env={**LEASE, **newer_version(tmp_path)})
        started.append(newer)
        assert "leads with tables of an older version" in newer.said
        assert "an older version leads" in health(newer)["mode"]
        submitted = client.jobs.submit({"workspace": "w", "quota": "q", "groups": [{"gpus": 8}]})["id"]
    assert revision(database) == newest()
    assert older.process.poll() is None
    assert "stopped" in older.end()
    until(lambda: bool(health(newer).get("writable")), "the newer one leads")
    assert revision(database) == REVISION
    with newer.client(older.token) as client:
        assert client.jobs.get(submitted)["quota"] == "q"
    again = run("serve", *words, "--engine", "timer", "--data", str(tmp_path / "one" / "data"), status=1)
    assert f"the tables are at revision {REVISION}, of a newer QuotaTree" in again.stderr
    assert "migrating to next: What the next version keeps" in newer.end()


def test_an_older_leader_that_was_paused_while_a_newer_one_took_over_ends_clean(
    tmp_path: Path, database: str, started: list[Process]
):
    """It was stopped for longer than its lease lasts, as by a machine that was suspended."""
    words = ("--database", database)
    older = Process(tmp_path / "one" / "data", *words, "--nodes", "1x8", env=LEASE)
    started.append(older)
    older.process.send_signal(signal.SIGSTOP)
    try:
        newer = Process(tmp_path / "two" / "data", *words, env={**LEASE, **newer_version(tmp_path)})
        started.append(newer)
        until(lambda: bool(health(newer).get("writable")), "the newer one leads")
    finally:
        older.process.send_signal(signal.SIGCONT)
    said = older.process.communicate(timeout=60)[0]
    assert older.process.returncode == 1
    assert f"stopped: a newer version has taken over. The tables are at revision {REVISION}" in said
    assert "Traceback" not in said + older.log.read_text()
    assert health(newer)["writable"]


def test_two_servers_that_are_started_at_once_migrate_once(
    tmp_path: Path, database: str, started: list[Process]
):
    url = database if "://" in database else f"sqlite:///{database}"
    fill("of_b97389c", url, tmp_path)
    both = [
        Process(tmp_path / name / "data", "--database", database, "--abandon-runs", env=LEASE)
        for name in ("one", "two")
    ]
    started.extend(both)
    until(lambda: any(health(one).get("writable") for one in both), "one leads")
    until(lambda: any("standing by" in health(one).get("mode", "") for one in both), "the other stands by")
    said = [one.end() + one.said for one in both]
    assert sum("migrating to 0004" in text for text in said) == 1


def test_the_command_migrate_refuses_while_a_server_leads(
    tmp_path: Path, database: str, started: list[Process]
):
    server = Process(tmp_path / "one" / "data", "--database", database, env=LEASE)
    started.append(server)
    environment = newer_version(tmp_path)
    newer = Process.command("migrate", "--database", database, env=environment)
    assert newer.returncode == 6
    assert "leads. Stop it first" in newer.stderr
    assert revision(database) == newest()
    server.end()
    assert "to revision next" in Process.command("migrate", "--database", database, env=environment).stdout
