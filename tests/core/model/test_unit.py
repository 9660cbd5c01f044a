"""What an eviction costs (P6)."""

from __future__ import annotations

import pytest

from quotatree.core.model.policy import Module
from quotatree.core.model.unit import GPU_SECOND, UnitKind
from quotatree.core.planning.plan import plan
from tests.core.building import cluster, submit


@pytest.mark.parametrize(
    ("module", "minutes", "seconds_lost"),
    [(Module.DLC, 10, 40 + 600), (Module.DSW, 90, 40 + 3600), (Module.EAS, 90, 40 + 3600)],
)
def test_lost_work_of_each_module(module: Module, minutes: int, seconds_lost: int) -> None:
    state = cluster(2)
    job = submit(state, "j", "r", (1, 2000), module=module, priority=3)
    plan(state, 0)
    assert job.core is not None
    now_ms = minutes * 60_000
    assert job.core.lost_work(now_ms) == seconds_lost * 2 * GPU_SECOND
    assert job.core.cost(now_ms) == 4 * seconds_lost * 2 * GPU_SECOND


def test_lost_work_returns_to_zero_at_every_declared_checkpoint() -> None:
    state = cluster(2)
    job = submit(state, "j", "r", (1, 1000), checkpoint_interval_ms=300_000)
    plan(state, 0)
    assert job.core is not None
    assert job.core.lost_work(299_000) == (40 + 299) * GPU_SECOND
    assert job.core.lost_work(300_000) == 40 * GPU_SECOND
    assert job.core.cls.kind is UnitKind.CORE
