"""A7, A8: a state built from its records goes on as the one they were taken from; a transaction can be taken back whole.

`touched` must name every row a transaction wrote, or a server would forget something the next restart needs.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.model.job import Claim, JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec, NodeState
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.quota_arithmetic import has_loan
from quotatree.core.model.resources import Bounds
from quotatree.core.planning.plan import plan
from quotatree.core.records import Snapshot, job_record, node_record, pool_record, quota_record
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import State
from tests.profiles import by_profile
from tests.property import happenings, worlds
from tests.property.snapshot import snapshot as picture
from tests.property.test_determinism import deeds
from tests.property.walk import Walk

WALKS = by_profile(quick=8, deep=40, long=1500)
STEPS = 14
CHUNKS = range(4)
ENOUGH = 3
"""So often everything worth a look must have been met."""

Seen = Counter[str]


def story(random: Random) -> Walk:
    """A walk to begin with."""
    walk = Walk(worlds.settings(random))
    for event in worlds.world(random):
        walk.happen(event)
    for _ in range(random.randint(2, 14)):
        who = worlds.pick(random, happenings.submit, happenings.submit_low, happenings.submit_low)
        event = who(random, walk.state, walk.now_ms)
        walk.happen(event)
    walk.plan(check=False)
    return walk


def happenings_of(random: Random, walk: Walk) -> list[ev.Event]:
    """Some time passes, and this happens."""
    walk.wait(worlds.pick(random, 0, 1_000, 1_000, 20_000, 90_000, 700_000))
    found = [happenings.anything_at_all(random, walk.state, walk.now_ms) for _ in range(random.randint(1, 4))]
    return [event for event in found if event is not None]


def let_happen(state: State, events: list[ev.Event], now_ms: int) -> list[say.Decision | str]:
    found: list[say.Decision | str] = []
    for event in events:
        try:
            found += apply(state, event, now_ms)
        except Refused as refusal:
            found.append(str(refusal))
    return found


def look(state: State) -> dict[str, bool]:
    """What is in the state when it is taken apart: the test below counts on having met everything."""
    jobs = state.jobs.values()
    return {
        "holds with somebody leaving": any(j.hold and j.hold.waiting_on for j in jobs),
        "guards": any(tree.guard for tree in state.trees),
        "lazy scalings": any(q.shrinking for q in state.quotas.values()),
        "loans": any(has_loan(q) for q in state.quotas.values()),
        "idle claims": any(j.core and j.claim is Claim.IDLE for j in jobs),
        "surplus": any(j.extras for j in jobs),
        "protections": bool(state.protected),
        "delays": any(q.preemption_delay_ms and q.queue.of_job for q in state.quotas.values()),
        "balance": any(q.queue.stood for q in state.quotas.values()),
        "limits": bool(state.limit_used),
        "cordoned": any(n.state is NodeState.CORDONED for n in state.nodes),
        "lost": any(n.state is NodeState.LOST for n in state.nodes),
        "checkpoints": any(j.core and j.checkpoint_ms for j in jobs),
        "planned anew": any(j.replan_first for j in jobs),
    }


def go_on_side_by_side(seed: int, *, same_memory: bool, seen: Seen) -> None:
    """Some steps, then the state and its copy take the same further steps.

    Beyond the walks of the profile only those do that have in them what was met too seldom so far.
    """
    random = Random(f"snapshot {seed}")
    walk = story(random)
    state = walk.state
    for _ in range(random.randint(0, STEPS)):
        let_happen(state, happenings_of(random, walk), walk.now_ms)
        if worlds.chance(random, 85):
            plan(state, walk.now_ms)
    found = look(state)
    too_seldom = any(there and seen[what] < ENOUGH for what, there in found.items())
    seen.update(found)
    if seed >= WALKS * 8 and not too_seldom:
        return
    value = snapshot(state)
    copy = restore(value)
    assert snapshot(copy) == value
    assert picture(copy) == picture(state)
    if same_memory:
        state._undone()  # forgets why jobs failed, as a restart does
    for _ in range(8):
        events = happenings_of(random, walk)
        assert repr(let_happen(copy, events, walk.now_ms)) == repr(let_happen(state, events, walk.now_ms))
        one, other = plan(state, walk.now_ms), plan(copy, walk.now_ms)
        if same_memory:
            assert repr(other) == repr(one)
            assert snapshot(copy) == snapshot(state)
        else:
            assert in_any_order(other) == in_any_order(one)


def in_any_order(made: say.Plan) -> list[str]:
    """Return the decisions sorted: a job that is tried once more, its failure forgotten, may come before another one."""
    return sorted(repr(decision) for decision in deeds(made))


@pytest.mark.parametrize("same_memory", [True, False])
def test_a_restored_state_decides_the_same_for_ever_after(same_memory: bool) -> None:
    seen = Seen()
    for seed in range(max(WALKS, 40) * 16):
        try:
            go_on_side_by_side(seed, same_memory=same_memory, seen=seen)
        except Exception as problem:
            raise AssertionError(f"seed {seed}: {problem}") from problem
        if seed >= WALKS * 8 and min(seen.values()) >= ENOUGH:
            break
    rare = {what: count for what, count in seen.items() if count < ENOUGH}
    assert not rare, f"hardly ever met: {rare}"


def test_racks_are_chosen_the_same_after_a_restart() -> None:
    state = State()
    for name, gpus, rack in (("n0", 4, "x"), ("n1", 2, "x"), ("n2", 2, "y")):
        apply(state, ev.NodeJoined(NodeSpec(name, gpus=gpus, labels=(("rack", rack),))), 0)
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("q"), draws=(("default", Bounds(8000)),))), 0)
    one, in_y = Shape(1000, 0, 0), Shape(2000, 0, 0, labels=(("rack", "y"),))
    for name, replicas, shape in (("a", 1, one), ("b", 1, in_y)):
        apply(state, ev.JobSubmitted(JobSpec(JobId(name), "q", (ReplicaGroup(replicas, shape),), 0)), 0)
        plan(state, 0)
    copy = restore(snapshot(state))
    gang = ev.JobSubmitted(JobSpec(JobId("c"), "q", (ReplicaGroup(2, one),), 0))
    apply(state, gang, 0)
    apply(copy, gang, 0)
    assert repr(plan(copy, 0)) == repr(plan(state, 0))


class Rows:
    """What a store would hold: one row for each thing, replaced when it was touched."""

    def __init__(self, state: State) -> None:
        whole = snapshot(state)
        self.settings = whole.settings
        self.pools = {row.name: row for row in whole.pools}
        self.nodes = {row.name: row for row in whole.nodes}
        self.quotas = {row.id: row for row in whole.quotas}
        self.jobs = {row.id: row for row in whole.jobs}

    def take(self, state: State) -> int:
        touched = state.touched
        assert touched is not None
        for pool in touched.pools:
            self.pools[pool] = pool_record(state, pool)
        for name in touched.nodes:
            self.nodes[name] = node_record(state.node_by_name[name])
        for quota_id in touched.quotas:
            quota = state.quotas.get(quota_id)
            if quota is None:
                self.quotas.pop(quota_id, None)
            else:
                self.quotas[quota_id] = quota_record(state, quota)
        for job_id in touched.jobs:
            job = state.jobs.get(job_id)
            if job is None:
                self.jobs.pop(job_id, None)
            else:
                self.jobs[job_id] = job_record(state, job)
        return len(touched.jobs)

    def together(self) -> Snapshot:
        return Snapshot(
            self.settings,
            tuple(self.pools[name] for name in sorted(self.pools)),
            tuple(sorted(self.nodes.values(), key=lambda row: row.index)),
            tuple(sorted(self.quotas.values(), key=lambda row: row.order)),
            tuple(self.jobs[job_id] for job_id in sorted(self.jobs)),
        )


@pytest.mark.parametrize("chunk", CHUNKS)
def test_what_was_touched_is_all_that_was_written(chunk: int) -> None:
    written = there = 0
    for seed in range(chunk * 10_000, chunk * 10_000 + WALKS):
        random = Random(f"touched {seed}")
        walk = story(random)
        rows = Rows(walk.state)
        for _ in range(STEPS):
            events = happenings_of(random, walk)
            walk.state.begin(watch=True)
            let_happen(walk.state, events, walk.now_ms)
            plan(walk.state, walk.now_ms)
            written += rows.take(walk.state)
            walk.state.commit()
            there += len(walk.state.jobs)
            assert rows.together() == snapshot(walk.state), f"seed {seed}: {events}"
    assert written < there / 2, "almost every job is written every time"


def test_nothing_is_noted_unless_asked_for() -> None:
    state = State()
    state.begin()
    apply(state, ev.PoolDeclared("a"), 0)
    assert state.touched is None
    state.commit()
    state.begin(watch=True)
    assert state.touched is not None
    state.rollback()
    assert state.touched is None


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_transaction_taken_back_never_was(chunk: int) -> None:
    """Whatever happened in it: the state is the same, and decides the same afterwards."""
    for seed in range(chunk * 10_000, chunk * 10_000 + WALKS):
        random = Random(f"rollback {seed}")
        walk = story(random)
        state = walk.state
        for _ in range(STEPS):
            before, seen, now_ms = snapshot(state), picture(state), walk.now_ms
            state.begin(watch=worlds.chance(random, 50))
            for _ in range(random.randint(1, 3)):
                mark = state.mark()
                let_happen(state, happenings_of(random, walk), walk.now_ms)
                if worlds.chance(random, 30):
                    state.rollback_to(mark)
                if worlds.chance(random, 60):
                    plan(state, walk.now_ms)
            state.rollback()
            assert snapshot(state) == before, f"seed {seed}"
            assert picture(state) == seen, f"seed {seed}"
            walk.now_ms = now_ms
            copy = restore(before)
            events = happenings_of(random, walk)
            let_happen(copy, events, walk.now_ms)
            let_happen(state, events, walk.now_ms)
            one, other = plan(state, walk.now_ms), plan(copy, walk.now_ms)
            assert in_any_order(one) == in_any_order(other), f"seed {seed}"
