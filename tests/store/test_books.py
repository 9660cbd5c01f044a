"""Books that an overlap of two versions ruined are put in order from what both of them wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from quotatree.store import Store
from quotatree.store import tables as t
from quotatree.store.books import Faults
from quotatree.store.database import reading, writing
from quotatree.store.errors import LeaseLost
from tests.store.building import HOLDER, HOUR_MS, writer
from tests.store.old import bring_up_to_date, fill

STAYS, ENDS, TAKEN, IDLE = "dlc-r8m19n67xz", "dlc-680gqf80mw", "dlc-b38vmyzzph", "dlc-nfby4btkct"
STARTED, THROUGH, TAKER = "dlc-r2k5k8qczh", "dlc-m172r9n0xq", "dlc-7zbahq2ndz"


@pytest.fixture
def ruined(url: str, tmp_path: Path) -> Store:
    fill("ruined_by_overlap", url, tmp_path)
    bring_up_to_date(url)
    return Store.open(url)


def use_of(store: Store) -> dict[str, list[tuple[int, int | None, int, str, int]]]:
    with reading(store._engine) as connection:
        found: dict[str, list[tuple[int, int | None, int, str, int]]] = {}
        for row in connection.execute(select(t.USAGE).order_by(t.USAGE.c.job, t.USAGE.c.from_ms)):
            one = (row.from_ms, row.until_ms, row.gpu_milli, row.claim, row.begins)
            found.setdefault(row.job, []).append(one)
        return found


def test_what_an_overlap_ruined_is_found_and_told(ruined: Store) -> None:
    found = ruined.faults_in_books()
    assert found == Faults(
        open_runs=tuple(sorted((job, 1) for job in (ENDS, TAKEN, STARTED, TAKER))),
        runs_without_use=((THROUGH, 1),),
        victims_without_loss=1,
    )
    assert str(found) == (
        "4 run(s) whose open stretches of use do not fit what they occupy, 1 run(s) without a stretch of use, "
        "1 victim(s) without an account of what was lost"
    )
    ruined.close()


def test_it_is_put_together_anew_from_the_placements(ruined: Store) -> None:
    """To the millisecond; what was right stays as it is, and doing it twice changes nothing."""
    before = use_of(ruined)
    epoch = writer(ruined)
    assert ruined.mend_books(HOLDER, epoch)
    after = use_of(ruined)
    assert after == {
        STAYS: before[STAYS],
        IDLE: before[IDLE],
        ENDS: [(1795061972683, 1795061974827, 1000, "guaranteed", 1)],
        TAKEN: [(1795061972687, 1795061975168, 2000, "guaranteed", 1)],
        STARTED: [(1795061974832, None, 3000, "guaranteed", 1)],
        THROUGH: [(1795061974837, 1795061975141, 1000, "guaranteed", 1)],
        TAKER: [(1795061975163, None, 2000, "guaranteed", 1)],
    }
    with reading(ruined._engine) as connection:
        loss = connection.execute(select(t.LOSSES)).one()
    assert (loss.at_ms, loss.lost_work, loss.quota, loss.taker_quota) == (1795061975163, 84950000, "a", "a")
    assert not ruined.faults_in_books()
    assert not ruined.mend_books(HOLDER, epoch, thorough=True)
    assert use_of(ruined) == after
    ruined.close()


def test_a_stretch_with_another_amount_than_the_run_occupies_goes_on_from_where_it_began(
    ruined: Store,
) -> None:
    """What was counted before it, by whoever knew of loans, stays."""
    began, cut = 1795061972673, 1795061972700
    with writing(ruined._engine) as connection:
        of_it = t.USAGE.c.job == STAYS
        row = dict(connection.execute(select(t.USAGE).where(of_it)).mappings().one())
        connection.execute(t.USAGE.delete().where(of_it))
        connection.execute(
            t.USAGE.insert(),
            [
                {**row, "claim": "loan", "until_ms": cut},
                {**row, "from_ms": cut, "gpu_milli": 1000, "begins": 0},
            ],
        )
    assert ruined.mend_books(HOLDER, writer(ruined))
    assert use_of(ruined)[STAYS] == [(began, cut, 2000, "loan", 1), (cut, None, 2000, "guaranteed", 0)]
    ruined.close()


def test_a_run_whose_open_stretch_is_missing_goes_on_from_the_last_that_is_there(ruined: Store) -> None:
    cut = 1795061972700
    with writing(ruined._engine) as connection:
        connection.execute(t.USAGE.update().where(t.USAGE.c.job == STAYS).values(until_ms=cut))
    assert ruined.mend_books(HOLDER, writer(ruined))
    assert use_of(ruined)[STAYS][1:] == [(cut, None, 2000, "guaranteed", 0)]
    ruined.close()


def test_only_the_holder_of_the_lease_mends(ruined: Store) -> None:
    before = use_of(ruined)
    epoch = writer(ruined)
    ruined.take_lease(HOLDER, 2000 * HOUR_MS, HOUR_MS)
    with pytest.raises(LeaseLost):
        ruined.mend_books(HOLDER, epoch)
    assert use_of(ruined) == before
    ruined.close()
