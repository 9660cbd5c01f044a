"""What an estimate is made from: how earlier estimates came true, on both databases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quotatree.store import Store
from quotatree.store import rows as r
from quotatree.store.errors import LeaseLost
from quotatree.store.estimating import MOST_OUTCOMES
from tests.store.building import HOLDER, batch, writer
from tests.store.stored_rows import JOB_ROWS, NODE_ROWS, POOL_ROWS, QUOTA_ROWS, RUN_ROWS

QUOTAS = ("root", "team-a", "team-b")


@pytest.fixture
def epoch(store: Store) -> int:
    found = writer(store)
    store.commit(batch(found, 1, *POOL_ROWS, *NODE_ROWS, *QUOTA_ROWS, *JOB_ROWS, *RUN_ROWS))
    return found


def test_an_estimate_comes_true_with_the_first_start_after_it(store: Store, epoch: int) -> None:
    run = RUN_ROWS[1]  # of dlc-2, started at 3,000
    later = replace(run, run=run.run + 1, started_ms=run.started_ms + 9_000)
    store.commit(batch(epoch, 2, later))
    store.put_estimate(HOLDER, epoch, r.EstimateRow(run.job, 2_000, 2_500))
    store.put_estimate(HOLDER, epoch, r.EstimateRow(run.job, 4_000, 5_000))
    store.put_estimate(HOLDER, epoch, r.EstimateRow(run.job, 20_000, 21_000))  # it has not started since
    assert store.material(QUOTAS).outcomes == ((1_000, 8_000), (500, 1_000))


def test_an_estimate_said_twice_for_one_moment_is_one(store: Store, epoch: int) -> None:
    for likely_ms in (2_500, 2_800):
        store.put_estimate(HOLDER, epoch, r.EstimateRow("dlc-2", 2_000, likely_ms))
    assert store.material(QUOTAS).outcomes == ((800, 1_000),)


def test_outcomes_are_those_of_the_tree_that_is_asked_about(store: Store, epoch: int) -> None:
    store.put_estimate(HOLDER, epoch, r.EstimateRow("dlc-2", 2_000, 2_500))
    assert store.material(("elsewhere",)).outcomes == ()


def test_an_estimate_of_a_job_that_is_not_stored_is_left_out(store: Store, epoch: int) -> None:
    store.put_estimate(HOLDER, epoch, r.EstimateRow("dlc-404", 2_000, 2_500))
    assert store.material(QUOTAS).outcomes == ()


def test_a_server_that_leads_no_more_keeps_no_estimate(store: Store, epoch: int) -> None:
    with pytest.raises(LeaseLost):
        store.put_estimate(HOLDER, epoch + 1, r.EstimateRow("dlc-2", 2_000, 2_500))


def test_only_the_newest_outcomes_are_read(store: Store, epoch: int) -> None:
    for asked_ms in range(1, MOST_OUTCOMES + 3):
        store.put_estimate(HOLDER, epoch, r.EstimateRow("dlc-2", asked_ms, asked_ms + 5))
    assert len(store.material(QUOTAS).outcomes) == MOST_OUTCOMES
