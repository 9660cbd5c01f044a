"""What a plan does is counted as real work; a plan that was cut short gives up no order, says so, and the next goes on (A8)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from benchmarks.hard_searches import cpu_just_beyond_reserved
from benchmarks.hard_worlds import LATER, any_lower, levels, waiting_shapes
from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import EndlessPlan
from quotatree.core.explanation import explain, preview
from quotatree.core.model.effort import CutShort, Effort, Unfinished, Work
from quotatree.core.model.job import Idle, JobId, JobSpec, Phase, ReplicaGroup, Shape
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope
from quotatree.core.model.resources import ZERO
from quotatree.core.model.wait_queue import Failure
from quotatree.core.planning import effort, work_stack
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.outcome import Outcome, Question, RivalsFirst
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code, because
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import State
from tests.core.building import ALL, World, child, cluster, root, self_level, submit
from tests.core.planning.crowds import crowded

URGENT = [JobId(f"urgent-{number}") for number in range(3)]


# -- the counter -------------------------------------------------------------------------------------------------------


def test_a_search_in_vain_ends_when_all_is_spent() -> None:
    work = Work()
    spent = Effort(work, 3)
    spent.spend(3)
    with pytest.raises(CutShort):
        spent.spend(1)
    assert work.done == 4, "what was done is counted, in vain or not"


def test_a_search_that_has_found_a_set_goes_on() -> None:
    spent = Effort(Work(), 3)
    spent.found()
    spent.spend(100)
    spent.seek()
    with pytest.raises(CutShort):
        spent.spend(1)


def test_a_brief_search_is_not_cut_short() -> None:
    Effort(Work(), 3, thorough=False).spend(100)


# -- plans that are cut short -------------------------------------------------------------------------------------------


def full_quota_with_urgent_jobs() -> State:
    """Three jobs each take one of their own quota; a job that waits above could take each of them, had it a turn."""
    above = ChildLevel(Priorities(1, 9), ALL)
    state = cluster(4, root(4, child_level=above), child("a", 4, self_level=self_level(6, 5, Scope.OWN)))
    for number in range(4):
        submit(state, f"old-{number}", "a", (1, 1000), priority=1)
    plan(state, 0)
    submit(state, "spare", "r", (1, 1000), now_ms=1, idle=Idle.ONLY)
    for name in URGENT:
        submit(state, name, "a", (1, 1000), now_ms=1, priority=6)
    return state


def evicted(made: say.Plan) -> set[JobId]:
    return {d.job for d in made.decisions if isinstance(d, say.Evict)}


def all_plans(state: State, now_ms: int, most: int = 2_000) -> list[say.Plan]:
    """Return all plans until one asks for no other at once."""
    made = [plan(state, now_ms)]
    while made[-1].next_wakeup_ms == now_ms:
        made.append(plan(state, now_ms))
        assert len(made) < most, "it goes round in circles"
    return made


def test_it_says_so_and_the_next_follows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = evicted(plan(full_quota_with_urgent_jobs(), 1))
    state = full_quota_with_urgent_jobs()
    monkeypatch.setattr(effort, "PLAN_AT_MOST", 1)
    made = all_plans(state, 1)
    assert len(made) > len(URGENT)
    assert all(one.cut_short for one in made[:-1])
    assert not plan(state, 1).cut_short, "all had their turn"
    placed = [d.job for one in made for d in one.decisions if isinstance(d, say.PLACINGS)]
    assert placed == URGENT, "in the order of the queue"
    assert set().union(*map(evicted, made)) == expected


def test_a_plan_that_had_time_for_all_says_nothing() -> None:
    state = full_quota_with_urgent_jobs()
    assert not plan(state, 1).cut_short
    assert state.roots[0].tree.unfinished is None


FAMILIES: list[Callable[[], State]] = [
    full_quota_with_urgent_jobs,
    partial(any_lower, 12),
    partial(levels, 3),
    partial(cpu_just_beyond_reserved, 12),
    partial(waiting_shapes, 20),
    *(partial(crowded, seed) for seed in range(20)),
]


@pytest.mark.parametrize("most", [1, 60, 400])
def test_however_little_a_plan_may_do_all_is_decided_in_the_end(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then no job waits that could start: what is left is what a plan without a limit leaves, too."""
    cut_short = 0
    for build in FAMILIES:
        state = build()
        with monkeypatch.context() as patch:
            patch.setattr(effort, "PLAN_AT_MOST", most)
            made = all_plans(state, LATER)
        cut_short += sum(one.cut_short for one in made)
        left = plan(restore(snapshot(state)), LATER)
        assert not [d for d in left.decisions if not isinstance(d, say.Wait)]
    assert cut_short > 50


