"""The real store, with a look at whole tables for tests; by default on SQLite in a directory of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import select

from quotatree.store import read_rows
from quotatree.store import rows as r
from quotatree.store import tables as t
from quotatree.store.database import reading
from quotatree.store.store import Store
from tests.store.building import migrated_file

TABLES: dict[type, tuple[Any, Any]] = {
    r.QuotaRow: (t.QUOTAS, read_rows.quota_row),
    r.JobRow: (t.JOBS, read_rows.job_row),
    r.RunRow: (t.RUNS, read_rows.run_row),
    r.PlacementRow: (t.PLACEMENTS, read_rows.placement_row),
    r.UsageRow: (t.USAGE, read_rows.usage_row),
    r.LossRow: (t.LOSSES, lambda row: r.LossRow(**row)),
    r.DecisionRow: (t.DECISIONS, read_rows.decision_row),
    r.PreemptionRow: (t.PREEMPTIONS, read_rows.preemption_row),
    r.VictimRow: (t.VICTIMS, read_rows.victim_row),
    r.EventRow: (t.EVENTS, read_rows.event_row),
    r.AuditRow: (t.AUDIT, read_rows.audit_row),
    r.DeliveryRow: (t.DELIVERIES, read_rows.delivery_row),
    r.EstimateRow: (t.ESTIMATES, lambda row: r.EstimateRow(**row)),
}


class KeptStore(Store):
    commits = 0

    @classmethod
    def at(cls, url: str) -> KeptStore:
        """The store of a database that has its tables."""
        found = cls.open(url)
        assert isinstance(found, KeptStore)
        return found

    @classmethod
    def fresh(cls, directory: Path) -> KeptStore:
        path = directory / "store.db"
        path.write_bytes(migrated_file())
        found = cls.open(str(path))
        assert isinstance(found, KeptStore)
        return found

    def commit(self, batch: r.Batch) -> None:
        super().commit(batch)
        self.commits += 1

    def table(self, kind: type) -> list[Any]:
        """All rows of one kind, by key."""
        table, make = TABLES[kind]
        with reading(self._engine) as connection:
            rows = connection.execute(select(table).order_by(*table.primary_key)).mappings()
            return [make(row) for row in rows]
