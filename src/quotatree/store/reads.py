"""Questions to the history: which jobs, what was decided, who took from whom, what happened, who did it.

Every filter has `workspaces`: None for a reader who may see all, else those they may see. An empty tuple finds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Select,
    Table,
    cast,
    func,
    or_,
    select,
    text,
    tuple_,
    type_coerce,
)

from quotatree.store import read_rows as make
from quotatree.store import rows as r
from quotatree.store import tables as t
from quotatree.store.pages import MOST, Page, by_each, fetch

Names = tuple[str, ...] | None
SORT_KEY: Final = "sort_key"


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs to list; None: any. `active`: True for jobs that are not finished or still leaving, False for others."""

    workspaces: Names = None
    quotas: Names = None
    owners: Names = None
    names: Names = None
    modules: Names = None
    phases: Names = None
    priorities: tuple[int, ...] | None = None
    part: str | None = None
    """A part of the name or of the id."""
    active: bool | None = None
    submitted_from_ms: int | None = None
    submitted_before_ms: int | None = None


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which decisions, preemptions, events or audit entries to list; None: any. A list ignores what it has no column for."""

    workspaces: Names = None
    quotas: Names = None
    job: str | None = None
    kinds: Names = None
    reasons: Names = None
    actors: Names = None
    target: str | None = None
    from_ms: int | None = None
    before_ms: int | None = None


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One preemption with its victims (P13)."""

    preemption: r.PreemptionRow
    victims: tuple[r.VictimRow, ...]


BEGAN_TO_WAIT: Final = "queued_ms"
"""To list jobs by when they last began to wait, which no column has."""


class JobSort(NamedTuple):
    """By which column to list jobs, and in which direction. Equal ones stand in the order of their ids."""

    column: str = "submitted_ms"
    ascending: bool = False


NEWEST_FIRST: Final = JobSort()


def jobs(
    connection: Connection, asked: JobFilter, cursor: str | None, limit: int, sort: JobSort = NEWEST_FIRST
) -> Page[r.JobRow]:
    """A page of jobs, without another order newest first by submit time."""
    c = t.JOBS.c
    page = (cursor, limit, sort.ascending)
    if sort.column == NEWEST_FIRST.column:
        return fetch(
            connection, _jobs(asked), (c.submitted_ms, c.id), (asked, sort), *page, make=make.job_row
        )
    # Only what the order needs is sorted; records are fetched for one page. No index has these orders.
    key = (_began_to_wait(connection) if sort.column == BEGAN_TO_WAIT else _known(c[sort.column])).label(
        SORT_KEY
    )
    slim = [branch.with_only_columns(key, c.id) for branch in _jobs(asked)]
    found = fetch(connection, slim, (key, c.id), (asked, sort), *page, make=lambda row: str(row["id"]))
    rows = connection.execute(select(t.JOBS).where(c.id.in_(found.items))).mappings()
    by_id = {row["id"]: make.job_row(row) for row in rows}
    return Page(tuple(by_id[name] for name in found.items if name in by_id), found.next)


def _known(column: Column[Any]) -> ColumnElement[Any]:
    return func.coalesce(column, 0) if column.nullable else column


def _began_to_wait(connection: Connection) -> ColumnElement[int]:
    """When each job last began to wait: a part of its record, which only PostgreSQL needs to be told is JSON."""
    on_postgresql = connection.dialect.name == "postgresql"
    record = cast(t.JOBS.c.record, JSON) if on_postgresql else type_coerce(t.JOBS.c.record, JSON)
    return cast(record[BEGAN_TO_WAIT].as_string(), BigInteger)


def count_jobs(connection: Connection, asked: JobFilter) -> int:
    """How many jobs a list would have on all its pages."""
    parts = [
        select(func.count()).select_from(branch.with_only_columns(t.JOBS.c.id).subquery())
        for branch in _jobs(asked)
    ]
    return sum(connection.execute(part).scalar() or 0 for part in parts)


