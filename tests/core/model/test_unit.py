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


@pytest.mark.parametrize("going", [2, 3, 90, 100])
def test_units_that_leave_their_class_together_leave_as_one_by_one(going: int) -> None:
    state = cluster(200)
    for number in range(100):
        submit(state, f"j{number:03}", "r", (1, 1000 + 1000 * (number % 2)), now_ms=number % 7)
    plan(state, 100)
    units = [job.core for job in state.jobs.values() if job.core is not None]
    (cls,) = {unit.cls for unit in units}
    leave = units[-going:]
    for unit in leave:
        cls.count(unit, -1)
    one_by_one = list(cls.standing), {key: list(bucket) for key, bucket in cls.buckets.items()}
    for unit in leave:
        cls.count(unit, 1)
    cls.remove_all(leave)
    assert (list(cls.standing), cls.buckets) == one_by_one
    assert sum(len(bucket) for bucket in cls.buckets.values()) == 100 - going
