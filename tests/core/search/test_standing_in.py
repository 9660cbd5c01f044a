"""A regular job goes in place of a borrower only where both have the same rights, and it loses less (I3)."""

from __future__ import annotations

from typing import Any

import pytest

from quotatree.core.explanation import exposure
from quotatree.core.model.job import Claim, Idle, JobId, Phase
from quotatree.core.search import standing_in
from tests.core.building import World

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS


def lent(each: int = 8, **fields: Any) -> World:
    """a has a min for two nodes, b for one; a's regular jobs began an hour before its borrowers, and save every 50 minutes."""
    world = World(nodes=3)
    world.root(24)
    world.quota("a", 16)
    world.quota("b", 8)
    own: dict[str, Any] = {"idle": Idle.ALLOW, "checkpoint_interval_ms": 50 * MINUTE_MS, **fields}
    for number in range(16 // each):
        world.submit(f"own-{number}", "a", each, **own)
    world.plan()
    world.now_ms += HOUR_MS
    for number in range(8 // each):
        world.submit(f"borrower-{number}", "a", each, idle=Idle.ALLOW)
    world.plan()
    world.now_ms += HOUR_MS
    return world


def claim_of(world: World, job: str) -> Claim:
    return world.state.jobs[JobId(job)].claim


def test_the_one_that_loses_less_goes_and_the_borrower_becomes_regular_i3() -> None:
    world = lent()
    world.submit("owner", "b", 8)
    assert world.plan() == [("Evict", "own-0"), ("Promote", "borrower-0"), ("Hold", "owner")]
    assert claim_of(world, "borrower-0") is Claim.REGULAR
    quota = world.state.quotas[world.state.jobs[JobId("own-0")].quota.id]
    assert (quota.used[0], quota.own_idle[0]) == (16_000, 0)


def test_no_preemption_is_counted_p11() -> None:
    world = lent(max_preemptions=0)  # one more would end it as failed
    world.submit("owner", "b", 8)
    world.plan()
    assert world.state.jobs[JobId("own-0")].phase is Phase.WAITING


@pytest.mark.parametrize(
    "unlike",
    [{"idle": Idle.NEVER}, {"priority": 2}, {"checkpoint_interval_ms": None}],
    ids=["never idle", "of another priority", "loses more"],
)
def test_who_has_other_rights_or_loses_more_stays_i3(unlike: dict[str, Any]) -> None:
    world = lent(**unlike)
    world.submit("owner", "b", 8)
    assert world.plan() == [("Evict", "borrower-0"), ("Hold", "owner")]


def test_jobs_of_another_size_stay_i3() -> None:
    """Either of 4 GPUs would do, and has just saved; the borrower of 8 could not become regular for it."""
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 8)
    world.quota("b", 8)
    for number in range(2):
        world.submit(f"half-{number}", "a", 4, idle=Idle.ALLOW, checkpoint_interval_ms=MINUTE_MS)
    world.plan()
    world.submit("whole", "a", 8, idle=Idle.ALLOW)
    world.plan()
    world.now_ms += HOUR_MS
    world.submit("owner", "b", 4)
    assert world.plan() == [("Evict", "whole"), ("Hold", "owner")]


def test_min_runtime_keeps_a_regular_job_from_standing_in_p11() -> None:
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 8, min_runtime_ms=3 * HOUR_MS)
    world.quota("b", 8)
    world.submit("own", "a", 8, idle=Idle.ALLOW, checkpoint_interval_ms=50 * MINUTE_MS)
    world.plan()
    world.submit("borrower", "a", 8, idle=Idle.ALLOW)
    world.plan()
    world.now_ms += HOUR_MS
    world.submit("owner", "b", 8)
    assert world.plan() == [("Evict", "borrower"), ("Hold", "owner")]


def test_several_stand_in_and_those_that_would_lose_most_stay_p5() -> None:
    """Eight of one GPU each: the whole node of b is wanted, or one GPU of it."""
    world = lent(each=1)
    world.submit("owner", "b", 1)
    decided = world.plan()
    assert [kind for kind, _ in decided] == ["Evict", "Promote", "Hold"]
    assert decided[0][1].startswith("own-")


def test_it_is_told_who_may_stand_in_x4() -> None:
    world = lent()
    assert [one.rule for one in exposure(world.state, JobId("own-0"), world.now_ms)] == ["IdleTakenBack"]
    alone = lent(idle=Idle.NEVER)
    assert exposure(alone.state, JobId("own-0"), alone.now_ms) == ()


def test_a_search_looks_at_few_stand_ins_a4(monkeypatch: pytest.MonkeyPatch) -> None:
    """None at all: then a borrower goes, as if there were no stand-ins."""
    monkeypatch.setattr(standing_in, "STAND_INS", 0)
    world = lent()
    world.submit("owner", "b", 8)
    assert world.plan() == [("Evict", "borrower-0"), ("Hold", "owner")]


def test_stand_ins_free_a_node_where_no_borrower_could_p7() -> None:
    """Each of two nodes has a borrower beside work of c that stays; the third has two jobs that are alike to them."""
    world = World(nodes=3)
    world.root(24)
    for name in "abc":
        world.quota(name, 8)
    for number in range(2):
        world.submit(f"own-{number}", "a", 4, idle=Idle.ALLOW)
    world.plan()
    for number in range(2):
        world.submit(f"fixed-{number}", "c", 4)
        world.plan()
        world.submit(f"borrower-{number}", "a", 4, idle=Idle.ALLOW)
        world.plan()
    world.submit("owner", "b", 8)
    assert world.plan() == [
        ("Evict", "own-0"), ("Evict", "own-1"), ("Promote", "borrower-1"), ("Promote", "borrower-0"), ("Hold", "owner"),
    ]  # fmt: skip