def _jobs(asked: JobFilter) -> list[Select[Any]]:
    """Queries whose rows together are the jobs that are asked for, each job once."""
    c = t.JOBS.c
    where = ("quota", asked.quotas) if asked.workspaces is None else ("workspace", asked.workspaces)
    found = []
    for branch in by_each(t.JOBS, where, ("phase", asked.phases)) or [_nothing(t.JOBS)]:
        branch = _among(
            branch, (c.quota, asked.quotas), (c.owner, asked.owners), (c.name, asked.names), (c.module, asked.modules)
        )  # fmt: skip
        if asked.active is not None:
            branch = branch.where(text(t.OPEN if asked.active else f"NOT {t.OPEN}"))
        if asked.priorities is not None:
            branch = branch.where(c.priority.in_(asked.priorities))
        if asked.part is not None:
            branch = branch.where(
                or_(c.name.contains(asked.part, autoescape=True), c.id.contains(asked.part, autoescape=True))
            )
        found.append(_between(branch, c.submitted_ms, asked.submitted_from_ms, asked.submitted_before_ms))
    return found


def job(connection: Connection, job_id: str) -> r.JobRow | None:
    row = connection.execute(select(t.JOBS).where(t.JOBS.c.id == job_id)).mappings().first()
    return None if row is None else make.job_row(row)


def jobs_by_id(connection: Connection, ids: Sequence[str]) -> dict[str, r.JobRow]:
    """The jobs with these ids; those that are not there are left out."""
    found: dict[str, r.JobRow] = {}
    for at in range(0, len(ids), MOST):
        query = select(t.JOBS).where(t.JOBS.c.id.in_(ids[at : at + MOST]))
        found |= {row["id"]: make.job_row(row) for row in connection.execute(query).mappings()}
    return found


def runs(connection: Connection, job_id: str) -> tuple[r.RunRow, ...]:
    query = select(t.RUNS).where(t.RUNS.c.job == job_id).order_by(t.RUNS.c.run)
    return tuple(make.run_row(row) for row in connection.execute(query).mappings())


def run_times(connection: Connection, ids: Sequence[str], now_ms: int) -> dict[str, int]:
    """How long each job ran in all its runs, in milliseconds, up to now; jobs without a run are left out."""
    c = t.RUNS.c
    ran = func.sum(func.coalesce(c.ended_ms, now_ms) - c.started_ms)
    rows = connection.execute(select(c.job, ran).where(c.job.in_(ids)).group_by(c.job))
    return {job: int(ran_ms) for job, ran_ms in rows}


def ran_before(connection: Connection, until: Mapping[str, int]) -> dict[str, int]:
    """How long each job ran before a moment of its own, in milliseconds; jobs without a run before it are left out."""
    c, found = t.RUNS.c, dict[str, int]()
    rows = connection.execute(select(c.job, c.started_ms, c.ended_ms).where(c.job.in_(list(until))))
    for job, started_ms, ended_ms in rows:
        ran_ms = min(until[job], until[job] if ended_ms is None else ended_ms) - started_ms
        if ran_ms > 0:
            found[job] = found.get(job, 0) + ran_ms
    return found


def endings(connection: Connection, of: Mapping[str, int]) -> dict[str, str]:
    """How runs ended, by job. `of` has the number of the run by job; a run without a known ending is left out."""
    c = t.RUNS.c
    rows = connection.execute(select(c.job, c.run, c.detail).where(c.job.in_(list(of)))).all()
    return {job: detail for job, run, detail in rows if run == of[job] and detail}


def placements(connection: Connection, job_id: str) -> tuple[r.PlacementRow, ...]:
    table = t.PLACEMENTS
    query = select(table).where(table.c.job == job_id).order_by(*table.primary_key)
    return tuple(make.placement_row(row) for row in connection.execute(query).mappings())


def decisions(
    connection: Connection, asked: HistoryFilter, cursor: str | None, limit: int
) -> Page[r.DecisionRow]:
    c = t.DECISIONS.c
    found = []
    for branch in _history(t.DECISIONS, asked, "job"):
        branch = _among(branch, (c.kind, asked.kinds), (c.reason_code, asked.reasons))
        found.append(_between(branch, c.at_ms, asked.from_ms, asked.before_ms))
    return fetch(
        connection,
        found,
        (c.seq,),
        asked=("decisions", asked),
        cursor=cursor,
        limit=limit,
        make=make.decision_row,
    )


