"""What would happen with policies that nobody has saved, asked without a trace (X1, A8)."""

from __future__ import annotations

from dataclasses import replace

from quotatree.core.model.job import JobId
from quotatree.core.model.policy import SelfLevels
from quotatree.core.model.quota import QuotaId
from quotatree.core.reasons import Step
from quotatree.core.supposed_policy import Question
from tests.core.building import World, self_level
from tests.property.snapshot import snapshot


def test_policies_that_reach_the_same_work_are_tried_once_x1() -> None:
    world = World()
    world.root(8)
    world.run("low", "r", 8, priority=2)
    job = world.submit("waits", "r", 8, priority=7)
    world.plan()
    before = snapshot(world.state)
    question = Question(world.state, job, 0)
    declared = world.state.quotas[QuotaId("r")].spec
    for low in (2, 3, 4):
        begun = question.begun_with(replace(declared, self_level=self_level(7, low)), at_most=1)
        assert begun is not None
        assert begun.step is Step.OWN
        assert [(work.quota.id, work.priority) for work in begun.took] == [("r", 2)]
    assert question.attempts == 1
    assert snapshot(world.state) == before


def test_beyond_so_many_attempts_nothing_is_known_x1() -> None:
    world = World()
    world.root(8)
    world.run("low", "r", 8, priority=2)
    job = world.submit("waits", "r", 8, priority=7)
    world.plan()
    question = Question(world.state, job, 0)
    declared = world.state.quotas[QuotaId("r")].spec
    assert question.begun_with(replace(declared, self_level=self_level(7, 2)), at_most=0) is None


def test_what_needs_no_other_policy_does_not_count_as_help_x1() -> None:
    world = World()
    world.root(8)
    job = world.submit("starts", "r", 8, priority=7)
    question = Question(world.state, world.state.jobs[JobId("starts")], 0)
    assert question.begun_if(job.quota, replace(job.quota.spec, self_level=SelfLevels())) is None
