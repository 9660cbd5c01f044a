"""What an estimate of a start is made from: the state as it is stored, how long finished jobs ran, and how earlier
estimates came true.

Records stay the text they are: the process that estimates decodes them.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import Connection, Table, func, select, text

from quotatree.store import rows as r
from quotatree.store import tables as t
from quotatree.store.statements import upsert_all
from quotatree.store.write import estimate_values

MOST_FINISHED: Final = 5_000
"""So many of the newest jobs that are over are looked at."""
MOST_ESTIMATES: Final = 2_000
"""So many of the newest estimates are looked at for outcomes, those of other trees among them."""
MOST_OUTCOMES: Final = 400
"""So many of the newest estimates whose job has started are looked at; those of short waits are among them."""


class Finished(NamedTuple):
    owner: str
    quota: str
    module: str
    gpu_milli: int
    ran_ms: int


class Material(NamedTuple):
    """JSON of the records of pools, nodes, quotas and open jobs; the owners of these jobs by id; finished jobs.

    `outcomes`: for earlier estimates the wait that was told and the real one, newest first, in milliseconds.
    """

    pools: tuple[str, ...]
    nodes: tuple[str, ...]
    quotas: tuple[str, ...]
    jobs: tuple[str, ...]
    owners: dict[str, str]
    finished: tuple[Finished, ...]
    outcomes: tuple[tuple[int, int], ...] = ()


def material(connection: Connection, quotas: tuple[str, ...]) -> Material:
    """Everything as of one moment; finished jobs of these quotas only."""
    jobs = t.JOBS.c
    still = connection.execute(
        select(jobs.id, jobs.owner, jobs.record).where(text(t.OPEN)).order_by(jobs.id)
    ).all()
    return Material(
        pools=_records(connection, t.POOLS),
        nodes=_records(connection, t.NODES),
        quotas=_records(connection, t.QUOTAS),
        jobs=tuple(row.record for row in still),
        owners={row.id: row.owner for row in still},
        finished=_finished(connection, quotas),
        outcomes=outcomes(connection, quotas),
    )


def put(connection: Connection, row: r.EstimateRow) -> None:
    """Write an estimate, over one of the same moment; one of a job that is not stored is left out."""
    if connection.execute(select(t.JOBS.c.id).where(t.JOBS.c.id == row.job)).first():
        upsert_all(connection, t.ESTIMATES, [estimate_values(row)])


def outcomes(connection: Connection, quotas: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Waits that were told and real ones, of jobs of these quotas that have started since, the newest start first."""
    newest = select(t.ESTIMATES).order_by(t.ESTIMATES.c.asked_ms.desc()).limit(MOST_ESTIMATES).subquery()
    of, runs = newest.c, t.RUNS.c
    started = func.min(runs.started_ms)
    query = (
        select(of.likely_ms - of.asked_ms, started - of.asked_ms)
        .join(t.JOBS, t.JOBS.c.id == of.job)
        .join(t.RUNS, runs.job == of.job)
        .where(t.JOBS.c.quota.in_(quotas), runs.started_ms >= of.asked_ms)
        .group_by(of.job, of.asked_ms, of.likely_ms)
        .order_by(started.desc(), of.job, of.asked_ms)
        .limit(MOST_OUTCOMES)
    )
    return tuple((int(told), int(real)) for told, real in connection.execute(query))


def _records(connection: Connection, table: Table) -> tuple[str, ...]:
    return tuple(connection.execute(select(table.c.record).order_by(*table.primary_key)).scalars())


def _finished(connection: Connection, quotas: tuple[str, ...]) -> tuple[Finished, ...]:
    c, runs = t.JOBS.c, t.RUNS.c
    newest = (
        select(c.id, c.owner, c.quota, c.module, c.gpu_milli)
        .where(text(f"NOT {t.OPEN}"), c.first_started_ms.is_not(None), c.quota.in_(quotas))
        .order_by(c.submitted_ms.desc())
        .limit(MOST_FINISHED)
        .subquery()
    )
    of = newest.c
    ran = func.sum(runs.ended_ms - runs.started_ms)
    query = (
        select(of.owner, of.quota, of.module, of.gpu_milli, ran)
        .join(t.RUNS, runs.job == of.id)
        .where(runs.ended_ms.is_not(None))
        .group_by(of.id, of.owner, of.quota, of.module, of.gpu_milli)
    )
    return tuple(Finished(*row[:4], int(row[4])) for row in connection.execute(query))