def preemptions(
    connection: Connection, asked: HistoryFilter, cursor: str | None, limit: int
) -> Page[LedgerEntry]:
    """A page of the ledger: preemptions whose preemptor or a victim is of these workspaces and quotas."""
    c, victims = t.PREEMPTIONS.c, t.VICTIMS
    query = select(t.PREEMPTIONS)
    for column, values in (("workspace", asked.workspaces), ("quota", asked.quotas)):
        if values is not None:
            lost = select(victims.c.preemption).where(victims.c[column].in_(values))
            query = query.where(or_(c[column].in_(values), c.seq.in_(lost)))
    if asked.job is not None:
        lost = select(victims.c.preemption).where(victims.c.job == asked.job)
        query = query.where(or_(c.preemptor == asked.job, c.seq.in_(lost)))
    query = _between(_among(query, (c.step, asked.kinds)), c.at_ms, asked.from_ms, asked.before_ms)
    page = fetch(
        connection,
        [query],
        (c.seq,),
        asked=("preemptions", asked),
        cursor=cursor,
        limit=limit,
        make=make.preemption_row,
    )
    return Page(_with_victims(connection, page.items), page.next)


def preemption(connection: Connection, seq: int) -> LedgerEntry | None:
    row = connection.execute(select(t.PREEMPTIONS).where(t.PREEMPTIONS.c.seq == seq)).mappings().first()
    return None if row is None else _with_victims(connection, (make.preemption_row(row),))[0]


def _with_victims(connection: Connection, found: Sequence[r.PreemptionRow]) -> tuple[LedgerEntry, ...]:
    victims = t.VICTIMS
    taken: dict[int, list[r.VictimRow]] = {row.seq: [] for row in found}
    of_page = select(victims).where(victims.c.preemption.in_(list(taken))).order_by(*victims.primary_key)
    for row in connection.execute(of_page).mappings():
        taken[row["preemption"]].append(make.victim_row(row))
    return tuple(LedgerEntry(row, tuple(taken[row.seq])) for row in found)


def events(
    connection: Connection, after_seq: int, asked: HistoryFilter, limit: int
) -> tuple[r.EventRow, ...]:
    """Events with numbers above `after_seq`, oldest first: what a stream that was cut off has missed."""
    c = t.EVENTS.c
    query = _among(
        select(t.EVENTS).where(c.seq > after_seq), (c.workspace, asked.workspaces), (c.quota, asked.quotas),
        (c.kind, asked.kinds),
    )  # fmt: skip
    if asked.job is not None:
        query = query.where(c.job == asked.job)
    query = _between(query, c.at_ms, asked.from_ms, asked.before_ms).order_by(c.seq).limit(min(limit, MOST))
    return tuple(make.event_row(row) for row in connection.execute(query).mappings())


def audit(connection: Connection, asked: HistoryFilter, cursor: str | None, limit: int) -> Page[r.AuditRow]:
    c = t.AUDIT.c
    found = []
    for branch in by_each(t.AUDIT, ("workspace", asked.workspaces)) or [_nothing(t.AUDIT)]:
        branch = _among(branch, (c.action, asked.kinds), (c.actor, asked.actors))
        if asked.target is not None:
            branch = branch.where(c.target == asked.target)
        found.append(_between(branch, c.at_ms, asked.from_ms, asked.before_ms))
    return fetch(
        connection, found, (c.seq,), asked=("audit", asked), cursor=cursor, limit=limit, make=make.audit_row
    )


def answers(connection: Connection, keys: Sequence[tuple[str, str]]) -> tuple[r.IdempotencyRow, ...]:
    c = t.IDEMPOTENCY.c
    query = select(t.IDEMPOTENCY).where(tuple_(c.actor, c.key).in_(keys))
    return tuple(make.answer_row(row) for row in connection.execute(query).mappings())


def _history(table: Table, asked: HistoryFilter, job_column: str) -> list[Select[Any]]:
    if asked.job is not None:
        branches = [select(table).where(table.c[job_column] == asked.job)]
        return [
            _among(one, (table.c.workspace, asked.workspaces), (table.c.quota, asked.quotas))
            for one in branches
        ]
    if asked.workspaces is not None:
        branches = by_each(table, ("workspace", asked.workspaces)) or [_nothing(table)]
        return [_among(one, (table.c.quota, asked.quotas)) for one in branches]
    return by_each(table, ("quota", asked.quotas)) or [_nothing(table)]


def _nothing(table: Table) -> Select[Any]:
    return select(table).where(text("1 = 0"))


def _among(query: Select[Any], *wanted: tuple[Any, Sequence[str] | None]) -> Select[Any]:
    for column, values in wanted:
        if values is not None:
            query = query.where(column == values[0] if len(values) == 1 else column.in_(values))
    return query


def _between(query: Select[Any], column: Any, from_ms: int | None, before_ms: int | None) -> Select[Any]:
    if from_ms is not None:
        query = query.where(column >= from_ms)
    if before_ms is not None:
        query = query.where(column < before_ms)
    return query
