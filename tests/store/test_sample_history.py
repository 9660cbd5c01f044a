"""Figures over time on both databases: written once however often they are told, put together, forgotten, gone with their quota."""

from __future__ import annotations

from pathlib import Path

import pytest

from quotatree.store import Store
from quotatree.store import rows as r
from quotatree.store.errors import LeaseLost
from quotatree.store.samples import Amounts, Sample, Span, together
from tests.store.building import HOLDER, batch, writer
from tests.store.stored_rows import QUOTA_ROWS

DAY, HOUR, MINUTE = Span.DAY, Span.HOUR, Span.MINUTE
START = 20_000 * DAY
FAR = START + 1000 * DAY


def sample(used: int) -> Sample:
    return Sample.of_minute(
        (used, 0, 0), (Amounts.of_minute(100, used, used, 0, 0, 0, 0, 0, 0, 0), None, None)
    )


def minute(number: int, used: int, quota: str = "team-a") -> r.SampleRow:
    return r.SampleRow(quota, MINUTE, START + number * MINUTE, sample(used))


@pytest.fixture
def epoch(store: Store) -> int:
    found = writer(store)
    store.commit(batch(found, 1, *QUOTA_ROWS))
    return found


def put_together(store: Store, epoch: int, now_ms: int) -> None:
    for span in (HOUR, DAY):
        store.put_samples(HOLDER, epoch, store.put_samples_together(["root", "team-a"], span, now_ms))


def test_a_minute_told_twice_counts_once_and_one_not_told_is_not_there(store: Store, epoch: int) -> None:
    store.put_samples(HOLDER, epoch, [minute(0, 4), minute(0, 8, "root")])
    store.put_samples(HOLDER, epoch, [minute(0, 6), minute(2, 10)])
    assert store.samples("team-a", MINUTE, START, FAR) == [
        (START, sample(6)), (START + 2 * MINUTE, sample(10)),
    ]  # fmt: skip
    assert store.samples("root", MINUTE, START, FAR) == [(START, sample(8))]
    assert store.samples("team-a", HOUR, START, FAR) == [(START, together([sample(6), sample(10)]))]


def test_hours_and_days_are_the_same_before_and_after_they_are_put_together(store: Store, epoch: int) -> None:
    looked = [minute(number, number % 7) for number in range(0, 3000, 13)]
    store.put_samples(HOLDER, epoch, looked)
    now_ms = START + 3000 * MINUTE
    before = {span: store.samples("team-a", span, START, FAR) for span in Span}
    assert len(before[HOUR]) == 50
    assert len(before[DAY]) == 3
    for _ in range(2):  # the second time as a server does it that took over
        put_together(store, epoch, now_ms)
        assert {span: store.samples("team-a", span, START, FAR) for span in Span} == before
    every = [row.sample for row in looked]
    assert together([one for _, one in before[DAY]]) == together(every)


def test_what_is_told_after_its_hour_was_put_together_is_in_it_the_next_time(
    store: Store, epoch: int
) -> None:
    store.put_samples(HOLDER, epoch, [minute(0, 4)])
    put_together(store, epoch, START + HOUR)
    store.put_samples(HOLDER, epoch, [minute(59, 8)])
    put_together(store, epoch, START + HOUR + MINUTE)
    assert store.samples("team-a", HOUR, START, FAR) == [(START, together([sample(4), sample(8)]))]


def test_an_hour_whose_minutes_are_forgotten_stays(store: Store, epoch: int) -> None:
    store.put_samples(HOLDER, epoch, [minute(0, 4), minute(59, 8), minute(60, 5)])
    put_together(store, epoch, START + 2 * HOUR)
    wanted = store.samples("team-a", HOUR, START, FAR)
    assert store.forget_samples(["team-a"], MINUTE, START + 2 * HOUR) == 3
    put_together(store, epoch, START + 9 * HOUR)
    assert store.samples("team-a", HOUR, START, FAR) == wanted
    assert store.samples("team-a", MINUTE, START, FAR) == []


def test_who_does_not_lead_any_more_writes_nothing(store: Store, epoch: int) -> None:
    with pytest.raises(LeaseLost):
        store.put_samples(HOLDER, epoch - 1, [minute(0, 4)])
    with pytest.raises(LeaseLost):
        store.put_samples("server-2", epoch, [minute(0, 4)])
    assert store.samples("team-a", MINUTE, START, FAR) == []


def test_figures_go_with_their_quota_and_do_not_come_back(store: Store, epoch: int) -> None:
    store.put_samples(HOLDER, epoch, [minute(0, 4), minute(0, 9, "root")])
    store.commit(batch(epoch, 2, drops=(r.Drop(r.QuotaRow, ("team-a",)),)))
    store.put_samples(HOLDER, epoch, [minute(1, 4), minute(1, 9, "root")])
    assert store.samples("team-a", MINUTE, START, FAR) == []
    assert len(store.samples("root", MINUTE, START, FAR)) == 2


def test_a_quota_that_is_changed_keeps_its_figures(store: Store, epoch: int) -> None:
    store.put_samples(HOLDER, epoch, [minute(0, 4)])
    store.commit(batch(epoch, 2, *QUOTA_ROWS))
    assert len(store.samples("team-a", MINUTE, START, FAR)) == 1


def test_figures_go_into_a_backup_and_come_back(store: Store, epoch: int, tmp_path: Path) -> None:
    store.put_samples(HOLDER, epoch, [minute(0, 4)])
    store.backup(tmp_path / "kept.db", 1)
    store.restore(tmp_path / "kept.db", 2, force=True)
    assert store.samples("team-a", MINUTE, START, FAR) == [(START, sample(4))]
