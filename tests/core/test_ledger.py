"""Which work was ended, for whom or by whose wish, and at which cost (P13)?"""

from __future__ import annotations

from dataclasses import replace

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.ledger import ledger_entries
from quotatree.core.model.job import Idle
from quotatree.core.model.node import NodeState
from quotatree.core.model.resources import Resources
from quotatree.core.model.unit import GPU_SECOND
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code, Step, because
from tests.core.building import MINUTE, World, bounds, self_level

Line = tuple[str | None, str | None, str, int]


def lines(world: World, decisions: tuple[say.Decision, ...]) -> list[Line]:
    """Who took it, why if nobody did, which job it was, and how many GPU-seconds that lost."""
    found: list[Line] = []
    for entry in ledger_entries(world.state, decisions):
        assert entry.cost == sum(victim.cost for victim in entry.victims)
        why = None if entry.reason is None else entry.reason.code.name
        found += [(entry.preemptor, why, v.job, v.lost_work // GPU_SECOND) for v in entry.victims]
    return found


def busy() -> World:
    """Two jobs of two GPUs have run for a minute since nothing was saved: each would lose 200 GPU-seconds, restart and all."""
    world = World(gpus=4)
    world.root(4)
    world.quota("a", 4, self_level=self_level(5, 1))
    world.run("one", "a", 2)
    world.run("two", "a", 2, priority=2)
    world.now_ms = MINUTE
    return world


def test_what_a_job_takes_is_told_with_the_rule_of_each_victim() -> None:
    world = busy()
    world.submit("taker", "a", 2, priority=9)
    made = plan(world.state, world.now_ms).decisions
    assert lines(world, made) == [("taker", None, "one", 200)]
    (entry,) = ledger_entries(world.state, made)
    assert [victim.rule for victim in entry.victims] == [Code.SelfLevelOwn]


def test_work_that_no_job_takes_is_told_too() -> None:
    for event, why in (
        (ev.QuotaScaled("a", bounds(2), mode=ev.ScaleMode.RECLAIM), "ScaleReclaim"),
        (ev.NodeChanged("n0", NodeState.DRAINING), "NodeDrained"),
        (ev.JobCancelled("one"), "CancelledByOwner"),  # type: ignore[arg-type]
        (ev.JobStopped("one", because(Code.LongestRun, limit="1 h", workspace="w", quota="a")), "LongestRun"),  # type: ignore[arg-type]
    ):
        world = busy()
        found = lines(world, world.event(event))
        assert (None, why, "one", 200) in found
        assert {line[1] for line in found} == {why}


def test_a_share_that_a_borrower_takes_is_told() -> None:
    world = World()
    world.root(8, fair_idle=True)
    world.quota("a", 1)
    world.quota("b", 1)
    for number in range(8):
        world.submit(f"b{number}", "b", 1, idle=Idle.ONLY)
    world.plan()
    world.submit("late", "a", 1, idle=Idle.ONLY)
    made = plan(world.state, world.now_ms).decisions
    (entry,) = ledger_entries(world.state, made)
    assert (entry.preemptor, entry.step, len(entry.victims)) == ("late", Step.IDLE, 1)
    assert entry.victims[0].freed == Resources(1000)


def test_a_victim_that_was_not_evicted_is_in_no_entry() -> None:
    world = busy()
    world.submit("taker", "a", 2, priority=9)
    (evicted, held) = (d for d in plan(world.state, world.now_ms).decisions if not isinstance(d, say.Wait))
    assert isinstance(held, say.Hold)
    assert held.preemption is not None
    stays = replace(held.preemption, victims=(*held.preemption.victims, held.preemption.victims[0]))
    assert len(lines(world, (evicted, held._replace(preemption=stays)))) == 1
