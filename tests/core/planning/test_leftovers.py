"""Is surplus started where it may be, and are those told who gain a right by it (P12)?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random

import pytest

from quotatree.core import events as ev
from quotatree.core.changes import replicas
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Idle, Job, JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import Module, Strategy
from quotatree.core.model.quota import AmountLimit, QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.model.unit import Unit
from quotatree.core.planning import leftovers
from quotatree.core.planning.leftovers import Leftovers
from quotatree.core.planning.plan import plan
from quotatree.core.state import State
from tests.core.building import World, cluster, submit


def test_the_first_surplus_replica_is_no_news_for_the_next_plan() -> None:
    """P10, P12: the surplus may give way to `thirsty`; whether that helps is found out in the same plan."""
    state = State()
    apply(state, ev.NodeJoined(NodeSpec("n0", gpus=4, cpu_milli=8000)), 0)
    draws = (("default", Bounds(4000, 2000)),)
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("r"), draws=draws, strategy=Strategy.TRAVERSE)), 0)
    for name, gpu_milli, cpu_milli in (("busy", 0, 1000), ("short", 1000, 0), ("thirsty", 2000, 2000)):
        group = ReplicaGroup(1, Shape(gpu_milli, cpu_milli, 0))
        apply(state, ev.JobSubmitted(JobSpec(JobId(name), "r", (group,), 0, priority=5)), 0)
    plan(state, 0)
    apply(state, ev.JobEnded(JobId("short")), 1)
    submit(state, "elastic", "r", (3, 1000), now_ms=1, min_replicas=1)
    plan(state, 1)
    assert len(state.jobs[JobId("elastic")].extras) == 2
    assert plan(state, 1).decisions == ()


def test_surplus_stays_within_the_amount_limits_w3() -> None:
    world = World()
    world.root(8)
    world.event(ev.LimitsSet("r", (AmountLimit("r", "user:ann", 1, 9, 4000),)))
    job = world.submit("service", "r", 1, 8, module=Module.EAS, subjects=("user:ann",))
    world.plan()
    assert len(job.core_indexes) + len(job.extras) == 4


def test_no_surplus_is_started_only_to_be_taken_for_a_smaller_share() -> None:
    """S8, I4: `owner`, which waits for three GPUs, takes the place of `wide` at once; no third replica of that is started before."""
    state = State()
    for name, gpus in (("n0", 4), ("n1", 5)):
        apply(state, ev.NodeJoined(NodeSpec(name, gpus=gpus)), 0)
    draws = (("default", Bounds(9000)),)
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("r"), draws=draws, fair_idle=True)), 0)
    for name, parent, gpus in (("a", "r", 6), ("a.x", "a", 1), ("a.y", "a", 5)):
        apply(state, ev.QuotaCreated(QuotaSpec(QuotaId(name), QuotaId(parent), Bounds(gpus * 1000))), 0)
    submit(state, "regular", "a.y", (2, 2000))
    submit(state, "owner", "r", (3, 1000), idle=Idle.ONLY)
    submit(state, "wide", "a.x", (2, 1000), now_ms=1, min_replicas=2, max_replicas=3, idle=Idle.ONLY)
    submit(state, "short", "r", (3, 1000), now_ms=2)
    plan(state, 2)
    assert state.jobs[JobId("wide")].running
    apply(state, ev.JobEnded(JobId("short")), 5)
    submit(state, "one", "r", (1, 1000), now_ms=5)
    made = plan(state, 5)
    assert [(type(d).__name__, d.job) for d in made.decisions] == [("Start", "one"), ("Evict", "wide")]
    assert plan(state, 5).decisions == ()


@pytest.mark.parametrize("seed", range(20))
def test_who_gets_surplus_is_the_same_whether_or_not_the_order_is_kept_s9(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After every decision the order starts again from the top (S9); it is kept only where that comes to the same."""
    kept = _surplus_of(seed)
    fresh = count()
    monkeypatch.setattr(Leftovers, "_as_of", lambda _: (next(fresh), 0, 0))
    assert _surplus_of(seed) == kept
    assert len(kept) > 3


def _surplus_of(seed: int) -> list[tuple[str, str]]:
    random = Random(seed)
    world = World(nodes=3)
    world.root(24)
    for name in ("a", "b"):
        world.quota(name, 12, fair_idle=random.random() < 0.3)
    found: list[tuple[str, str]] = []
    for number in range(12):
        module = random.choice((Module.EAS, Module.DLC))
        most = {"min_replicas": 1, "max_replicas": random.randint(2, 4)} if module is Module.EAS else {}
        idle = random.choice((Idle.NEVER, Idle.NEVER, Idle.ALLOW, Idle.ONLY))
        quota, gpus = random.choice("abr"), random.choice((0.25, 0.5, 1, 2))
        world.submit(
            f"j{number}", quota, gpus, min(2, len(most)) or 1, module=module, idle=idle,
            priority=random.randint(1, 9), **most,
        )  # fmt: skip
        if number % 3 == 2:
            found += world.plan(number)
    return found


def test_what_a_service_could_use_at_most_costs_nothing_by_itself_p12(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A4: for each replica of surplus all numbers up to `max_replicas` were listed, and all that run were put in order."""
    seen = 0

    def counted(most: int) -> Iterator[int]:
        nonlocal seen
        for number in range(most):
            seen += 1
            yield number

    def never(job: Job) -> list[Unit]:
        raise AssertionError(f"the replicas of {job.id} are put in order")

    monkeypatch.setattr(leftovers, "range", counted, raising=False)
    monkeypatch.setattr(replicas, "_in_order", never)
    state = cluster(16)
    job = submit(state, "s", "r", (1, 1000), module=Module.EAS, max_replicas=100_000)
    plan(state, 0)
    assert job.running_replicas == 16
    assert seen <= 16 * 17
