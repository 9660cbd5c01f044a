"""Evicting many units at once is the same as evicting them one after the other, and can be taken back."""

from __future__ import annotations

from collections import Counter
from random import Random

from quotatree.core.changes.evictions import evict, evict_all
from quotatree.core.model.job import Claim, Job, JobId, Phase
from quotatree.core.model.policy import Module
from quotatree.core.model.unit import Unit
from quotatree.core.reasons import Code, because
from quotatree.core.state import State, units_of
from tests.core.building import World
from tests.profiles import by_profile
from tests.property import accounting, worlds
from tests.property.snapshot import snapshot
from tests.property.walk import begin, step

WALKS = by_profile(quick=40, deep=300, long=3000)
STEPS = 6


def test_units_that_leave_together_leave_as_one_by_one() -> None:
    met: Counter[str] = Counter()
    for seed in range(WALKS):
        random = Random(f"evictions {seed}")
        walk = begin(random, worlds.pick(random, worlds.world, worlds.several_trees))
        for _ in range(STEPS):
            step(random, walk, check=False)
            compare(random, walk.state, walk.now_ms, met)
    wanted = {
        "several cores",
        "core",
        "wanted",
        "surplus",
        "hold",
        "with others",
        "idle",
        "in a queue",
        "stopped",
    }
    wanted |= {
        "on several nodes",
        "on a crowded node",
        "of several quotas",
        "protected",
        "shrinking",
        "limited",
    }
    assert wanted <= set(met), f"not met: {wanted - set(met)}"


def compare(random: Random, state: State, now_ms: int, met: Counter[str]) -> None:
    """Evict some units of different jobs, once one by one and once together, and take both back."""
    jobs = [job for job in state.jobs.values() if units_of(job) and worlds.chance(random, 70)]
    random.shuffle(jobs)
    units = [one_of(random, job) for job in jobs]
    code = worlds.pick(random, Code.SelfLevelOwn, Code.NodeDrained)
    reason, preemptor = (
        because(code, node="n", preemptor="p", quota="q"),
        worlds.pick(random, None, JobId("p")),
    )
    counts = worlds.chance(random, 50)
    met.update(features(state, units))
    before = snapshot(state)
    state.begin(watch=True)
    one_by_one = [evict(state, unit, now_ms, reason, preemptor, counts) for unit in units]
    met["stopped"] += any(job.phase is Phase.STOPPED for job in jobs)
    after, touched = snapshot(state), state.touched
    state.rollback()
    assert snapshot(state) == before
    state.begin(watch=True)
    together = evict_all(state, units, now_ms, reason, preemptor, counts)
    assert list(together) == one_by_one
    assert snapshot(state) == after
    assert (state.touched is None) == (touched is None)
    if touched is not None and state.touched is not None:
        assert set(state.touched.jobs) == set(touched.jobs)
        assert set(state.touched.quotas) == set(touched.quotas)
    for check in accounting.ALL:
        check(state)
    state.rollback()
    assert snapshot(state) == before
    for check in accounting.ALL:
        check(state)


def one_of(random: Random, job: Job) -> Unit:
    """Return a unit of the job, mostly its core."""
    units = units_of(job)
    return units[0] if worlds.chance(random, 70) else worlds.pick(random, *units)


def features(state: State, units: list[Unit]) -> dict[str, int]:
    """Return what there is among the units that leave, with how many."""
    found = Counter(unit.cls.kind.value for unit in units)
    found["several cores"] = found["core"] > 1
    for unit in units:
        job = unit.job
        found["with others"] += job.composite
        found["idle"] += unit.cls.claim is Claim.IDLE
        found["in a queue"] += job.id in job.quota.queue.of_job
        found["on several nodes"] += len(unit.nodes) > 1
        found["on a crowded node"] += any(state.nodes[index].crowded for index in unit.nodes)
        found["protected"] += unit.protected_until_ms > 0
        found["shrinking"] += any(above.shrinking for above in job.quota.path)
        found["limited"] += bool(state.limits and job.spec.subjects)
    found["of several quotas"] = len({unit.cls.quota for unit in units}) > 1
    return {name: count for name, count in found.items() if count}


def test_a_notebook_that_is_not_queued_again_stops_while_others_wait_p14() -> None:
    world = World()
    world.root(8)
    notebook = world.run("notebook", "r", 1, module=Module.DSW, requeue=False)
    training = world.run("training", "r", 1)
    assert notebook.core is not None
    assert training.core is not None
    reason = because(Code.SelfLevelOwn, preemptor="p", quota="r")
    evict_all(world.state, [notebook.core, training.core], 1_000, reason, JobId("p"), counts=True)
    assert [notebook.phase, training.phase] == [Phase.STOPPED, Phase.WAITING]
    assert list(world.state.quotas[notebook.quota.id].queue.of_job) == ["training"]
    assert world.state.leaving_replicas == 2
