"""The tree's arithmetic on one small tree, number by number: Q3, Q4, Q8, I2, P3.

root 12 ── a 6 (a.x 4, a.y 2)
        └─ b 4
"""

from __future__ import annotations

from typing import Any

import pytest

from quotatree.core.changes.apply import apply
from quotatree.core.errors import IllegalTransition, Refused
from quotatree.core.events import JobCancelled, NodeJoined, PoolDeclared, QuotaCreated, QuotaScaled
from quotatree.core.model.job import TRANSITIONS, Job, JobId, JobSpec, Phase, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import Module, Priorities, SelfLevel, parse_priorities, parse_strategy
from quotatree.core.model.quota import (
    Quota,
    QuotaId,
    QuotaSpec,
    charge,
    has_loan,
    idle_room,
    loan,
    protected,
    shortage,
    squeezed,
    unused,
)  # fmt: skip
from quotatree.core.model.resources import GPU, Bounds, Resources
from quotatree.core.state import State


def tree(**changes: Any) -> State:
    state = State()
    apply(state, PoolDeclared("default"), 0)
    for number in range(2):
        apply(state, NodeJoined(NodeSpec(f"n{number}")), 0)
    for name, parent, gpus in (
        ("root", None, 12),
        ("a", "root", 6),
        ("b", "root", 4),
        ("a.x", "a", 4),
        ("a.y", "a", 2),
    ):
        bounds = Bounds(gpus * 1000)
        fields: dict[str, object] = {"draws": (("default", bounds),)} if parent is None else {"min": bounds}
        fields |= changes.get(name, {})
        spec = QuotaSpec(QuotaId(name), QuotaId(parent) if parent else None, **fields)  # type: ignore[arg-type]
        apply(state, QuotaCreated(spec), 0)
    return state


def use(state: State, quota: str, gpus: float, idle: bool = False) -> Quota:
    found = state.quotas[QuotaId(quota)]
    charge(found, Resources(int(gpus * 1000)), 1, idle)
    return found


def gpus(number: float) -> Resources:
    return Resources(int(number * 1000))


def test_work_counts_in_its_quota_and_in_every_ancestor() -> None:
    state = tree()
    use(state, "a.x", 3)
    assert [state.quotas[QuotaId(q)].used[GPU] for q in ("a.x", "a", "root", "a.y", "b")] == [
        3000,
        3000,
        3000,
        0,
        0,
    ]
    assert state.quotas[QuotaId("a")].own_used[GPU] == 0


def test_a_job_fits_only_along_the_whole_path() -> None:
    state = tree()
    use(state, "root", 9)
    short = shortage(state.quotas[QuotaId("a.x")], gpus(4))
    assert short is not None
    assert (short.quota.id, short.free) == ("root", 3000)
    assert shortage(state.quotas[QuotaId("a.x")], gpus(3)) is None


def test_a_loan_passes_the_own_min_and_no_other() -> None:
    state = tree()
    own = use(state, "a.y", 2)
    assert shortage(own, gpus(1)) is not None
    assert shortage(own, gpus(4), loan_allowed=True) is None
    assert shortage(own, gpus(5), loan_allowed=True).quota.id == "a"  # type: ignore[union-attr]
    use(state, "a.y", 1)
    assert has_loan(own)
    assert (loan(own, GPU), unused(own, GPU)) == (1000, 0)


def test_squeezed_is_what_ancestors_stand_on() -> None:
    state = tree()
    use(state, "root", 9)
    assert squeezed(state.quotas[QuotaId("a")], GPU) == 3000
    assert squeezed(state.quotas[QuotaId("b")], GPU) == 1000
    assert squeezed(state.quotas[QuotaId("root")], GPU) == 0


def test_reserved_is_kept_from_ancestors_and_siblings_only() -> None:
    state = tree(**{"a.x": {"reserved": gpus(3)}})
    a = state.quotas[QuotaId("a")]
    assert protected(a, GPU) == 3000
    assert shortage(a, gpus(3)) is None
    assert shortage(a, gpus(4)) is not None
    assert shortage(state.quotas[QuotaId("a.x")], gpus(4)) is None
    use(state, "a.x", 2)
    assert protected(a, GPU) == 1000


def test_idle_room_leaves_out_what_is_not_lent() -> None:
    state = tree(b={"lending": False})
    use(state, "a", 2)
    assert idle_room(state.quotas[QuotaId("a")], 12_000, GPU) == 6000
    assert idle_room(state.quotas[QuotaId("b")], 12_000, GPU) == 10_000
    use(state, "a", 6, idle=True)
    assert idle_room(state.quotas[QuotaId("a")], 12_000, GPU) == 0
    assert idle_room(state.quotas[QuotaId("b")], 12_000, GPU) == 4000


@pytest.mark.parametrize(
    ("make", "field", "rule"),
    [
        (lambda: parse_priorities("high", "0-4"), "high", "P1"),
        (lambda: parse_strategy("lifo"), "strategy", "S7"),
        (lambda: SelfLevel(Priorities(4, 6), Priorities(6, 6), frozenset(Module)), "self_level.low", "P1"),
        (lambda: JobSpec(JobId("j"), "a", (), 0), "groups", "J3"),
        (lambda: JobSpec(JobId("j"), "a", (ReplicaGroup(0, Shape(1000, 0, 0)),), 0), "replicas", "J3"),
        (lambda: JobSpec(JobId("j"), "a", (ReplicaGroup(1, Shape(1000, 0, 0)),), 0, priority=0), "priority", "J2"),
        (lambda: apply(tree(), JobCancelled(JobId("nobody")), 0), "job", "J4"),
        (lambda: JobSpec(JobId("j"), "a", (ReplicaGroup(1, Shape(1500, 0, 0)),), 0), "gpus", "R1"),
        (lambda: JobSpec(JobId("j"), "a", (ReplicaGroup(2, Shape(1000, 0, 0)),), 0, min_replicas=3), "min_replicas", "P12"),
        (lambda: apply(tree(), QuotaScaled("a", Bounds(9000)), 0), "min.gpu", "Q5"),
        (lambda: apply(tree(), QuotaScaled("a", Bounds(5000)), 0), "min.gpu", "Q5"),
        (lambda: tree(b={"reserved": gpus(5)}), "reserved.gpu", "Q8"),
        (lambda: tree(b={"min": Bounds(7000)}), "min.gpu", "Q1"),
    ],
)  # fmt: skip
def test_a_refusal_names_field_and_rule(make, field: str, rule: str) -> None:
    with pytest.raises(Refused) as refused:
        make()
    assert (refused.value.field, refused.value.rule) == (field, rule)
    assert f"[{rule}]" in str(refused.value)


@pytest.mark.parametrize("before", Phase)
@pytest.mark.parametrize("after", Phase)
def test_phases_move_along_the_table_or_raise_with_the_story(before: Phase, after: Phase) -> None:
    """A5, J5."""
    state = tree()
    spec = JobSpec(JobId("j"), "a", (ReplicaGroup(1, Shape(1000, 0, 0)),), 0)
    job = Job(spec, state.quotas[QuotaId("a")], phase=before, story=["0 submitted"])
    if after in TRANSITIONS[before]:
        state.move(job, after, 1, "because")
        assert job.phase is after
    else:
        with pytest.raises(IllegalTransition, match="0 submitted"):
            state.move(job, after, 1, "because")
        assert job.phase is before
