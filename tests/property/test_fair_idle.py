"""Fair borrowing: every move goes to the smaller share and is needed, and moves come to an end (I4, P10)."""

from __future__ import annotations

from random import Random

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.model.job import Idle, JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import State
from tests.profiles import by_profile
from tests.property.walk import Walk
from tests.property.worlds import chance, pick

WALKS = by_profile(quick=16, deep=60, long=3000)
"""Walks of each chunk."""
CROWD = 7
"""So many small borrowers of one quota come first."""
MOVES_PER_JOB = 12
"""Far more moves than any walk needs until its borrowers rest."""


@pytest.mark.parametrize("chunk", range(4))
def test_borrowers_come_to_rest_and_each_move_lowers_the_larger_share(chunk: int) -> None:
    moves = 0
    for seed in range(chunk * 10_000, chunk * 10_000 + WALKS):
        try:
            moves += _borrowers(Random(f"fair {seed}"))
        except Exception as problem:
            raise AssertionError(f"seed {seed}: {problem}") from problem
    assert moves >= WALKS // 4, "hardly anybody ever took from another"


def _borrowers(random: Random) -> int:
    """Let borrowers of several quotas come, and rest after each few; return how often one took from another.

    Every plan is replayed, which checks each move (fair_shares.py), and compared with that of a restored state (A8).
    """
    walk = Walk()
    for event in shared_world(random):
        walk.happen(event)
    moves = 0
    for number in range(CROWD + random.randint(4, 10)):
        walk.happen(ev.JobSubmitted(borrower(random, walk.state, walk.now_ms, number)))
        if chance(random, 60):
            moves += _rest(walk)
    return moves + _rest(walk)


def _rest(walk: Walk) -> int:
    """Plan until nothing is decided and nobody leaves; return the number of moves."""
    moves = 0
    for _ in range(MOVES_PER_JOB * max(1, len(walk.state.jobs))):
        afresh = plan(restore(snapshot(walk.state)), walk.now_ms)
        made = walk.plan()
        assert len(afresh.decisions) == len(made.decisions)
        moves += sum(isinstance(d, say.Evict) and d.reason.code is Code.FairShare for d in made.decisions)
        walk.check_steady()
        if not made.decisions and not walk.state.leaving_jobs:
            return moves
        walk.wait(1_000)
        for job_id in list(walk.state.leaving_jobs):
            walk.happen(ev.JobLeft(job_id))
    raise AssertionError("borrowers take from each other for ever")


def shared_world(random: Random) -> list[ev.Event]:
    """Two nodes, and a tree of two levels in which the root or its children share what is idle."""
    found: list[ev.Event] = [ev.NodeJoined(NodeSpec(f"n{i}", gpus=4)) for i in range(2)]
    top = chance(random, 75)
    found.append(ev.QuotaCreated(QuotaSpec(QuotaId("r"), draws=(("default", Bounds(8000)),), fair_idle=top)))
    for name in "abc":
        child = QuotaSpec(
            QuotaId(name), QuotaId("r"), Bounds(pick(random, 1000, 2000)), weight=_weight(random),
            fair_idle=not top or chance(random, 20), lending=chance(random, 90),
            idle_limit_milli=pick(random, None, None, None, 3000),
        )  # fmt: skip
        found.append(ev.QuotaCreated(child))
        if chance(random, 40):
            for leaf in "xy":
                spec = QuotaSpec(QuotaId(name + leaf), QuotaId(name), Bounds(500), weight=_weight(random))
                found.append(ev.QuotaCreated(spec))
    return found


def _weight(random: Random) -> Bounds | None:
    return pick(random, None, None, Bounds(0), Bounds(1000), Bounds(5000))


def borrower(random: Random, state: State, now_ms: int, number: int) -> JobSpec:
    """The first jobs are small borrowers of one quota, so that there is something to share; then anything comes."""
    shape = Shape(pick(random, 1000, 1000, 2000, 500, 4000), 0, 0)
    count = pick(random, 1, 1, 1, 2, 3)
    idle = pick(random, Idle.ONLY, Idle.ONLY, Idle.ONLY, Idle.ALLOW, Idle.NEVER)
    quota = pick(random, *state.quotas)
    if number < CROWD:
        shape, count, idle, quota = Shape(1000, 0, 0), 1, Idle.ONLY, QuotaId("a")
    return JobSpec(
        JobId(f"j{number:02}"), quota, (ReplicaGroup(count, shape),), now_ms,
        priority=random.randint(1, 9), min_replicas=pick(random, None, 1), idle=idle,
    )  # fmt: skip
