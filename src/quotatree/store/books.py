"""Do the stretches of use fit the runs they were counted from, and what is to be done where they do not?

They do not where a server of an older version went on writing after the tables had been migrated under it: it closed runs and
began others and knew nothing of stretches. What does not fit is put together anew from the placements, which every version wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Table, and_, delete, func, insert, literal, or_, select

from quotatree.store import tables as t
from quotatree.store.stretches import Place, stretches

Run = tuple[str, int]
"""A job, and the number of its run."""
OPEN_STRETCH: Final = t.USAGE.c.until_ms.is_(None)


@dataclass(frozen=True, slots=True)
class Faults:
    """What does not fit. A run without use is over, and has no stretch; a victim without loss is one of the ledger."""

    open_runs: tuple[Run, ...] = ()
    runs_without_use: tuple[Run, ...] = ()
    victims_without_loss: int = 0

    def __bool__(self) -> bool:
        return bool(self.open_runs or self.runs_without_use or self.victims_without_loss)

    def __str__(self) -> str:
        counted = (
            (len(self.open_runs), "run(s) whose open stretches of use do not fit what they occupy"),
            (len(self.runs_without_use), "run(s) without a stretch of use"),
            (self.victims_without_loss, "victim(s) without an account of what was lost"),
        )
        return ", ".join(f"{number} {what}" for number, what in counted if number)


def open_faults(connection: Connection) -> tuple[Run, ...]:
    """Runs whose open stretches do not add up to their open placements, in order. Costs as much as there are open ones."""
    used, occupied = _open_sums(connection, t.USAGE), _open_sums(connection, t.PLACEMENTS)
    return tuple(sorted(run for run in used.keys() | occupied.keys() if used.get(run) != occupied.get(run)))


def faults(connection: Connection) -> Faults:
    """All that does not fit; looks at every run that there was."""
    runs, use, places = t.RUNS, t.USAGE, t.PLACEMENTS
    lasted = or_(places.c.until_ms.is_(None), places.c.until_ms > places.c.from_ms)
    counted = select(use.c.job).where(use.c.job == runs.c.job, use.c.run == runs.c.run).exists()
    stood = (
        select(places.c.job).where(places.c.job == runs.c.job, places.c.run == runs.c.run, lasted).exists()
    )
    without = select(runs.c.job, runs.c.run).where(~counted, stood, runs.c.ended_ms.is_not(None))
    found = connection.execute(without.order_by(runs.c.job, runs.c.run))
    open_runs = open_faults(connection)
    return Faults(
        open_runs,
        tuple(run for job, number in found if (run := (job, number)) not in open_runs),
        connection.execute(select(func.count()).select_from(t.VICTIMS).where(~_has_loss())).scalar() or 0,
    )


def mend(connection: Connection) -> Faults:
    """Make the books fit, inside the caller's transaction; return what did not."""
    found = faults(connection)
    for run in (*found.open_runs, *found.runs_without_use):
        _count_anew(connection, run)
    if found.victims_without_loss:
        connection.execute(
            insert(t.LOSSES).from_select([column.name for column in t.LOSSES.columns], _losses())
        )
    return found


def _open_sums(connection: Connection, table: Table) -> dict[Run, int]:
    columns = table.c
    sums = select(columns.job, columns.run, func.sum(columns.gpu_milli)).where(columns.until_ms.is_(None))
    return {
        (job, run): int(milli)
        for job, run, milli in connection.execute(sums.group_by(columns.job, columns.run))
    }


def _count_anew(connection: Connection, run: Run) -> None:
    """Put the stretches of a run together from its placements, from the first that is open, or missing, on."""
    use, of_run = t.USAGE.c, and_(t.USAGE.c.job == run[0], t.USAGE.c.run == run[1])
    kept = connection.execute(select(func.max(use.until_ms)).where(of_run)).scalar()
    since, begins = connection.execute(
        select(func.min(use.from_ms), func.max(use.begins)).where(of_run, OPEN_STRETCH)
    ).one()
    if since is None:
        since, begins = kept, int(kept is None)
    connection.execute(delete(t.USAGE).where(of_run, OPEN_STRETCH))
    rows = list(_rows(connection, run, since, begins))
    if rows:
        connection.execute(insert(t.USAGE), rows)


def _rows(connection: Connection, run: Run, since_ms: int | None, begins: int) -> Iterator[dict[str, Any]]:
    places, jobs, runs = t.PLACEMENTS.c, t.JOBS.c, t.RUNS.c
    stood = select(places.from_ms, places.until_ms, places.gpu_milli).where(
        places.job == run[0], places.run == run[1]
    )
    of_job = select(jobs.workspace, jobs.quota, jobs.owner, jobs.module, runs.claim)
    of_job = of_job.join_from(t.RUNS, t.JOBS, runs.job == jobs.id).where(
        runs.job == run[0], runs.run == run[1]
    )
    fixed = dict(connection.execute(of_job).mappings().one())
    fixed["claim"] = "idle" if fixed["claim"] == "idle" else "guaranteed"
    where: Iterable[Place] = [Place(*row) for row in connection.execute(stood)]
    for stretch in stretches(list(where), since_ms) if where else ():
        yield {"job": run[0], "run": run[1], **fixed, **stretch._asdict(), "begins": begins}
        begins = 0


def _has_loss() -> Any:
    losses, victims = t.LOSSES.c, t.VICTIMS.c
    of_victim = (losses.preemption == victims.preemption, losses.position == victims.position)
    return select(losses.preemption).where(*of_victim).exists()


def _losses() -> Any:
    """What the ledger tells of victims without a loss, as rows of losses; the claim of what left is not known any more."""
    victim, entry, job = t.VICTIMS.c, t.PREEMPTIONS.c, t.JOBS.c
    columns = {
        "preemption": victim.preemption, "position": victim.position, "at_ms": entry.at_ms,
        "lost_work": victim.lost_work, "preempted": literal(1), "claim": literal("guaranteed"),
        "workspace": victim.workspace, "quota": victim.quota, "owner": job.owner, "module": job.module,
        "taker_workspace": entry.workspace, "taker_quota": entry.quota, "cause": literal(""),
    }  # fmt: skip
    joined = t.VICTIMS.join(t.PREEMPTIONS, entry.seq == victim.preemption).join(t.JOBS, job.id == victim.job)
    told = select(*(columns[column.name] for column in t.LOSSES.columns))
    return told.select_from(joined).where(~_has_loss())
