"""What is written in a quota and in its tree can be taken back; what a record keeps tells that it is another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from quotatree.core.errors import Refused
from quotatree.core.model.job import JobId
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.records import quota_record
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import State
from tests.core.building import submit, tree

Write = Callable[[State, Quota], None]

KEPT: dict[str, Write] = {
    "set_quota_spec": lambda state, quota: state.set_quota_spec(quota, replace(quota.spec, lending=False)),
    "set_min": lambda state, quota: state.set_min(quota, (7000, None, 7)),
    "set_actual": lambda state, quota: state.set_actual(quota, [7000, None, None], True),
    "set_shadow": lambda state, quota: state.set_shadow(quota, (7, 0, 0)),
    "set_guard": lambda state, quota: state.set_guard(quota.tree, JobId("j"), frozenset({1})),
    "set_stood": lambda state, quota: state.set_stood(quota, ((JobId("j"), 7),)),
}
FOLLOWING: dict[str, Write] = {
    "set_times": lambda state, quota: state.set_times(quota, 7, 8),
    "set_loans": lambda state, quota: state.set_loans(quota.tree, True),
    "set_shares_reserved": lambda state, quota: state.set_shares_reserved(quota.tree, True),
}


def values(quota: Quota) -> tuple[object, ...]:
    """What no record keeps, and the bounds that follow from `min`."""
    times = quota.min_runtime_ms, quota.preemption_delay_ms
    return times, quota.named, quota.tree.loans, quota.tree.shares_reserved


@pytest.mark.parametrize("name", KEPT)
def test_what_a_record_keeps_is_written_touched_and_taken_back(name: str) -> None:
    state = tree()
    root = state.roots[0]
    before, before_values = quota_record(state, root), values(root)
    state.begin(watch=True)
    KEPT[name](state, root)
    assert state.touched is not None
    assert quota_record(state, root) != before
    assert list(state.touched.quotas) == [root.id]
    state.rollback()
    assert (quota_record(state, root), values(root)) == (before, before_values)


@pytest.mark.parametrize("name", FOLLOWING)
def test_what_follows_from_the_rest_is_taken_back_and_touches_nobody(name: str) -> None:
    state = tree()
    root = state.roots[0]
    before, before_values = quota_record(state, root), values(root)
    state.begin(watch=True)
    FOLLOWING[name](state, root)
    assert state.touched is not None
    assert values(root) != before_values
    assert (quota_record(state, root), list(state.touched.quotas)) == (before, [])
    state.rollback()
    assert values(root) == before_values


def test_a_tree_is_shared_by_its_quotas_and_its_guard_stands_in_the_record_of_the_root() -> None:
    """S10."""
    state = tree()
    job = submit(state, "j", "a.x", (1, 1000))
    (kept,) = state.trees
    state.set_guard(kept, job.id, frozenset({1}))
    assert all(quota.tree is kept for quota in state.quotas.values())
    assert [record.guard for record in snapshot(state).quotas] == ["j", None, None, None, None]
    again = restore(snapshot(state))
    assert again.trees[0].guard == job.id
    assert again.trees[0].guard_nodes == {1}


def test_a_record_with_a_guard_below_a_root_is_refused() -> None:
    """A7."""
    state = tree()
    submit(state, "j", "a.x", (1, 1000))
    value = snapshot(state)
    below = [replace(q, guard=JobId("j")) if q.id == QuotaId("a") else q for q in value.quotas]
    with pytest.raises(Refused, match="is not a root"):
        restore(replace(value, quotas=tuple(below)))
