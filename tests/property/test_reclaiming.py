"""Reclaim evicts exactly what is above the target, after whatever mode had been chosen for the same target before (Q5)."""

from __future__ import annotations

from random import Random

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.model.resources import WHOLE_GPU, Bounds
from tests.profiles import by_profile
from tests.property import worlds
from tests.property.walk import begin, step

WALKS = by_profile(quick=20, deep=80, long=2000)
"""Walks of each chunk."""


@pytest.mark.parametrize("chunk", range(2))
def test_a_mode_counts_also_where_the_target_stays_the_same(chunk: int) -> None:
    evicted = 0
    for seed in range(chunk * 10_000, chunk * 10_000 + WALKS):
        try:
            evicted += _scale_in_every_mode(Random(f"reclaim {seed}"))
        except Exception as problem:
            raise AssertionError(f"seed {seed}: {problem}") from problem
    assert evicted >= WALKS // 2, "hardly anything stood above a target"


def _scale_in_every_mode(random: Random) -> int:
    """Scale each quota to less, lazily, then to the same in another mode; the walk checks who leaves (reclaiming.py)."""
    walk = begin(random)
    evicted = 0
    for _ in range(random.randint(1, 3)):
        step(random, walk, check=False)
    for quota in list(walk.state.quotas.values()):
        if quota.min[0] is None or len(quota.spec.draws) > 1:
            continue
        target = Bounds(random.randint(0, quota.min[0] // WHOLE_GPU) * WHOLE_GPU)
        walk.happen(ev.QuotaScaled(quota.id, target, mode=ev.ScaleMode.LAZY))
        if worlds.chance(random, 50):
            walk.plan_out(check=False)
        mode = worlds.pick(random, ev.ScaleMode.RECLAIM, ev.ScaleMode.RECLAIM, *ev.ScaleMode)
        found = walk.happen(ev.QuotaScaled(quota.id, target, mode=mode))
        evicted += sum(isinstance(decision, say.Evict) for decision in found)
    made = walk.plan_out()
    walk.check_before_wakeup(made)
    walk.check_accounting()
    walk.check_steady()
    return evicted
