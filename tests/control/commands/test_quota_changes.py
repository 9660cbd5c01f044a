"""Every setting that an update can change is told in words (Q6)."""

from dataclasses import replace
from typing import Any

import pytest

from quotatree.control.commands.quota_changes import settings_changed, size_changed
from quotatree.core import (
    Bounds,
    ChildLevel,
    Module,
    Priorities,
    QuotaId,
    QuotaSpec,
    Resources,
    Strategy,
    read_self_level,
)

BEFORE = QuotaSpec(QuotaId("a"))


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("description", "new", ("description", "none", "new")),
        ("labels", (("team", "red"),), ("labels", "none", "team=red")),
        ("strategy", Strategy.FIFO, ("strategy", "intelligent", "fifo")),
        ("self_level", read_self_level({"any": "lower"}, BEFORE.self_level), ("self_level", "none", "any over lower DLC,DSW in level")),
        ("child_level", ChildLevel(Priorities(1, 3), frozenset({Module.DLC, Module.DSW}), off=True), ("child_level", "none", "1-3 DLC,DSW (off)")),
        ("reserved", Resources(2000, 500), ("reserved", "none", "2 GPU, 0.5 CPU")),
        ("weight", Bounds(3000), ("weight", "its min", "3 GPU")),
        ("fair_idle", True, ("fair_idle", "off", "on")),
        ("idle_limit_milli", 0, ("idle_limit", "none", "0 GPU")),
        ("min_runtime_ms", 90_000, ("min_runtime", "none", "90 s")),
    ],
)  # fmt: skip
def test_a_setting_is_told_from_what_to_what(field: str, value: Any, told: tuple[str, str, str]) -> None:
    (change,) = settings_changed(BEFORE, replace(BEFORE, **{field: value}))
    assert tuple(change.values()) == told


def test_a_size_is_told_with_what_is_drawn_from_each_pool() -> None:
    before = replace(BEFORE, draws=(("a100", Bounds(8000)), ("l20", Bounds(4000))))
    after = replace(BEFORE, draws=(("a100", Bounds(8000)), ("l20", Bounds(6000, None, 65536))))
    assert [tuple(one.values()) for one in size_changed(before, Bounds(12000), after, Bounds(14000))] == [
        ("min", "12 GPU", "14 GPU"),
        ("draws from l20", "4 GPU", "6 GPU, 64 GiB"),
    ]
