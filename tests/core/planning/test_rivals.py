"""Who must be tried before a job: siblings that need no loan, and whoever could evict it (P3, S6, S8)."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Job, JobId, Phase
from quotatree.core.model.quota_arithmetic import fits_own_min
from quotatree.core.model.resources import Resources
from quotatree.core.model.rights import Work, could_claim, could_evict, work_of
from quotatree.core.planning import rivals
from quotatree.core.planning.contest import Candidate
from quotatree.core.planning.ordering import Ordering, room_within_min
from quotatree.core.planning.plan import plan
from tests.core.building import World, self_level
from tests.core.planning.crowds import crowded


def test_siblings_that_go_before_a_loan_go_in_their_order_s6() -> None:
    world = World()
    world.root(8)
    world.quota("a", 2, self_level=self_level(9, 1))
    world.quota("b", 3)
    world.quota("c", 3)
    for name, gpus in (("a", 2), ("b", 2), ("c", 2), ("r", 1)):
        world.run(f"runs-{name}", name, gpus, priority=9)
    world.submit("low", "b", 1, priority=2)
    world.submit("high", "c", 1, priority=7)
    world.submit("borrower", "a", 1, priority=9)
    assert world.plan() == [("Start", "high")]


def test_siblings_go_also_before_a_loan_that_needs_victims_p3() -> None:
    world = World()
    world.root(8)
    world.quota("a", 4, self_level=self_level(9, 3))
    world.quota("b", 4)
    world.run("runs-a", "a", 4, priority=9)
    world.run("runs-b", "b", 3, priority=1)
    world.submit("sibling", "b", 1, priority=5)
    world.submit("borrower", "a", 4, priority=9)
    assert world.plan() == [("Start", "sibling")]


def test_alike_siblings_are_asked_together_whether_they_could_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """P15: a loan that a start would need could be claimed by any of ten siblings; that they have one priority is enough to know."""
    asked: list[str] = []

    def noted(claimant: Work, victim: Work, request: tuple[int, int, int]) -> bool:
        asked.append(claimant.quota.id)
        return could_claim(claimant, victim, request)

    monkeypatch.setattr(rivals, "could_claim", noted)
    world = World(nodes=3)
    world.root(24)
    world.quota("a", 2, self_level=self_level(6, 1))
    world.run("runs-a", "a", 2, priority=9)
    for number in range(10):
        world.quota(f"beside-{number}", 2)
        world.run(f"runs-{number}", f"beside-{number}", 1, priority=9)
        world.submit(f"waits-{number}", f"beside-{number}", 1, priority=6)
    borrower = world.submit("borrower", "a", 2, priority=6)
    ordering = Ordering(world.state, world.now_ms, borrower.quota.tree.together)
    rival = rivals.rival_of(ordering, borrower, Resources(2000))
    assert rival is not None
    assert rival.job.id == "waits-0"
    assert len(asked) == 1


def test_who_does_not_fit_its_own_min_claims_nothing_back_p15_s6() -> None:
    """Three siblings have one GPU of two each, and all want two more on a loan. None of them could claim what another borrows,
    so the one whose turn it is gets it."""
    world = World()
    world.root(6)
    for name in ("a", "b", "c"):
        world.quota(name, 2, self_level=self_level(6, 1))
        world.run(f"runs-{name}", name, 1, priority=9)
    for name in ("a", "b", "c"):
        world.submit(f"waits-{name}", name, 2, priority=6)
    assert world.plan() == [("Start", "waits-a")]


def test_who_fits_its_own_min_goes_before_a_loan_that_it_could_claim_back_p15_s8() -> None:
    world = World()
    world.root(6)
    for name in ("a", "b", "c"):
        world.quota(name, 2, self_level=self_level(6, 1))
        world.run(f"runs-{name}", name, 1, priority=9)
    world.submit("waits-a", "a", 2, priority=7)
    world.submit("waits-c", "c", 1, priority=7)
    assert world.plan() == [("Start", "waits-c"), ("Start", "waits-a")]


@pytest.mark.parametrize("seed", range(60))
def test_the_rival_is_the_one_that_a_look_at_everybody_finds_s8(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every question of a plan, whatever was kept from earlier ones."""
    asked = 0
    found_by_index = rivals.rival_of

    def compared(
        ordering: Ordering, job: Job, request: Resources, without: Collection[JobId] = ()
    ) -> Candidate | None:
        nonlocal asked
        asked += 1
        found = found_by_index(ordering, job, request, without)
        assert found == look_at_everybody(ordering, job, request, without)
        return found

    for module in ("work_stack", "held_jobs"):
        monkeypatch.setattr(f"quotatree.core.planning.{module}.rival_of", compared)
    state = crowded(seed)
    for now_ms in range(0, 3_600_000, 900_000):
        plan(state, now_ms)
        running = [job.id for job in state.jobs.values() if job.phase is Phase.RUNNING]
        for name in running[seed % 3 :: 3]:
            apply(state, ev.JobEnded(name), now_ms)
    assert asked > 5


def look_at_everybody(
    ordering: Ordering, job: Job, request: Resources, without: Collection[JobId]
) -> Candidate | None:
    """Return what `rival_of` does, by asking every waiting job of the tree."""
    victim = work_of(job)
    found: list[Candidate] = []
    for quota in job.quota.tree.waiting.values():
        ready = ordering.ready(quota)
        surplus = room_within_min(quota, ready)
        for cls, other in ready:
            if other is job or other.id in without:
                continue
            claims = (
                other.priority >= job.priority
                and surplus is not None
                and fits_own_min(quota, cls.request, surplus)
                and could_claim(work_of(other), victim, request)
            )
            if could_evict(quota, other.priority, victim, claimable=claims):
                found.append(Candidate(quota, cls, other))
                break
    topmost = min((candidate.quota.depth for candidate in found), default=0)
    return ordering.first_of([candidate for candidate in found if candidate.quota.depth == topmost])


def test_of_the_jobs_of_one_quota_only_those_are_rivals_that_fit_its_min_p15() -> None:
    """The first in its queue is larger than what the quota has left, the second is not."""
    world = World()
    world.root(8)
    world.quota("a", 2, self_level=self_level(6, 1))
    world.quota("b", 3)
    world.run("runs-a", "a", 2, priority=9)
    world.run("runs-b", "b", 2, priority=9)
    world.submit("large", "b", 2, priority=6)
    world.submit("small", "b", 1, priority=6)
    borrower = world.submit("borrower", "a", 1, priority=6)
    ordering = Ordering(world.state, world.now_ms, borrower.quota.tree.together)
    rival = rivals.rival_of(ordering, borrower, Resources(1000))
    assert rival is not None
    assert rival.job.id == "small"
