"""Scaling a quota: increases, lazy decreases, and reclaim (Q5)."""

from __future__ import annotations

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.model.policy import Module
from quotatree.core.model.quota import QuotaId
from tests.core.building import World, bounds, self_level


def test_an_increase_is_not_refused_because_of_a_loan_q5() -> None:
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 8, self_level=self_level(5, 1))
    world.quota("b", 6)
    world.run("one", "a", 8, priority=5)
    world.submit("two", "a", 2, priority=5)
    world.plan()
    world.event(ev.QuotaScaled("a", bounds(9)))
    assert not world.state.quotas[QuotaId("a")].shrinking


def test_actual_follows_use_through_two_lazy_scalings_q5() -> None:
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 16)
    world.run("one", "a", 8)
    world.run("two", "a", 8)
    for gpus in (12, 8):
        world.event(ev.QuotaScaled("a", bounds(gpus), mode=ev.ScaleMode.LAZY))
    assert world.state.quotas[QuotaId("a")].actual[0] == 16_000


def test_a_service_that_changes_its_core_frees_nothing_q5() -> None:
    world = World()
    world.root(8)
    world.quota("a", 8)
    job = world.run("service", "a", 1, 8, module=Module.EAS, min_replicas=2)
    world.event(ev.QuotaScaled("a", bounds(4), mode=ev.ScaleMode.LAZY))
    world.event(ev.JobResized(job.id, 6))
    world.plan()
    quota = world.state.quotas[QuotaId("a")]
    assert (quota.actual[0], quota.shrinking) == (8000, True)


def test_reclaim_takes_an_elastic_job_once_q5() -> None:
    world = World()
    world.root(8, 6)
    world.quota("a", 8, 6)
    world.run("elastic", "a", 1, 3, cpus=1, min_replicas=1)
    world.run("kept", "a", 2, cpus=1, priority=9)
    found = world.event(ev.QuotaScaled("a", bounds(2, 1), mode=ev.ScaleMode.RECLAIM))
    assert [(d.job, d.replicas) for d in found if isinstance(d, say.Evict)] == [("elastic", (0, 1, 2))]


def _on_loan(world: World) -> None:
    """a has 8 of 16 GPUs, and a loan of 4 on what b does not use."""
    world.root(16)
    world.quota("a", 8, self_level=self_level(5, 1))
    world.quota("b", 8)
    world.run("within", "a", 8, priority=5)
    world.submit("lent", "a", 4, priority=5)
    world.plan()
    assert world.state.quotas[QuotaId("a")].used[0] == 12_000


def test_a_mode_counts_where_the_target_stays_the_same_q5() -> None:
    for mode, shrinks, evicted in (
        (ev.ScaleMode.REFUSE, False, []),
        (ev.ScaleMode.LAZY, True, []),
        (ev.ScaleMode.RECLAIM, False, ["lent"]),
    ):
        world = World(nodes=2)
        _on_loan(world)
        found = world.event(ev.QuotaScaled("a", bounds(8), mode=mode))
        assert [d.job for d in found] == evicted
        assert world.state.quotas[QuotaId("a")].shrinking is shrinks


def test_who_is_given_more_loses_nothing_q5() -> None:
    world = World(nodes=2)
    _on_loan(world)
    assert world.event(ev.QuotaTransferred("b", "a", bounds(2), ev.ScaleMode.RECLAIM)) == ()
