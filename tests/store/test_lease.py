"""One writer at a time (A6)."""

from __future__ import annotations

import pytest

from quotatree.store import Store
from quotatree.store.errors import LeaseLost
from tests.store.building import HOLDER, HOUR_MS, batch, writer


def test_one_writer_at_a_time(store: Store, url: str) -> None:
    other = Store.open(url)
    epoch = writer(store)
    assert other.take_lease("server-2", HOUR_MS, HOUR_MS) is None
    assert store.renew_lease(HOLDER, epoch, 2 * HOUR_MS, HOUR_MS)
    assert other.take_lease("server-2", 2 * HOUR_MS, HOUR_MS) is None
    new = other.take_lease("server-2", 4 * HOUR_MS, HOUR_MS)
    assert new == epoch + 1
    assert not store.renew_lease(HOLDER, epoch, 4 * HOUR_MS, HOUR_MS)
    with pytest.raises(LeaseLost, match="server-2"):
        store.commit(batch(epoch, 1))
    store.release_lease(HOLDER, epoch)  # what one does not hold one cannot release
    assert store.take_lease(HOLDER, 4 * HOUR_MS, HOUR_MS) is None
    other.release_lease("server-2", new)
    assert store.take_lease(HOLDER, 4 * HOUR_MS, HOUR_MS) == new + 1
    other.close()


def test_the_same_server_after_a_crash_takes_its_lease_back_as_a_new_epoch(store: Store) -> None:
    epoch = writer(store)
    assert writer(store) == epoch + 1
    with pytest.raises(LeaseLost):
        store.commit(batch(epoch, 1))
