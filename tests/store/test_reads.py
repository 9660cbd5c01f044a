"""Pages tell everything once, in order, whatever is written meanwhile; filters keep others' work out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from quotatree.core.model.job import Phase
from quotatree.core.model.policy import Module
from quotatree.store import HistoryFilter, JobFilter, JobSort, Store
from quotatree.store import rows as r
from quotatree.store.database import reading
from quotatree.store.errors import BadCursor
from quotatree.store.pages import make_cursor
from tests.store.building import batch, job, jobs_batch, migrated_file, record, row_of, whole_job, writer


def all_pages(ask: Any, asked: Any, limit: int) -> list[Any]:
    found: list[Any] = []
    cursor = None
    while True:
        page = ask(asked, cursor, limit)
        assert len(page.items) <= limit
        found += page.items
        cursor = page.next
        if cursor is None:
            return found


@pytest.fixture
def full(store: Store) -> Store:
    """Thirty jobs in three workspaces and two quotas; several were submitted in the same millisecond."""
    rows: list[r.Row] = []
    for n in range(30):
        phase = (Phase.WAITING, Phase.RUNNING, Phase.SUCCEEDED)[n % 3]
        asked = record(
            f"j{n:02}", phase, n // 4, workspace=("lab", "ops", "ads")[n % 3 if n % 2 else n // 10],
            quota=("root", "team")[n % 2], module=(Module.DLC, Module.DSW)[n // 20],
        )  # fmt: skip
        rows.append(row_of(asked, owner=("ann", "bob")[n % 2], name=("a", "b")[n // 15]))
    store.commit(batch(writer(store), 1, *rows))
    return store


def everybody(store: Store) -> list[r.JobRow]:
    return all_pages(store.jobs, JobFilter(), 1000)


@pytest.mark.parametrize("limit", [1, 4, 7, 30, 31])
def test_pages_tell_every_job_once_newest_first(full: Store, limit: int) -> None:
    found = all_pages(full.jobs, JobFilter(), limit)
    assert [(row.record.spec.submitted_ms, row.id) for row in found] == sorted(
        ((n // 4, f"j{n:02}") for n in range(30)), reverse=True
    )


@pytest.mark.parametrize(
    ("asked", "fits"),
    [
        (JobFilter(workspaces=("lab",)), lambda row: row.workspace == "lab"),
        (JobFilter(workspaces=("lab", "ops")), lambda row: row.workspace in ("lab", "ops")),
        (JobFilter(workspaces=()), lambda row: False),
        (JobFilter(workspaces=(*(f"w{n}" for n in range(40)), "ads")), lambda row: row.workspace == "ads"),
        (JobFilter(quotas=("root",)), lambda row: row.quota == "root"),
        (JobFilter(quotas=("root", "team")), lambda row: True),
        (JobFilter(quotas=()), lambda row: False),
        (JobFilter(workspaces=("lab", "ads"), quotas=("team",)), lambda row: row.workspace in ("lab", "ads") and row.quota == "team"),
        (JobFilter(owners=("bob",), modules=("DSW",)), lambda row: row.owner == "bob" and row.record.spec.module is Module.DSW),
        (JobFilter(names=("a",)), lambda row: row.card.name == "a"),
        (JobFilter(phases=("Waiting", "Held")), lambda row: row.phase == "Waiting"),
        (JobFilter(active=True), lambda row: row.phase != "Succeeded"),
        (JobFilter(active=False, workspaces=("lab", "ops")), lambda row: row.phase == "Succeeded" and row.workspace != "ads"),
        (JobFilter(submitted_from_ms=3, submitted_before_ms=5), lambda row: 3 <= row.record.spec.submitted_ms < 5),
    ],
)  # fmt: skip
def test_filters_find_what_they_say(full: Store, asked: JobFilter, fits: Any) -> None:
    wanted = [row for row in everybody(full) if fits(row)]
    assert all_pages(full.jobs, asked, 3) == wanted
    assert all_pages(full.jobs, asked, 100) == wanted


COLUMNS = (
    "submitted_ms",
    "priority",
    "gpu_milli",
    "name",
    "owner",
    "quota",
    "phase",
    "started_ms",
    "ended_ms",
)


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("column", COLUMNS)
def test_pages_in_another_order_tell_every_job_once(full: Store, column: str, ascending: bool) -> None:
    def key(row: r.JobRow) -> tuple[Any, str]:
        of_card = {
            "name": row.card.name,
            "ended_ms": row.card.ended_ms,
            "submitted_ms": row.record.spec.submitted_ms,
        }
        value = of_card[column] if column in of_card else getattr(row, column)
        return 0 if value is None else value, row.id

    sort = JobSort(column, ascending)
    for asked in (JobFilter(), JobFilter(workspaces=("lab", "ops"), phases=("Waiting", "Running"))):
        wanted = sorted(all_pages(full.jobs, asked, 1000), key=key, reverse=not ascending)
        found = all_pages(lambda which, cursor, limit: full.jobs(which, cursor, limit, sort), asked, 4)
        assert [row.id for row in found] == [row.id for row in wanted]
        assert full.count_jobs(asked) == len(wanted)


def test_a_cursor_of_another_order_is_refused(full: Store) -> None:
    cursor = full.jobs(JobFilter(), None, 2, JobSort("priority")).next
    with pytest.raises(BadCursor):
        full.jobs(JobFilter(), cursor, 2, JobSort("gpu_milli"))


@pytest.mark.parametrize(("part", "found"), [("j0", 10), ("a", 15), ("_", 0), ("%", 0), ("j07", 1)])
def test_a_part_of_the_name_or_id_is_taken_as_it_is_written(full: Store, part: str, found: int) -> None:
    assert full.count_jobs(JobFilter(part=part)) == found


def test_a_page_is_not_disturbed_by_what_comes_in_meanwhile(full: Store) -> None:
    first = full.jobs(JobFilter(), None, 10)
    full.commit(batch(1, 2, job("new", submitted_ms=100)))
    rest = all_pages(
        lambda asked, cursor, limit: full.jobs(asked, cursor or first.next, limit), JobFilter(), 10
    )
    assert [row.id for row in (*first.items, *rest)] == [row.id for row in everybody(full) if row.id != "new"]


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "!!!", "AAAA", "ÿ", "\x00", "WyJ4Il0", "a" * 5000, make_cursor("something else", [1, "j01"])],
)
def test_a_bad_cursor_is_refused(full: Store, cursor: str) -> None:
    with pytest.raises(BadCursor):
        full.jobs(JobFilter(), cursor)


@pytest.mark.parametrize("last", [[1], [1, None], [1, [2]], [1 << 80, "x"], [True, "x"], [1.5, "x"]])
def test_a_forged_cursor_is_refused(full: Store, last: list[Any]) -> None:
    with pytest.raises(BadCursor):
        full.jobs(JobFilter(), make_cursor(JobFilter(), last))


def test_a_cursor_of_another_filter_is_refused(full: Store) -> None:
    cursor = full.jobs(JobFilter(workspaces=("lab",)), None, 2).next
    with pytest.raises(BadCursor, match="same filter"):
        full.jobs(JobFilter(workspaces=("ops",)), cursor)


@pytest.fixture
def told(store: Store) -> Store:
    rows: list[r.Row] = []
    for n in range(12):
        workspace = ("lab", "ops")[n % 2]
        rows += whole_job(n, 2 * n + 1, 3 * n + 1, workspace)
        rows.append(
            r.AuditRow(n + 1, n, ("ann", "bob")[n % 2], "job.submit", f"dlc-{n:08}", workspace, {"n": n})
        )
        rows.append(r.PreemptionRow(n + 1, n, f"dlc-{n:08}", workspace, "root", "OWN", 5, {}))
        rows.append(
            r.VictimRow(n + 1, 0, f"victim-{n}", "ads" if n == 5 else workspace, "team", 1, 1000, 5, 5)
        )
        rows.append(r.VictimRow(n + 1, 1, "always", workspace, "team", 1, 1000, 5, 5))
    rows.append(r.EventRow(100, 50, "quota.scaled", None, "root", None, {}))
    store.commit(batch(writer(store), 1, *rows))
    return store


def test_decisions(told: Store) -> None:
    whole = all_pages(told.decisions, HistoryFilter(), 5)
    assert [row.seq for row in whole] == list(range(24, 0, -1))
    lab = HistoryFilter(workspaces=("lab",))
    assert all_pages(told.decisions, lab, 5) == [row for row in whole if row.workspace == "lab"]
    both = HistoryFilter(workspaces=("lab", "ops"), from_ms=3, before_ms=9)
    assert all_pages(told.decisions, both, 5) == [row for row in whole if 3 <= row.at_ms < 9]
    one = HistoryFilter(job="dlc-00000004")
    assert [row.seq for row in all_pages(told.decisions, one, 1)] == [10, 9]
    assert all_pages(told.decisions, replace(one, workspaces=("ops",)), 5) == [], "not his to see"
    assert all_pages(told.decisions, HistoryFilter(kinds=("Evict",)), 5) == []
    assert len(all_pages(told.decisions, HistoryFilter(quotas=("root",), reasons=("FitsFree",)), 5)) == 24


def test_the_ledger_shows_who_took_and_who_lost(told: Store) -> None:
    whole = all_pages(told.preemptions, HistoryFilter(), 5)
    assert [entry.preemption.seq for entry in whole] == list(range(12, 0, -1))
    assert all([victim.position for victim in entry.victims] == [0, 1] for entry in whole)

    def seqs(**asked: Any) -> list[int]:
        return [e.preemption.seq for e in all_pages(told.preemptions, HistoryFilter(**asked), 4)]

    assert seqs(workspaces=("ads",)) == [6], "its only job was taken"
    assert seqs(workspaces=("lab",)) == [11, 9, 7, 5, 3, 1]
    assert seqs(job="victim-3") == [4]
    assert seqs(job="dlc-00000003") == [4]
    assert len(seqs(job="always")) == 12
    assert len(seqs(quotas=("team",))) == 12
    assert seqs(kinds=("SIBLINGS",)) == []


def test_events_are_told_from_a_number_on(told: Store) -> None:
    assert [row.seq for row in told.events(0, HistoryFilter(), 1000)] == [*range(1, 37), 100]
    assert [row.seq for row in told.events(34, HistoryFilter(), 2)] == [35, 36]
    assert [row.seq for row in told.events(36, HistoryFilter(), 2)] == [100]
    assert told.events(100, HistoryFilter(), 2) == ()
    assert {row.workspace for row in told.events(0, HistoryFilter(workspaces=("lab",)), 1000)} == {"lab"}
    assert told.events(0, HistoryFilter(workspaces=()), 1000) == ()
    assert [row.seq for row in told.events(0, HistoryFilter(job="dlc-00000002"), 9)] == [7, 8, 9]
    assert [row.seq for row in told.events(0, HistoryFilter(kinds=("quota.scaled",)), 9)] == [100]


def test_the_audit(told: Store) -> None:
    whole = all_pages(told.audit, HistoryFilter(), 5)
    assert [row.seq for row in whole] == list(range(12, 0, -1))
    assert all(row.actor == "ann" for row in all_pages(told.audit, HistoryFilter(actors=("ann",)), 5))
    assert [row.seq for row in all_pages(told.audit, HistoryFilter(target="dlc-00000007"), 5)] == [8]
    assert len(all_pages(told.audit, HistoryFilter(workspaces=("ops",)), 5)) == 6
    assert all_pages(told.audit, HistoryFilter(workspaces=()), 5) == []


@pytest.mark.parametrize(
    ("asked", "index"),
    [
        (JobFilter(), "jobs_by_time"),
        (JobFilter(phases=("Failed",)), "jobs_by_phase"),
        (JobFilter(phases=("Failed", "Running")), "jobs_by_phase"),
        (JobFilter(workspaces=("lab", "ops")), "jobs_by_workspace"),
        (JobFilter(workspaces=("lab",), phases=("Cancelled",)), "jobs_by_workspace_phase"),
        (JobFilter(quotas=("root",)), "jobs_by_quota"),
        (JobFilter(quotas=("root",), phases=("Waiting",)), "jobs_by_quota_phase"),
        (JobFilter(active=True), "jobs_open_by_time"),
    ],
)
def test_a_page_of_jobs_comes_in_order_from_an_index(tmp_path: Path, asked: JobFilter, index: str) -> None:
    assert looked_up(tmp_path, lambda store: store.jobs(asked)) == {index}


def test_the_history_of_a_quota_comes_from_an_index(tmp_path: Path) -> None:
    assert looked_up(tmp_path, lambda store: store.events(0, HistoryFilter(quotas=("root",)))) == {
        "events_by_quota"
    }


def looked_up(directory: Path, ask: Callable[[Store], object]) -> set[str]:
    """The indexes by which SQLite finds the rows of a question; one that it would have to sort fails."""
    (directory / "plans.db").write_bytes(migrated_file())
    store = Store.open(str(directory / "plans.db"))
    asked: list[tuple[str, Any]] = []
    listener = ("before_cursor_execute", lambda *said: asked.append((said[2], said[3])))
    event.listen(store._engine, *listener)
    ask(store)
    event.remove(store._engine, *listener)
    found = set()
    with reading(store._engine) as connection:
        for statement, values in asked:
            if not statement.startswith("SELECT"):
                continue
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            steps = [row[3] for row in plan]
            found |= {step.split("INDEX ")[1].split(" ")[0] for step in steps if "INDEX" in step}
            if not any(
                "UNION" in step for step in steps
            ):  # where a few pages are put together, these are sorted
                assert not any("TEMP B-TREE" in step for step in steps), steps
            assert not [step for step in steps if step in ("SCAN jobs", "SCAN events")]
    store.close()
    return found


def test_how_runs_ended_is_told_for_many_jobs_at_once(store: Store) -> None:
    """Of the run that is asked for, not of an earlier one; nothing where nothing is known."""
    epoch = writer(store)
    store.commit(jobs_batch(epoch, 1, 2))
    first, second = "dlc-00000000", "dlc-00000001"
    rows = (
        r.RunRow(first, 1, "regular", 0, 1, 9, "evicted", "ChildLevel"),
        r.RunRow(first, 2, "regular", 10, 11, 19, "failed", "replica 0 exited with code 3"),
        r.RunRow(second, 1, "regular", 0, 1, 9, "succeeded", ""),
    )
    store.commit(batch(epoch, 2, *rows))
    assert store.endings({first: 2, second: 1, "dlc-99999999": 1}) == {first: "replica 0 exited with code 3"}
