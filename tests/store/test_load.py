"""What is loaded is what was kept."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from quotatree.access.centre import Amount, Ceiling, Centre
from quotatree.access.differences import differences
from quotatree.access.directory import Directory
from quotatree.access.roles import Role
from quotatree.access.values import SessionInfo, TokenInfo, User
from quotatree.core.model.job import Phase
from quotatree.core.model.policy import Module, Priorities
from quotatree.core.model.quota import QuotaId
from quotatree.core.planning.plan import plan
from quotatree.core.records import job_record, node_record, pool_record, quota_record
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import Settings, State
from quotatree.store import Store
from quotatree.store import rows as r
from tests.property.test_snapshot import happenings_of, let_happen, story
from tests.store.building import batch, jobs_batch, record, row_of, writer


def rows_of(state: State) -> list[r.Row]:
    """What the loop would write of a transaction."""
    touched = state.touched
    assert touched is not None
    found: list[r.Row] = [r.PoolRow(name, pool_record(state, name), 1) for name in touched.pools]
    found += [r.NodeRow(name, node_record(state.node_by_name[name]), 1) for name in touched.nodes]
    quotas = [state.quotas[name] for name in touched.quotas if name in state.quotas]
    found += [r.QuotaRow(q.id, quota_record(state, q), 1) for q in quotas]
    jobs = [state.jobs[name] for name in touched.jobs if name in state.jobs]
    found += [row_of(job_record(state, j)) for j in jobs]
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
    first += [row_of(j) for j in whole.jobs]
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


def test_a_finished_job_is_kept_and_not_loaded(store: Store) -> None:
    epoch = writer(store)
    store.commit(jobs_batch(epoch, 1, 2))
    done = row_of(record("dlc-00000000", Phase.SUCCEEDED), ended_ms=9)
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
    store.commit(batch(epoch, 3, row_of(leaving)))
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
    full = full.with_priority_names({"batch": 2, "production": 8})
    store.commit(batch(epoch, 1, *quotas("q1", "q2"), directory=differences(empty, full)))
    assert store.load(Settings()).directory == full
    less = full.unbound("lab", "q1").without_quota("q1").member_removed("lab", "bob").token_revoked("t1", 7)
    less = (
        less.with_priority_names({"production": 9})
        .without_sessions(["s1"])
        .without_workspace("empty")
        .described("lab", "less")
    )
    drops = (r.Drop(r.QuotaRow, ("q1",)),)
    store.commit(batch(epoch, 2, directory=differences(full, less), drops=drops))
    assert store.load(Settings()).directory == less
    gone = less.without_workspace("lab")
    store.commit(batch(epoch, 3, directory=differences(less, gone), drops=(r.Drop(r.QuotaRow, ("q2",)),)))
    assert store.load(Settings()).directory == gone