def test_a_restart_forgets_what_was_unfinished(monkeypatch: pytest.MonkeyPatch) -> None:
    state = full_quota_with_urgent_jobs()
    monkeypatch.setattr(effort, "PLAN_AT_MOST", 1)
    assert plan(state, 1).cut_short
    assert state.roots[0].tree.unfinished is not None
    assert restore(snapshot(state)).roots[0].tree.unfinished is None


def test_a_question_leaves_no_trace_of_being_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    state = full_quota_with_urgent_jobs()
    monkeypatch.setattr(effort, "PLAN_AT_MOST", 1)
    spec = JobSpec(JobId("urgent-9"), "a", (ReplicaGroup(1, Shape(1000, 0, 0)),), 1, priority=6)
    preview(state, [ev.JobSubmitted(spec)], 1)
    explain(state, URGENT[0], 1)
    assert state.roots[0].tree.unfinished is None


def test_a_preview_looks_at_the_plans_that_follow_at_once_x3(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a plan leaves to the next one happens in the same moment, so it is part of what would happen."""
    state = full_quota_with_urgent_jobs()
    spec = JobSpec(JobId("urgent-9"), "a", (ReplicaGroup(1, Shape(1000, 0, 0)),), 1, priority=6)
    expected = preview(state, [ev.JobSubmitted(spec)], 1)
    monkeypatch.setattr(effort, "PLAN_AT_MOST", 60)
    shown = preview(state, [ev.JobSubmitted(spec)], 1)
    held = [d.job for d in expected if isinstance(d, say.Hold)]
    assert len(held) == 4
    assert [d.job for d in shown if isinstance(d, say.Hold)] == held
    assert len({d.job for d in shown if isinstance(d, say.Evict)}) == 4


def test_a_plan_of_which_nothing_comes_is_given_up_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fault that makes a plan try the same job for ever costs the one input that led to it, not the server."""

    def asks_again_and_again(*_: object) -> Outcome:
        return RivalsFirst(Question(ZERO, on_loan=False))

    state = full_quota_with_urgent_jobs()
    before = snapshot(state)
    with monkeypatch.context() as patch:
        patch.setattr(work_stack, "attempt", asks_again_and_again)
        with pytest.raises(EndlessPlan, match="neither helped nor failed"):
            all_plans(state, 1, most=3)
    assert snapshot(state) == before
    assert plan(state, 1).decisions


# -- order is never given up for effort ---------------------------------------------------------------------------------


def crowd(below: int) -> World:
    """A full cluster; a p9 of `vip` may take p1 to p4 beside it; in `bulk` so many other shapes of p1 and p9 wait that can be helped by
    nobody."""
    world = World(3)
    world.root(24)
    world.quota("vip", 8, self_level=self_level(9, 4, Scope.OWN))
    world.quota("bulk", 16)
    world.run("of-vip", "vip", 8, priority=1)
    for name in ("of-bulk", "of-bulk-too"):
        world.run(name, "bulk", 8, priority=1)
    for number in range(below):
        shape = ReplicaGroup(1, Shape(1000, number + 1, 0))
        for priority in (1, 9):
            spec = JobSpec(JobId(f"hopeless-{priority}-{number}"), "bulk", (shape,), 5, priority=priority)
            apply(world.state, ev.JobSubmitted(spec), 5)
    plan(world.state, 5)
    return world


def test_a_p9_takes_its_victim_at_once_however_many_others_wait() -> None:
    state = crowd(300).state
    submit(state, "vip-9", "vip", (1, 1000), now_ms=10, priority=9)
    plan(state, 10)
    assert state.jobs[JobId("vip-9")].phase is Phase.HELD


def two_teams() -> State:
    """One victim of p1 in `low`; a p9 of `nine`, submitted first, and a p5 of `five` could each take it."""
    rights = self_level(5, 4)
    state = cluster(
        24,
        root(24),
        child("nine", 8, self_level=rights),
        child("five", 8, self_level=rights),
        child("low", 8),
    )
    for name in ("nine", "five"):
        for number in range(7 if name == "nine" else 8):
            submit(state, f"{name}-{number}", name, (1, 1000), priority=9)
    submit(state, "low-0", "low", (1, 1000), priority=1)
    for number in range(8):
        submit(state, f"low-{number + 1}", "low", (1, 1000), priority=9)
    plan(state, 0)
    submit(state, "nine-late", "nine", (1, 1000), now_ms=1, priority=9)
    submit(state, "five-late", "five", (1, 1000), now_ms=1, priority=5)
    return state


@pytest.mark.parametrize("most", [1, 30, 60, 100, 200, 1 << 40])
def test_no_job_takes_what_one_of_a_higher_priority_was_sought_for_s6(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = evicted(plan(two_teams(), 1))
    state = two_teams()
    monkeypatch.setattr(effort, "PLAN_AT_MOST", most)
    made = all_plans(state, 1)
    assert set().union(*map(evicted, made)) == expected
    assert state.jobs[JobId("nine-late")].phase in (Phase.HELD, Phase.RUNNING)


def test_jobs_that_were_not_tried_come_first_within_their_priority() -> None:
    """Two quotas wait with one job each; the one whose turn it was when the last plan was cut short comes after the other."""
    state = cluster(8, root(8), child("a", 4), child("b", 4))
    submit(state, "in-a", "a", (1, 1000), priority=5)
    submit(state, "in-b", "b", (1, 1000), priority=5)
    submit(state, "urgent", "b", (1, 1000), priority=6)
    tree = state.roots[0].tree
    first = Ordering(state, 0, (tree,)).best()
    assert first is not None
    assert first.job.id == "urgent"
    in_a = state.jobs[JobId("in-a")].quota.queue.of_job[JobId("in-a")]
    urgent = state.jobs[JobId("urgent")].quota.queue.of_job[JobId("urgent")]
    tree.unfinished = Unfinished(frozenset({in_a, urgent}))
    ordering = Ordering(state, 0, (tree,))
    turns = []
    while (candidate := ordering.best()) is not None:
        turns.append(candidate.job.id)
        failure = Failure(because(Code.NoPolicy), tree.version)
        state.remember(candidate.cls, failure)
        state.set_told(candidate.job, failure.reason)
        ordering.drop(candidate.cls)
    assert turns == ["urgent", "in-b", "in-a"]


# -- a job for which a whole plan was not enough -------------------------------------------------------------------------


def test_then_it_is_sought_for_briefly_and_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found is lawful and minimal, as walks check (tests/property/test_walks.py); that others might cost less is told (P5)."""
    briefly = 0
    for build in FAMILIES:
        state = build()
        with monkeypatch.context() as patch:
            patch.setattr(effort, "PLAN_AT_MOST", 1)
            made = all_plans(state, LATER)
        placings = [d for one in made for d in one.decisions if isinstance(d, say.PLACINGS)]
        tried = [
            step.reason.code for d in placings if d.preemption is not None for step in d.preemption.tried
        ]
        briefly += tried.count(Code.SoughtBriefly)
    assert briefly > 5


def test_whoever_was_sought_for_thoroughly_is_not_told_that() -> None:
    made = plan(full_quota_with_urgent_jobs(), 1)
    holds = [d.preemption for d in made.decisions if isinstance(d, say.Hold)]
    assert all(
        Code.SoughtBriefly not in {step.reason.code for step in one.tried} for one in holds if one is not None
    )


# -- what is counted -----------------------------------------------------------------------------------------------------


def test_the_same_plan_counts_the_same_work_a3() -> None:
    for build in FAMILIES:
        spent = []
        for _ in range(2):
            state = build()
            before = state.work.done
            plan(state, LATER)
            spent.append(state.work.done - before)
        assert spent[0] == spent[1] > 0


def test_surplus_and_idle_starts_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "PLAN_AT_MOST", 1)
    state = cluster(8, root(8))
    submit(state, "service", "r", (1, 1000), module=Module.EAS, max_replicas=4)
    for number in range(3):
        submit(state, f"idle-{number}", "r", (1, 1000), idle=Idle.ONLY)
    made = all_plans(state, 0)
    assert len(made) > 6
    assert all(len([d for d in one.decisions if isinstance(d, say.PLACINGS)]) <= 1 for one in made)
    assert state.jobs[JobId("service")].running_replicas == 4
