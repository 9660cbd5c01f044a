"""The store: one object for the loop that writes and for everybody who reads. Safe to use from several threads.

Reads see one moment each and never wait for the writer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, Engine, select, text

from quotatree.core import Settings
from quotatree.store import backup as backups
from quotatree.store import (
    books,
    estimating,
    form,
    lease,
    prune,
    read_rows,
    reads,
    sample_history,
    upgrade,
    usage,
)
from quotatree.store import rows as r
from quotatree.store import tables as t
from quotatree.store.database import connect, parse_url, reading, shown, writing
from quotatree.store.errors import InUse
from quotatree.store.load import Loaded, last_batch, load
from quotatree.store.pages import Page
from quotatree.store.reads import NEWEST_FIRST, HistoryFilter, JobFilter, JobSort, LedgerEntry
from quotatree.store.samples import Sample, Span
from quotatree.store.statements import upsert_all
from quotatree.store.usage import UsageFilter, UsageSum
from quotatree.store.write import delivery_values, write

T = TypeVar("T")
ALONE_MS = 15_000
"""How long a command that migrates has the lease if it is killed."""


class Store:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, url: str) -> Store:
        """The store at `sqlite:///path`, a bare path, or `postgresql://user:password@host/name`. Nothing is read yet."""
        return cls(connect(parse_url(url)))

    def close(self) -> None:
        self._engine.dispose()

    @property
    def url(self) -> str:
        """The database's URL without its password."""
        return shown(self._engine.url)

    # -- the tables ------------------------------------------------------------------------------------------

    def tables(self) -> form.Tables:
        """In which form the tables are. Raises NewerTables if it is that of a newer version."""
        found = self._read(form.tables)
        form.check_not_newer(found)
        return found

    def make_tables(self) -> None:
        """Make the tables where there are none."""
        upgrade.make_tables(self._engine)

    def migrate(
        self, holder: str = "quotatree migrate", say: upgrade.Say = lambda line: None
    ) -> tuple[str | None, str]:
        """Make the tables, or bring them up to date and mend the books; return the revisions before (None: no tables) and after.

        While no server is there, for it takes the lease. Raises InUse if a server has it.
        """
        found = self.tables()
        self.make_tables()
        if found.form is form.Form.OLDER or (found.form is form.Form.OURS and self.faults_in_books()):
            self._migrate_alone(holder, say)
        return found.revision, form.newest()

    def _migrate_alone(self, holder: str, say: upgrade.Say) -> None:
        epoch = self.take_lease(holder, _now_ms(), ALONE_MS)
        if epoch is None:
            raise InUse(
                f"{self.url}: {self.lease_holder()} leads. Stop it first; a server that died has the lease for some seconds more"
            )
        try:
            self.upgrade(holder, epoch, _now_ms, ALONE_MS, say)
            mended = self.mend_books(holder, epoch, thorough=True)
        finally:
            self.release_lease(holder, epoch)
        if mended:
            say(f"mended: {mended}")

    def upgrade(
        self, holder: str, epoch: int, clock: Callable[[], int], ttl_ms: int, say: upgrade.Say
    ) -> None:
        """Bring the tables of an older version up to date, for the holder of the lease. Raises LeaseLost for others."""
        upgrade.upgrade(self._engine, holder, epoch, clock, ttl_ms, say)

    def check(self) -> None:
        """Raise NotMigrated unless the tables are those of this version, StoreUnavailable if there is no answer."""
        with reading(self._engine) as connection:
            form.check(connection)

    def faults_in_books(self) -> books.Faults:
        """What of the stretches of use does not fit the runs; looks at every run that there was."""
        return self._read(books.faults)

    def mend_books(self, holder: str, epoch: int, *, thorough: bool = False) -> books.Faults:
        """Make the stretches of use fit, for the holder of the lease; return what did not.

        Unless `thorough`, all of them are looked at only where open ones do not fit, which is cheap to see.
        """
        if not thorough and not self._read(books.open_faults):
            return books.Faults()
        with self._writing() as connection:
            lease.hold(connection, holder, epoch)
            return books.mend(connection)

    def backup(self, path: Path, at_ms: int) -> None:
        backups.backup(self._engine, path, at_ms)

    def restore(self, path: Path, now_ms: int, *, force: bool = False) -> int:
        """Fill an empty store from a backup, with `force` any store; return when the backup was taken, in ms."""
        return backups.restore(self._engine, path, now_ms, force=force)

    # -- the one writer --------------------------------------------------------------------------------------

    def take_lease(self, holder: str, now_ms: int, ttl_ms: int) -> int | None:
        """Take the lease; return the epoch to commit with, or None while another holder has it.

        Also of tables of an older version, to migrate them. Raises NewerTables if they are those of a newer one.
        """
        with writing(self._engine) as connection:
            form.check_not_newer(form.tables(connection))
            return lease.take(connection, holder, now_ms, ttl_ms)

    def renew_lease(self, holder: str, epoch: int, now_ms: int, ttl_ms: int) -> bool:
        with writing(self._engine) as connection:
            return lease.renew(connection, holder, epoch, now_ms, ttl_ms)

    def release_lease(self, holder: str, epoch: int) -> None:
        with writing(self._engine) as connection:
            lease.release(connection, holder, epoch)

    def lease_holder(self) -> str:
        """Who has the lease, or had it last; "" if nobody did or it was given back."""
        return self._read(lease.holder)

    def load(self, settings: Settings) -> Loaded:
        with reading(self._engine) as connection:
            form.check(connection)
            return load(connection, settings)

    def commit(self, batch: r.Batch) -> None:
        """Write all of the batch or nothing. After StoreUnavailable it may be written all the same: `last_batch` tells."""
        with writing(self._engine) as connection:
            lease.fence(connection, batch.holder, batch.epoch, batch.number)
            write(connection, batch)

    def last_batch(self) -> int:
        return self._read(last_batch)

    def answers(self, keys: Sequence[tuple[str, str]]) -> tuple[r.IdempotencyRow, ...]:
        """The stored answers to requests with these (actor, key); unknown keys are left out."""
        return self._read(lambda c: reads.answers(c, keys))

    def prune(self, answers_before_ms: int, deliveries_before_ms: int, most: int) -> int:
        """Delete old answers and finished deliveries, oldest first, at most `most` of each; return how many."""
        with self._writing() as connection:
            return prune.answers(connection, answers_before_ms, most) + prune.deliveries(
                connection, deliveries_before_ms, most
            )

    # -- history ---------------------------------------------------------------------------------------------

    def jobs(
        self, asked: JobFilter, cursor: str | None = None, limit: int = 100, sort: JobSort = NEWEST_FIRST
    ) -> Page[r.JobRow]:
        return self._read(lambda c: reads.jobs(c, asked, cursor, limit, sort))

    def run_times(self, ids: Sequence[str], now_ms: int) -> dict[str, int]:
        return self._read(lambda c: reads.run_times(c, ids, now_ms))

    def jobs_by_id(self, ids: Sequence[str]) -> dict[str, r.JobRow]:
        return self._read(lambda c: reads.jobs_by_id(c, ids))

    def preemption(self, seq: int) -> LedgerEntry | None:
        return self._read(lambda c: reads.preemption(c, seq))

    def count_jobs(self, asked: JobFilter) -> int:
        return self._read(lambda c: reads.count_jobs(c, asked))

    def job(self, job_id: str) -> r.JobRow | None:
        return self._read(lambda c: reads.job(c, job_id))

    def runs(self, job_id: str) -> tuple[r.RunRow, ...]:
        return self._read(lambda c: reads.runs(c, job_id))

    def ran_before(self, until: Mapping[str, int]) -> dict[str, int]:
        """How long each job ran before a moment of its own, in milliseconds; jobs without a run before it are left out."""
        return self._read(lambda c: reads.ran_before(c, until))

    def endings(self, of: Mapping[str, int]) -> dict[str, str]:
        """How runs ended, by job. `of` has the number of the run by job; a run without a known ending is left out."""
        return self._read(lambda c: reads.endings(c, of))

    def placements(self, job_id: str) -> tuple[r.PlacementRow, ...]:
        return self._read(lambda c: reads.placements(c, job_id))

    def decisions(
        self, asked: HistoryFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[r.DecisionRow]:
        return self._read(lambda c: reads.decisions(c, asked, cursor, limit))

    def preemptions(
        self, asked: HistoryFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[LedgerEntry]:
        return self._read(lambda c: reads.preemptions(c, asked, cursor, limit))

    def events(self, after_seq: int, asked: HistoryFilter, limit: int = 100) -> tuple[r.EventRow, ...]:
        return self._read(lambda c: reads.events(c, after_seq, asked, limit))

    def audit(self, asked: HistoryFilter, cursor: str | None = None, limit: int = 100) -> Page[r.AuditRow]:
        return self._read(lambda c: reads.audit(c, asked, cursor, limit))

    def usage(self, asked: UsageFilter, by: Sequence[str]) -> list[UsageSum]:
        """GPU time that was used and lost, summed by these of `usage.KEYS`."""
        return self._read(lambda c: usage.usage(c, asked, by))

    def material(self, quotas: tuple[str, ...]) -> estimating.Material:
        """What an estimate of a start is made from, with finished jobs of these quotas."""
        return self._read(lambda c: estimating.material(c, quotas))

    def put_estimate(self, holder: str, epoch: int, row: r.EstimateRow) -> None:
        """Keep when a job was said to start. Raises LeaseLost if (holder, epoch) does not lead."""
        with self._writing() as connection:
            lease.check(connection, holder, epoch)
            estimating.put(connection, row)

    # -- the outbox of webhooks ------------------------------------------------------------------------------

    def due_deliveries(
        self, now_ms: int, limit: int, beside: Collection[str] = ()
    ) -> list[tuple[r.DeliveryRow, r.EventRow, r.WebhookRow]]:
        """Pending deliveries that are due, longest due first, each with its event and webhook; active webhooks only, and
        none of those in `beside`.
        """
        out, events, hooks = t.DELIVERIES, t.EVENTS, t.WEBHOOKS
        due = select(out).join(hooks).where(text(t.PENDING), out.c.due_ms <= now_ms, hooks.c.active)
        if beside:
            due = due.where(hooks.c.id.not_in(sorted(beside)))
        with reading(self._engine) as connection:
            rows = connection.execute(due.order_by(out.c.due_ms, out.c.id).limit(limit)).mappings().all()
            found = [read_rows.delivery_row(row) for row in rows]
            about = select(events).where(events.c.seq.in_({row.event_seq for row in found}))
            told = {row["seq"]: read_rows.event_row(row) for row in connection.execute(about).mappings()}
            to = select(hooks).where(hooks.c.id.in_({row.webhook for row in found}))
            whom = {row["id"]: read_rows.webhook_row(row) for row in connection.execute(to).mappings()}
        return [(row, told[row.event_seq], whom[row.webhook]) for row in found]

    def put_delivery(self, row: r.DeliveryRow) -> None:
        """Store a delivery after an attempt, in a transaction of its own: the outbox's thread is not the loop."""
        with self._writing() as connection:
            upsert_all(connection, t.DELIVERIES, [delivery_values(row)])

    # -- figures over time -----------------------------------------------------------------------------------

    def put_samples(self, holder: str, epoch: int, rows: Sequence[r.SampleRow]) -> None:
        """Write figures of quotas, over what is there of the same times. Raises LeaseLost if (holder, epoch) does not lead."""
        with self._writing() as connection:
            lease.check(connection, holder, epoch)
            sample_history.put(connection, rows)

    def put_samples_together(self, quotas: Sequence[str], span: Span, now_ms: int) -> list[r.SampleRow]:
        """Hours, or days, of these quotas that are over and to be stored; nothing is written yet."""
        return self._read(
            lambda c: [row for quota in quotas for row in sample_history.put_together(c, quota, span, now_ms)]
        )

    def forget_samples(self, quotas: Sequence[str], span: Span, before_ms: int) -> int:
        """Delete samples of these quotas that begin before this time; return how many."""
        with self._writing() as connection:
            return sum(sample_history.forget(connection, quota, span, before_ms) for quota in quotas)

    def samples(self, quota: str, span: Span, from_ms: int, before_ms: int) -> list[tuple[int, Sample]]:
        """Figures of a quota over time, oldest first, each with its time; times at which nobody looked are left out."""
        return self._read(lambda c: sample_history.series(c, quota, span, from_ms, before_ms))

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """A write transaction beside the loop's. Raises NotMigrated unless the tables are those of this version."""
        with writing(self._engine) as connection:
            form.check_still(connection)
            yield connection

    def _read(self, question: Callable[..., T]) -> T:
        with reading(self._engine) as connection:
            return question(connection)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
