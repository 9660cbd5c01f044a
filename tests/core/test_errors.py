"""What is refused names its field and its rule."""

from __future__ import annotations

import pytest

from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.events import JobCancelled, QuotaScaled
from quotatree.core.model.job import JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.policy import Module, Priorities, SelfLevel, parse_priorities, parse_strategy
from quotatree.core.model.resources import Bounds
from tests.core.building import gpus, tree


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
        (lambda: tree(b={"idle_limit_milli": -1}), "idle_limit", "I2"),
        (lambda: tree(b={"min_runtime_ms": -1}), "min_runtime", "P11"),
        (lambda: tree(b={"min": Bounds(7000)}), "min.gpu", "Q1"),
        (lambda: tree(root={"draws": (("default", Bounds(1000)), ("default", Bounds(1000)))}), "draws", "Q1"),
    ],
)  # fmt: skip
def test_a_refusal_names_field_and_rule(make, field: str, rule: str) -> None:
    with pytest.raises(Refused) as refused:
        make()
    assert (refused.value.field, refused.value.rule) == (field, rule)
    assert f"[{rule}]" in str(refused.value)
