"""What an estimate of a start is made from: the state as it is stored, and how long finished jobs ran.

Records stay the text they are: whoever estimates decodes them, in a process of its own.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import Connection, Table, func, select, text

from quotatree.store import tables as t

MOST_FINISHED: Final = 5_000
"""So many of the newest jobs that are over are looked at."""


class Finished(NamedTuple):
    owner: str
    quota: str
    module: str
    gpu_milli: int
    ran_ms: int


class Material(NamedTuple):
    """JSON of the records of pools, nodes, quotas and open jobs; the owners of these jobs by id; finished jobs."""

    pools: tuple[str, ...]
    nodes: tuple[str, ...]
    quotas: tuple[str, ...]
    jobs: tuple[str, ...]
    owners: dict[str, str]
    finished: tuple[Finished, ...]


def material(connection: Connection, quotas: tuple[str, ...]) -> Material:
    """Everything as of one moment; finished jobs of these quotas only."""
    jobs = t.JOBS.c
    still = connection.execute(
        select(jobs.id, jobs.owner, jobs.record).where(text(t.OPEN)).order_by(jobs.id)
    ).all()
    return Material(
        _records(connection, t.POOLS),
        _records(connection, t.NODES),
        _records(connection, t.QUOTAS),
        tuple(row.record for row in still),
        {row.id: row.owner for row in still},
        _finished(connection, quotas),
    )


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
