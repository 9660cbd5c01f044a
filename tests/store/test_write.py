"""What was committed is there, whole; what was not has left nothing (A6, A7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from quotatree.codec import decode, encode
from quotatree.core.decisions import Preemption, VictimCost
from quotatree.core.model.job import JobId
from quotatree.core.model.resources import Resources
from quotatree.core.model.unit import UnitKind
from quotatree.core.reasons import Step
from quotatree.core.state import Settings
from quotatree.store import HistoryFilter, Store
from quotatree.store import rows as r
from quotatree.store.errors import StoreConflict
from tests.store.building import batch, jobs_batch, record, row_of, whole_job, writer


def test_every_row_comes_back_as_it_was_written(store: Store) -> None:
    epoch = writer(store)
    victim = VictimCost(JobId("j2"), UnitKind.CORE, (0,), "root", 3, 10, 1 << 70, Resources(1000))
    ledger = Preemption(JobId("j1"), Step.OWN, (victim,), (), 1 << 70, 5, 3, ())
    rows: list[r.Row] = [
        r.WebhookRow("w1", None, "https://example.org", "s3cret", ("job.started",), True, 3),
        r.WebhookRow("w2", "lab", "https://example.org", "s3cret", (), False, 1),
        *whole_job(7, 1, 1),
        r.PreemptionRow(1, 5, "j1", "lab", "root", "OWN", 1 << 70, encode(ledger)),
        r.VictimRow(1, 0, "j2", "lab", "root", 3, 1000, 10, 1 << 70),
        r.AuditRow(1, 5, "ann", "job.submit", "j1", "lab", {"quota": "root", "ünï": "\u0000"}),
        r.IdempotencyRow("ann", "key-1", "abc", 201, {"job": "j1"}, 5),
        r.DeliveryRow("1-w1", "w1", 1, 10, 0, "pending", ""),
        r.DeliveryRow("1-w2", "w2", 1, 10, 0, "pending", ""),
    ]
    store.commit(batch(epoch, 1, *rows))
    loaded = store.load(Settings())
    written = {type(row): row for row in reversed(rows)}
    assert loaded.jobs == (written[r.JobRow],)
    assert loaded.runs == (written[r.RunRow],)
    assert loaded.placements == (written[r.PlacementRow],)
    assert loaded.webhooks == tuple(rows[:2])
    assert loaded.answers == (written[r.IdempotencyRow],)
    counted = loaded.counters
    assert (counted.event, counted.decision, counted.preemption, counted.audit, counted.batch) == (
        3,
        2,
        1,
        1,
        1,
    )
    assert store.events(0, HistoryFilter())[0] == written[r.EventRow]
    assert store.decisions(HistoryFilter()).items[-1] == written[r.DecisionRow]
    assert store.audit(HistoryFilter()).items == (written[r.AuditRow],)
    entry = store.preemptions(HistoryFilter()).items[0]
    assert decode(Preemption, entry.preemption.body) == ledger
    assert entry.preemption.cost == entry.victims[0].cost == (1 << 63) - 1
    assert store.due_deliveries(9, 5) == []
    assert store.due_deliveries(10, 5) == [(rows[-2], written[r.EventRow], rows[0])]
    store.put_delivery(r.DeliveryRow("1-w1", "w1", 1, 10, 1, "sent", ""))
    assert store.due_deliveries(10, 5) == []
    store.commit(batch(epoch, 2, drops=(r.Drop(r.WebhookRow, ("w1",)), r.Drop(r.WebhookRow, ("w2",)))))
    assert store.load(Settings()).webhooks == ()


@pytest.mark.parametrize(
    "bad",
    [
        r.EventRow(3, 0, "again", None, None, None, {}),
        r.RunRow("nobody", 1, "regular", 0, None, None, None, ""),
        row_of(record("odd"), name="lone \ud800 surrogate"),
        row_of(replace(record("huge"), priority=1 << 70)),
    ],
    ids=["a number twice", "a run of no job", "no text", "no number"],
)
def test_a_commit_that_fails_leaves_nothing(store: Store, bad: Any) -> None:
    epoch = writer(store)
    store.commit(jobs_batch(epoch, 1, 1))
    before = store.load(Settings())
    with pytest.raises(StoreConflict):
        store.commit(batch(epoch, 2, *whole_job(50, 50, 50), bad))
    assert store.load(Settings()) == before
    assert store.job("dlc-00000050") is None
    store.commit(jobs_batch(epoch, 2, 1))  # the number is still free, and the connection works
    assert store.last_batch() == 2


def test_a_batch_must_follow_the_last_one(store: Store) -> None:
    epoch = writer(store)
    for number in (0, 2):
        with pytest.raises(StoreConflict, match="does not follow"):
            store.commit(batch(epoch, number))
    store.commit(batch(epoch, 1))
    with pytest.raises(StoreConflict, match="does not follow"):
        store.commit(batch(epoch, 1))
