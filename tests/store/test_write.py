"""What was committed is there, whole; what was not has left nothing (A6, A7)."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import psycopg
import pytest
from sqlalchemy import event, select

from quotatree.access.centre import Amount, Ceiling, Centre
from quotatree.access.differences import differences
from quotatree.access.directory import Directory
from quotatree.access.roles import Role
from quotatree.access.values import SessionInfo, TokenInfo, User
from quotatree.codec import decode, encode
from quotatree.core.decisions import Preemption, VictimCost
from quotatree.core.model.job import JobId, Phase
from quotatree.core.model.policy import Module, Priorities
from quotatree.core.model.quota import QuotaId
from quotatree.core.model.resources import Resources
from quotatree.core.model.unit import UnitKind
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Step
from quotatree.core.records import job_record, node_record, pool_record, quota_record
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import Settings, State
from quotatree.store import HistoryFilter, Store
from quotatree.store import rows as r
from quotatree.store.database import writing
from quotatree.store.errors import LeaseLost, StoreConflict, StoreUnavailable
from quotatree.store.tables import LEASE
from tests.property.test_snapshot import happenings_of, let_happen, story
from tests.store import postgres
from tests.store.building import HOLDER, HOUR_MS, batch, job, jobs_batch, whole_job, writer


def rows_of(state: State) -> list[r.Row]:
    """What the loop would write of a transaction."""
    touched = state.touched
    assert touched is not None
    found: list[r.Row] = [r.PoolRow(name, pool_record(state, name), 1) for name in touched.pools]
    found += [r.NodeRow(name, node_record(state.node_by_name[name]), 1) for name in touched.nodes]
    quotas = [state.quotas[name] for name in touched.quotas if name in state.quotas]
    found += [r.QuotaRow(q.id, quota_record(state, q), 1) for q in quotas]
    jobs = [state.jobs[name] for name in touched.jobs if name in state.jobs]
    found += [job(j.id, j.phase, record=job_record(state, j)) for j in jobs]
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_state_kept_batch_by_batch_is_loaded_equal(store: Store, seed: int) -> None:
    """Rows are the truth: whatever happened, what is loaded plans on as the state in memory."""
    random = Random(f"store {seed}")
    walk = story(random)
    epoch, number = writer(store), 1
    whole = snapshot(walk.state)
    first: list[r.Row] = [r.PoolRow(p.name, p, 1) for p in whole.pools]
    first += [r.NodeRow(n.name, n, 1) for n in whole.nodes]
    first += [r.QuotaRow(q.id, q, 1) for q in whole.quotas]
    first += [job(j.id, j.phase, record=j) for j in whole.jobs]
    store.commit(batch(epoch, number, *first))
    for _ in range(12):
        events = happenings_of(random, walk)
        walk.state.begin(watch=True)
        let_happen(walk.state, events, walk.now_ms)
        plan(walk.state, walk.now_ms)
        touched = walk.state.touched
        assert touched is not None
        gone = tuple(r.Drop(r.QuotaRow, (q,)) for q in touched.quotas if q not in walk.state.quotas)
        number += 1
        store.commit(batch(epoch, number, *rows_of(walk.state), drops=gone))
        walk.state.commit()
    loaded = store.load(walk.settings)
    kept = {j.id: j for j in loaded.snapshot.jobs}
    whole = snapshot(walk.state)
    living = [
        j for j in whole.jobs if j.leaving or j.phase not in (Phase.SUCCEEDED, Phase.FAILED, Phase.CANCELLED)
    ]
    assert replace(whole, jobs=()) == replace(loaded.snapshot, jobs=())
    assert [kept.get(j.id) for j in living] == living
    assert plan(restore(loaded.snapshot), walk.now_ms).now_ms == walk.now_ms
    assert loaded.counters.batch == number


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


def test_a_finished_job_is_kept_and_not_loaded(store: Store) -> None:
    epoch = writer(store)
    store.commit(jobs_batch(epoch, 1, 2))
    done = job("dlc-00000000", Phase.SUCCEEDED, ended_ms=9)
    ended = r.RunRow(done.id, 1, "regular", 0, 1, 9, "succeeded", "")
    left = r.PlacementRow(done.id, 1, 0, "n1", (0, 1), 2000, 0, 9)
    store.commit(batch(epoch, 2, done, ended, left))
    loaded = store.load(Settings())
    assert [row.id for row in loaded.jobs] == ["dlc-00000001"]
    assert [row.job for row in loaded.runs] == [row.job for row in loaded.placements] == ["dlc-00000001"]
    assert store.job(done.id) == done
    assert store.runs(done.id) == (ended,)
    assert store.placements(done.id) == (left,)
    running = loaded.jobs[0].record
    assert running.core is not None
    leaving = replace(running, phase=Phase.CANCELLED, core=None, leaving=running.core.places)
    store.commit(batch(epoch, 3, job("dlc-00000001", Phase.CANCELLED, record=leaving)))
    assert [row.id for row in store.load(Settings()).jobs] == ["dlc-00000001"], (
        "it still occupies its devices"
    )


def quotas(*names: str) -> list[r.Row]:
    walk = story(Random(1))
    any_quota = next(iter(walk.state.quotas.values()))
    record = quota_record(walk.state, any_quota)
    return [
        r.QuotaRow(name, replace(record, spec=replace(record.spec, id=QuotaId(name))), 1) for name in names
    ]


def test_the_directory_comes_back_equal(store: Store) -> None:
    epoch = writer(store)
    empty = Directory()
    full = empty.with_user(User("ann", platform_admin=True, password="$argon2$x"))
    full = full.with_user(User("bob", "Bob", "bob@example.org", identity="https://idp 42"))
    full = full.with_workspace("lab", "research", owners=("ann",)).member_added("lab", "bob", Role.DEVELOPER)
    full = full.with_workspace("empty").bound("lab", "q1").bound("lab", "q2").with_quota_admin("bob", "q1")
    full = full.with_centre(
        Centre(
            "lab", "q1", frozenset({Module.DLC}), frozenset({Role.DEVELOPER}),
            (Amount("user:bob", Priorities(1, 7), 8000),), (Ceiling("role:developer", 6),), 5000, None,
        )
    ).with_centre(Centre("lab", "q2"))  # fmt: skip
    full = full.with_token(TokenInfo("t1", "bob", "ci", "hash", 5, 99, None, True))
    full = full.with_session(SessionInfo("s1", "ann", "c", 5, 99)).with_session(
        SessionInfo("s2", "bob", "c", 5, 99)
    )
    store.commit(batch(epoch, 1, *quotas("q1", "q2"), directory=differences(empty, full)))
    assert store.load(Settings()).directory == full
    less = full.unbound("lab", "q1").without_quota("q1").member_removed("lab", "bob").token_revoked("t1", 7)
    less = less.without_sessions(["s1"]).without_workspace("empty").described("lab", "less")
    drops = (r.Drop(r.QuotaRow, ("q1",)),)
    store.commit(batch(epoch, 2, directory=differences(full, less), drops=drops))
    assert store.load(Settings()).directory == less
    gone = less.without_workspace("lab")
    store.commit(batch(epoch, 3, directory=differences(less, gone), drops=(r.Drop(r.QuotaRow, ("q2",)),)))
    assert store.load(Settings()).directory == gone


@pytest.mark.parametrize(
    "bad",
    [
        r.EventRow(3, 0, "again", None, None, None, {}),
        r.RunRow("nobody", 1, "regular", 0, None, None, None, ""),
        job("odd", name="lone \ud800 surrogate"),
        job("huge", gpu_milli=1 << 70),
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


def test_a_locked_database_is_unavailable_and_heals(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quotatree.store.database.BUSY_MS", 50)
    store, other = Store.open(str(tmp_path / "a.db")), Store.open(str(tmp_path / "a.db"))
    store.migrate()
    epoch = writer(store)
    with other._engine.connect() as connection, connection.execution_options(writes=True).begin():
        with pytest.raises(StoreUnavailable, match="locked"):
            store.commit(batch(epoch, 1))
        assert store.last_batch() == 0, "readers do not wait"
    store.commit(batch(epoch, 1))
    store.close()
    other.close()


def test_a_full_disk_stops_writes_loses_nothing_and_heals(tmp_path: Any) -> None:
    store = Store.open(str(tmp_path / "a.db"))
    store.migrate()
    epoch = writer(store)
    store.commit(jobs_batch(epoch, 1, 5))
    before = store.load(Settings())
    store.close()

    full = True

    @event.listens_for(store._engine, "connect")
    def little_room(connection: Any, record: Any) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0] if full else 1 << 30
        connection.execute(f"PRAGMA max_page_count={pages}")

    with pytest.raises(StoreUnavailable, match="full"):
        store.commit(jobs_batch(epoch, 2, 500))
    assert store.load(Settings()) == before
    full = False
    store.close()
    store.commit(jobs_batch(epoch, 2, 500))
    assert store.last_batch() == 2
    store.close()


def test_a_connection_that_is_cut_is_made_again(postgres_home: str) -> None:
    name = "cut_off"
    store = Store.open(postgres.create(postgres_home, name, postgres.TEMPLATE))
    epoch = writer(store)
    store.commit(batch(epoch, 1))
    cut = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"

    def cut_off_in_the_middle() -> None:
        with writing(store._engine) as connection:
            with psycopg.connect(postgres.url_of(postgres_home, "postgres"), autocommit=True) as admin:
                admin.execute(cut.encode())
            connection.execute(select(LEASE))

    with pytest.raises(StoreUnavailable):
        cut_off_in_the_middle()
    store.commit(batch(epoch, 2))
    assert store.last_batch() == 2
    store.close()
    postgres.drop(postgres_home, name)


def test_how_runs_ended_is_told_for_many_jobs_at_once(store: Store) -> None:
    """Of the run that is asked for, not of an earlier one; nothing where nothing is known."""
    epoch = writer(store)
    store.commit(jobs_batch(epoch, 1, 2))
    first, second = "dlc-00000000", "dlc-00000001"
    rows = (
        r.RunRow(first, 1, "regular", 0, 1, 9, "evicted", "ChildLevel"),
        r.RunRow(first, 2, "regular", 10, 11, 19, "failed", "replica 0 exited with code 3"),
        r.RunRow(second, 1, "regular", 0, 1, 9, "succeeded", ""),
    )
    store.commit(batch(epoch, 2, *rows))
    assert store.endings({first: 2, second: 1, "dlc-99999999": 1}) == {first: "replica 0 exited with code 3"}
