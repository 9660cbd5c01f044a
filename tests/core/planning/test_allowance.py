"""What one plan may spend on victims is counted; what is left over is decided by the next, which follows at once (A4, A8)."""

from __future__ import annotations

import pytest

from benchmarks.hard_worlds import LATER, any_lower
from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import EndlessPlan
from quotatree.core.explanation import preview
from quotatree.core.model.job import Idle, JobId, JobSpec, Phase, ReplicaGroup, Shape
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope
from quotatree.core.planning import allowance
from quotatree.core.planning import plan as plan_module
from quotatree.core.planning.outcome import Overtaken
from quotatree.core.planning.plan import plan
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import State
from tests.core.building import ALL, child, cluster, gpus, root, self_level, submit

URGENT = [JobId(f"urgent-{number}") for number in range(3)]


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


def test_a_plan_that_has_spent_its_allowance_ends_and_asks_for_the_next_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = evicted(plan(full_quota_with_urgent_jobs(), 1))
    monkeypatch.setattr(allowance, "CHARGED_AT_MOST", 1)
    state = full_quota_with_urgent_jobs()
    taken: set[JobId] = set()
    for round_ in range(len(URGENT)):
        made = plan(state, 1)
        taken |= evicted(made)
        held = [name for name in URGENT if state.jobs[name].phase is Phase.HELD]
        assert held == URGENT[: round_ + 1], "one decision in each, in the order of the queue"
        assert made.next_wakeup_ms == 1
    assert taken == expected
    rest = plan(state, 1)
    assert not [d for d in rest.decisions if not isinstance(d, say.Wait)]
    assert rest.next_wakeup_ms != 1


def test_where_it_ends_does_not_depend_on_what_was_remembered_a8(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allowance, "CHARGED_AT_MOST", 1)
    state = full_quota_with_urgent_jobs()
    for _ in URGENT:
        again = restore(snapshot(state))
        assert plan(state, 1) == plan(again, 1)


def test_decisions_without_rivals_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allowance, "CHARGED_AT_MOST", 1)
    state = cluster(4, root(4, self_level=self_level(6, 5, Scope.OWN)))
    for number in range(4):
        submit(state, f"old-{number}", "r", (1, 1000), priority=1)
    plan(state, 0)
    for name in URGENT:
        submit(state, name, "r", (1, 1000), now_ms=1, priority=6)
    made = plan(state, 1)
    assert len(evicted(made)) == len(URGENT)


def test_held_jobs_whose_places_others_could_take_do_not_go_beyond_it_p9(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S8: before a held job starts, those are tried that could take its hold; they are charged like all others."""
    state = any_lower(30)
    monkeypatch.setattr(allowance, "CHARGED_AT_MOST", 1)
    made = plan(state, LATER)
    ends = 0
    while made.next_wakeup_ms == LATER:
        assert sum(d.preemption is not None for d in made.decisions if isinstance(d, say.Hold)) <= 1
        made, ends = plan(state, LATER), ends + 1
    assert ends > 10
    assert not plan(state, LATER).decisions


def test_a_plan_that_would_not_end_is_given_up_and_changes_nothing_a8(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fault that makes a plan try the same job for ever costs the one input that led to it, not the server."""

    def helped_again_and_again(*_: object) -> Overtaken:
        return Overtaken()

    state = full_quota_with_urgent_jobs()
    before = snapshot(state)
    with monkeypatch.context() as patch:
        patch.setattr(plan_module, "attempt", helped_again_and_again)
        patch.setattr(allowance, "ATTEMPTS_AT_MOST", 1_000)
        with pytest.raises(
            EndlessPlan, match="tried jobs 1,001 times and did not end; the last were urgent-0"
        ):
            plan(state, 1)
    assert snapshot(state) == before
    assert plan(state, 1).decisions


def test_a_preview_looks_at_the_plans_that_follow_at_once_x3(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a plan leaves to the next one happens in the same moment, so it is part of what would happen."""
    state = full_quota_with_urgent_jobs()
    spec = JobSpec(JobId("urgent-9"), "a", (ReplicaGroup(1, Shape(1000, 0, 0)),), 1, priority=6)
    expected = preview(state, [ev.JobSubmitted(spec)], 1)
    monkeypatch.setattr(allowance, "CHARGED_AT_MOST", 1)
    shown = preview(state, [ev.JobSubmitted(spec)], 1)
    held = [d.job for d in expected if isinstance(d, say.Hold)]
    assert len(held) == 4
    assert [d.job for d in shown if isinstance(d, say.Hold)] == held
    assert len({d.job for d in shown if isinstance(d, say.Evict)}) == 4


def surplus_to_come(reserved: int = 0) -> State:
    """A service that could have three replicas more than it wants, and jobs of four shapes that find no room in their quota."""
    state = cluster(8, root(8), child("a", 4), child("b", 4, reserved=gpus(reserved)), nodes=1)
    submit(state, "full", "b", (1, 4000), priority=5)
    plan(state, 0)
    for cpu_milli in range(1, 5):
        group = ReplicaGroup(1, Shape(1000, cpu_milli, 0))
        apply(state, ev.JobSubmitted(JobSpec(JobId(f"waits-{cpu_milli}"), "b", (group,), 0, priority=5)), 0)
    plan(state, 0)
    submit(state, "service", "a", (1, 1000), now_ms=1, max_replicas=4, module=Module.EAS)
    return state


def test_surplus_replicas_are_charged_with_the_classes_that_wait_p12(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first surplus of a tree is a right for all who wait: where many do, one replica is started in each plan (A4)."""
    monkeypatch.setattr(allowance, "FEW_CLASSES", 0)
    monkeypatch.setattr(allowance, "LOOKS_AT_MOST", 1)
    state = surplus_to_come()
    service = state.jobs[JobId("service")]
    for replicas in range(1, 5):
        again = restore(snapshot(state))
        made = plan(state, 1)
        assert made == plan(again, 1), "where it ends does not depend on what was remembered (A8)"
        assert made.next_wakeup_ms == 1
        assert service.running_replicas == replicas
    assert plan(state, 1).next_wakeup_ms != 1


@pytest.mark.parametrize(
    ("reserved", "times"), [(0, allowance.GIVING_WAY), (1, allowance.GIVING_WAY * allowance.RESERVED)]
)
def test_a_look_is_charged_with_more_where_surplus_or_reserved_parts_make_it_harder(
    monkeypatch: pytest.MonkeyPatch, reserved: int, times: int
) -> None:
    """A4: four classes wait; a second surplus replica is no new right for them, so each is charged with little."""
    monkeypatch.setattr(allowance, "FEW_CLASSES", 0)
    state = surplus_to_come(reserved)
    plan(state, 1)
    service = state.jobs[JobId("service")]
    assert service.running_replicas == 4
    spent = allowance.Allowance((service.quota.tree,))
    before = spent._looks_left
    spent.charge_surplus(service)
    assert before - spent._looks_left == allowance.ONE_SURPLUS + 4 * allowance.WITHOUT * times


def test_those_who_were_overtaken_are_charged_where_only_a_search_tells_that_they_could_start_s8() -> None:
    state = surplus_to_come()
    service = state.jobs[JobId("service")]
    spent = allowance.Allowance((service.quota.tree,))
    before = spent._looks_left
    spent.charge(service, victims=True, overtaken=3)
    assert spent._looks_left == before, "no surplus stands there yet"
    plan(state, 1)
    spent.charge(service, victims=True, overtaken=3)
    assert before - spent._looks_left == 3 * allowance.ONE_OVERTAKEN
