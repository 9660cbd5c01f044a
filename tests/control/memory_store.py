"""A store without a disk, as the loop sees it: rows by table and key. Commits all or nothing, like the real one."""

from dataclasses import replace

from quotatree.access.differences import Differences
from quotatree.access.directory import Directory
from quotatree.core.job import FINAL_PHASES
from quotatree.core.records import PoolRecord, Snapshot
from quotatree.core.state import Settings
from quotatree.store import rows as r
from quotatree.store.errors import LeaseLost
from quotatree.store.loaded import LastNumbers, Loaded

KEYS = {
    r.PoolRow: ("name",), r.NodeRow: ("name",), r.QuotaRow: ("id",), r.JobRow: ("id",), r.RunRow: ("job", "run"),
    r.PlacementRow: ("job", "run", "replica", "from_ms"), r.DecisionRow: ("seq",), r.PreemptionRow: ("seq",),
    r.VictimRow: ("preemption", "position"), r.EventRow: ("seq",), r.AuditRow: ("seq",),
    r.IdempotencyRow: ("actor", "key"), r.WebhookRow: ("id",), r.DeliveryRow: ("id",),
}  # fmt: skip


class MemoryStore:
    def __init__(self) -> None:
        self.tables: dict[type, dict] = {kind: {} for kind in KEYS}
        self.directory = Directory()
        self.commits = 0
        self._batch = 0
        self._lease: tuple[str, int, int] | None = None  # holder, epoch, until

    def table(self, kind: type) -> list:
        return list(self.tables[kind].values())

    def take_lease(self, holder: str, now_ms: int, ttl_ms: int) -> int | None:
        if self._lease is not None and self._lease[0] != holder and self._lease[2] > now_ms:
            return None
        epoch = 1 if self._lease is None else self._lease[1] + 1
        self._lease = (holder, epoch, now_ms + ttl_ms)
        return epoch

    def renew_lease(self, holder: str, epoch: int, now_ms: int, ttl_ms: int) -> bool:
        if self._lease is None or self._lease[:2] != (holder, epoch):
            return False
        self._lease = (holder, epoch, now_ms + ttl_ms)
        return True

    def release_lease(self, holder: str, epoch: int) -> None:
        if self._lease is not None and self._lease[:2] == (holder, epoch):
            self._lease = (holder, epoch, 0)

    def last_batch(self) -> int:
        return self._batch

    def commit(self, batch: r.Batch) -> None:
        if self._lease is None or self._lease[:2] != (batch.holder, batch.epoch):
            raise LeaseLost("another server has the lease")
        assert batch.number == self._batch + 1
        for row in batch.puts:
            self.tables[type(row)][tuple(getattr(row, name) for name in KEYS[type(row)])] = row
        for drop in batch.drops:
            self.tables[drop.row].pop(drop.key, None)
        if batch.directory is not None:
            self.directory = _written(self.directory, batch.directory)
        self._batch = batch.number
        self.commits += 1

    def load(self, settings: Settings) -> Loaded:
        jobs = [
            row for row in self.table(r.JobRow) if row.record.phase not in FINAL_PHASES or row.record.leaving
        ]
        last = [max((row.seq for row in self.table(kind)), default=0) for kind in SEQUENCES]
        return Loaded(
            Snapshot(
                settings,
                tuple(PoolRecord(row.name, row.mixed) for row in self.table(r.PoolRow)),
                tuple(row.record for row in self.table(r.NodeRow)),
                tuple(row.record for row in self.table(r.QuotaRow)),
                tuple(sorted((row.record for row in jobs), key=lambda record: record.id)),
            ),
            self.directory,
            tuple(jobs),
            tuple(row for row in self.table(r.RunRow) if row.ended_ms is None),
            tuple(row for row in self.table(r.PlacementRow) if row.until_ms is None),
            {
                **{("quota", row.id): row.version for row in self.table(r.QuotaRow)},
                **{("node", row.name): row.version for row in self.table(r.NodeRow)},
                **{("pool", row.name): row.version for row in self.table(r.PoolRow)},
            },
            tuple(self.table(r.WebhookRow)),
            tuple(self.table(r.IdempotencyRow)),
            LastNumbers(last[0], last[1], last[2], last[3], self._batch),
        )

    def due_deliveries(self, now_ms: int, limit: int) -> list:
        events, hooks = self.tables[r.EventRow], self.tables[r.WebhookRow]
        due = [d for d in self.table(r.DeliveryRow) if d.state == "pending" and d.due_ms <= now_ms]
        known = [d for d in due if (d.webhook,) in hooks]
        return [(d, events[d.event_seq,], hooks[d.webhook,]) for d in known[:limit]]

    def put_delivery(self, delivery: r.DeliveryRow) -> None:
        self.tables[r.DeliveryRow][delivery.id,] = delivery


SEQUENCES = (r.EventRow, r.DecisionRow, r.PreemptionRow, r.AuditRow)


def _written(directory: Directory, changes: Differences) -> Directory:
    workspaces = {k: v for k, v in directory.workspaces.items() if k not in changes.workspaces_gone}
    centres = {k: v for k, v in directory.centres.items() if k not in changes.centres_gone}
    sessions = {k: v for k, v in directory.sessions.items() if k not in changes.sessions_gone}
    return replace(
        directory,
        users={**directory.users, **{u.name: u for u in changes.users}},
        workspaces={**workspaces, **{w.id: w for w in changes.workspaces}},
        centres={**centres, **{(c.workspace, c.quota): c for c in changes.centres}},
        quota_admins=(directory.quota_admins - set(changes.quota_admins_gone)) | set(changes.quota_admins),
        tokens={**directory.tokens, **{t.id: t for t in changes.tokens}},
        sessions={**sessions, **{s.id_hash: s for s in changes.sessions}},
    )
