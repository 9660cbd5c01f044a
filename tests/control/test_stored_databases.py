"""A database that an older version wrote opens and plans as it did there, and one that two versions ruined is healed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from quotatree.control.commands import values as do
from quotatree.control.loop import Mode
from quotatree.core import JobId
from quotatree.store.rows import DecisionRow, JobRow, UsageRow
from tests.control.kept_store import KeptStore
from tests.control.server import Server
from tests.store.old import DATABASES, bring_up_to_date, fill


@pytest.fixture
def opened(url: str, tmp_path: Path) -> Iterator[Callable[[str, int], Server]]:
    """Fills a database and starts a server on it, at this time."""
    stores = []

    def open_(name: str, now_ms: int) -> Server:
        fill(name, url, tmp_path)
        timers = DATABASES / f"{name}.timers"
        if timers.exists():
            shutil.copy(timers, tmp_path / "timers")
        stores.append(KeptStore.at(url))
        return Later(tmp_path, stores[-1], now_ms)

    yield open_
    for store in stores:
        store.close()


class Later(Server):
    """A server that starts at another time than the others."""

    def __init__(self, directory: Path, store: KeptStore, now_ms: int) -> None:
        self._first_ms = now_ms
        super().__init__(directory, store)

    def boot(self) -> None:
        self.now_ms = self._first_ms
        super().boot()


def test_holds_and_guards_of_86fe075_are_kept_and_lead_to_the_same_decisions(
    opened: Callable[[str, int], Server],
) -> None:
    """P9, S10: who leaves is waited for, the guarded node stays kept, and what is decided next is what 86fe075 decided."""
    then = json.loads((DATABASES / "holds_and_guards.json").read_text(encoding="utf-8"))
    server = opened("holds_and_guards", then["now_ms"])
    assert server.mode() is Mode.LEADING
    state = server.world.state
    held = [job for job in state.jobs.values() if job.hold is not None]
    assert [(job.id, job.priority) for job in held] == [(then["decisions"][0][2], 7)]
    assert sum(bool(job.leaving) for job in state.jobs.values()) == 4
    assert state.trees[0].guard_nodes == {0}
    last = max(row.seq for row in server.store.table(DecisionRow))

    server.pass_time(45)
    for job in then["first"]:
        server.do(do.CancelJob(actor="root", job=JobId(job)))
    server.pass_time(5)
    for job in then["rest"]:
        server.do(do.CancelJob(actor="root", job=JobId(job)))
    server.pass_time(5)
    server.pass_time(700)
    decided = [row for row in server.store.table(DecisionRow) if row.seq > last]
    told = [[row.at_ms, row.kind, row.job, row.reason_code, row.body] for row in decided]
    for mine, (*_, before) in zip(told, then["decisions"], strict=True):
        mine[-1] = {name: value for name, value in mine[-1].items() if name in before}  # what was told then
    assert told == then["decisions"]


AFTER_MS = 1_795_063_000_000


def test_a_server_leads_with_a_store_that_an_overlap_of_two_versions_ruined(
    opened: Callable[[str, int], Server], capsys: pytest.CaptureFixture[str]
) -> None:
    """86fe075 did not: KeyError in open_usage, for a job that ended under an older leader had an open stretch."""
    server = opened("ruined_by_overlap", AFTER_MS)
    assert server.mode() is Mode.LEADING
    assert not server.store.faults_in_books()
    assert "books_mended" in capsys.readouterr().out
    counted = server.controller.metrics.registry.get_sample_value("quotatree_books_mended_total")
    assert counted == 5
    for row in server.store.table(JobRow):
        if row.phase in ("Running", "Waiting"):
            server.do(do.CancelJob(actor="admin", job=row.id))
    server.pass_time(60)
    assert {row.phase for row in server.store.table(JobRow)} == {"Cancelled", "Succeeded"}
    assert not server.store.faults_in_books()
    assert all(row.until_ms is not None for row in server.store.table(UsageRow))


def test_a_standby_answers_from_a_copy_of_a_ruined_store_that_nobody_has_mended_yet(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill("ruined_by_overlap", url, tmp_path)
    bring_up_to_date(url)
    store = KeptStore.at(url)
    assert store.take_lease("leader", AFTER_MS, 10**9) is not None
    standby = Later(tmp_path, store, AFTER_MS)
    assert standby.mode() is Mode.STANDBY
    assert len(standby.world.state.jobs) == 5
    assert "use_without_job" in capsys.readouterr().out
    store.close()


def test_running_jobs_of_b97389c_run_on_after_the_tables_were_brought_up_to_date(
    opened: Callable[[str, int], Server],
) -> None:
    server = opened("of_b97389c", AFTER_MS)
    assert server.mode() is Mode.LEADING
    assert {row.phase for row in server.store.table(JobRow)} == {"Running"}
    assert {row.run for row in server.store.table(JobRow)} == {1}
    assert not server.store.faults_in_books()
    assert len(server.store.table(UsageRow)) == 4
