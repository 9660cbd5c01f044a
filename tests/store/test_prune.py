"""What has served its time goes, a few rows at a time; whatever still has to be sent, and all history, stays."""

from __future__ import annotations

import threading

from quotatree.store import Store
from quotatree.store import rows as r
from quotatree.store.database import writing
from quotatree.store.write import write
from tests.store.building import batch, writer
from tests.store.test_backup import content


def test_the_oldest_answers_and_deliveries_go_first(store: Store) -> None:
    hook = r.WebhookRow("hook", None, "http://127.0.0.1:1/", "secret", (), True, 1)
    rows: list[r.Row] = [hook]
    for at_ms in range(1, 7):
        rows.append(r.IdempotencyRow("ann", f"key-{at_ms}", "f", 200, {}, at_ms))
        rows.append(r.EventRow(at_ms, at_ms, "job.started", None, None, None, {}))
        state = ("sent", "pending", "dead")[at_ms % 3]
        rows.append(r.DeliveryRow(f"d{at_ms}", "hook", at_ms, at_ms, 1, state, ""))
    store.commit(batch(writer(store), 1, *rows))

    assert store.prune(4, 0, 2) == 2
    assert [row.key for row in store.answers([("ann", f"key-{n}") for n in range(9)])] == [
        "key-3", "key-4", "key-5", "key-6",
    ]  # fmt: skip
    assert store.prune(4, 6, 2) == 1 + 2
    assert [row[0] for row in content(store)["deliveries"]] == ["d1", "d4", "d5", "d6"]
    assert store.prune(4, 6, 2) == 1
    assert store.prune(4, 6, 2) == 0
    assert [row[0] for row in content(store)["deliveries"]] == ["d1", "d4", "d6"]
    assert len(content(store)["events"]) == 6


def test_an_answer_belongs_to_who_asked(store: Store) -> None:
    row = r.IdempotencyRow("ann", "key", "f", 200, {"id": "x"}, 1)
    store.commit(batch(writer(store), 1, row))
    assert store.answers([("ann", "key"), ("bob", "key"), ("ann", "other")]) == (row,)


def test_an_answer_that_is_given_anew_while_old_ones_go_stays(store: Store) -> None:
    """A key is used again the moment its time is over: what is deleted is the old answer, never the new one."""
    lead = writer(store)
    store.commit(batch(lead, 1, r.IdempotencyRow("ann", "key", "old", 200, {}, 1)))
    pruned = threading.Thread(target=lambda: store.prune(10, 0, 5))
    with writing(store._engine) as connection:
        write(connection, batch(lead, 2, r.IdempotencyRow("ann", "key", "new", 200, {}, 99)))
        pruned.start()
        pruned.join(0.3)  # it waits for us, or has found nothing
    pruned.join()
    assert [row.fingerprint for row in store.answers([("ann", "key")])] == ["new"]
