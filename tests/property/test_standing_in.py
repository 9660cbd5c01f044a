"""Whoever stands in for a borrower: nothing loops, no quota has more, and each has somebody of the same rights to stand in for (I3, P10)."""

from __future__ import annotations

from random import Random

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.model.job import Claim, Idle, JobId
from quotatree.core.model.quota import QuotaId
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code
from tests.core.building import World
from tests.profiles import by_profile

WALKS = by_profile(quick=50, deep=200, long=5000)
STEPS = 40
MINUTE_MS = 60_000
TEAMS = ("a", "b", "c")


def test_stand_ins_never_loop_and_leave_quotas_as_they_were_p10() -> None:
    exchanges = 0
    for seed in range(WALKS):
        try:
            exchanges += walk(Random(seed))
        except AssertionError as problem:
            raise AssertionError(f"seed {seed}: {problem}") from problem
    assert exchanges > WALKS // 4, "the walks hardly meet what they are about"


def walk(random: Random) -> int:
    world = World(nodes=4, gpus=4)
    world.root(16)
    for team in TEAMS:
        world.quota(team, random.choice((4, 5)))
    seen = 0
    for number in range(STEPS):
        world.now_ms += random.randint(0, 40) * MINUTE_MS
        if random.random() < 0.75:
            world.submit(
                f"j{number}", TEAMS[number // 8 % 3], random.choice((1, 1, 1, 2, 4)), priority=random.choice((1, 1, 1, 5)),
                idle=random.choice((*[Idle.ALLOW] * 8, Idle.NEVER, Idle.ONLY)),
                checkpoint_interval_ms=random.choice((None, 15 * MINUTE_MS, 60 * MINUTE_MS)), grace_ms=0,
            )  # fmt: skip
        else:
            running = sorted(job.id for job in world.state.jobs.values() if job.core is not None)
            if running:
                world.event(ev.JobEnded(random.choice(running)))
        seen += settle(world)
    return seen


def settle(world: World) -> int:
    """Plan and let whoever was told to go leave, until nothing is left to decide; returns how often one stood in."""
    seen = 0
    for _ in range(4):
        before = {job.id: job.claim for job in world.state.jobs.values()}
        made = plan(world.state, world.now_ms)
        assert not plan(world.state, world.now_ms).decisions, "planning again yields nothing (P10)"
        seen += check(world, made, before)
        leaving = [job.id for job in world.state.jobs.values() if job.leaving]
        for job in leaving:
            world.event(ev.JobLeft(job))
        if not made.decisions and not leaving:
            return seen
    return seen


def check(world: World, made: say.Plan, before: dict[JobId, Claim]) -> int:
    jobs, left = world.state.jobs, 0
    promoted = [d for d in made.decisions if isinstance(d, say.Promote) and d.reason.code is Code.StoodInFor]
    for stayed in promoted:
        victim, other = jobs[JobId(str(dict(stayed.reason.facts)["victim"]))], jobs[stayed.job]
        assert before[victim.id] is Claim.REGULAR
        assert (victim.quota, victim.priority, victim.spec.module) == (
            other.quota,
            other.priority,
            other.spec.module,
        )
        assert victim.spec.groups == other.spec.groups
        assert victim.spec.idle is other.spec.idle is Idle.ALLOW
        left += 1
    for team in TEAMS:
        quota = world.state.quotas[QuotaId(team)]
        assert quota.used[0] <= (quota.min[0] or 0)
    taken = [d for d in made.decisions if isinstance(d, say.Evict) and d.reason.code is Code.IdleTakenBack]
    assert sum(before[d.job] is Claim.REGULAR for d in taken) == left
    return left
