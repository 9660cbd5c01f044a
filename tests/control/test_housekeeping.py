"""Old rows go only where the server leads, and again and again while there are some."""

from __future__ import annotations

from pathlib import Path

from quotatree.control.housekeeping import Housekeeping
from quotatree.control.world import ANSWERS_KEPT_MS
from quotatree.store import rows as r
from quotatree.store.errors import StoreUnavailable
from tests.control.kept_store import KeptStore
from tests.store.building import batch, writer

DAY_MS = 24 * 3_600_000


def test_answers_go_after_a_day_and_deliveries_when_they_are_told_to(tmp_path: Path):
    store = KeptStore.fresh(tmp_path)
    hook = r.WebhookRow("hook", None, "http://127.0.0.1:1/", "secret", (), True, 1)
    event = r.EventRow(1, 1, "job.started", None, None, None, {})
    sent = r.DeliveryRow("d", "hook", 1, DAY_MS, 1, "sent", "")
    answer = r.IdempotencyRow("ann", "key", "f", 200, {}, DAY_MS)
    store.commit(batch(writer(store), 1, hook, event, sent, answer))
    now_ms = DAY_MS + ANSWERS_KEPT_MS
    keeping = Housekeeping(store, lambda: True, 3 * DAY_MS, clock=lambda: now_ms)
    assert keeping.prune() == 0
    now_ms += 1
    assert keeping.prune() == 1
    assert store.answers([("ann", "key")]) == ()
    assert store.table(r.DeliveryRow) == [sent]
    now_ms = 4 * DAY_MS + 1
    assert keeping.prune() == 1
    assert store.table(r.DeliveryRow) == []
    store.close()


class Busy:
    """A store that has three times something to prune, and is away in between."""

    def __init__(self) -> None:
        self.left = 3
        self.asked = 0

    def prune(self, answers_before_ms: int, deliveries_before_ms: int, most: int) -> int:
        self.asked += 1
        if self.asked == 2:
            raise StoreUnavailable("away")
        self.left = max(0, self.left - 1)
        return self.left


def test_it_goes_on_while_there_is_something_and_only_where_it_leads(monkeypatch):
    monkeypatch.setattr("quotatree.control.housekeeping.EVERY_SECONDS", 0.001)
    monkeypatch.setattr("quotatree.control.housekeeping.PAUSE_SECONDS", 0.001)
    store = Busy()
    seen: list[int] = []  # how often the store had been asked, at each look

    def leads() -> bool:
        seen.append(store.asked)
        return len(seen) > 3

    keeping = Housekeeping(store, leads, DAY_MS)
    keeping.start()
    while store.left:
        keeping._thread.join(0.001)
    keeping.stop()
    assert seen[3] == 0, "it asked although it did not lead"
    assert store.asked >= 4
