"""The mix of requests that placement goes by: counted as jobs come, and pictured now and then (ADR 0015)."""

from __future__ import annotations

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.explanation import preview
from quotatree.core.model.job import JobId, JobSpec, Placed, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.model.typical_requests import coarse
from quotatree.core.planning.plan import plan
from quotatree.core.state import State

ONE, FOUR = Shape(1000, 1000, 0), Shape(4000, 1000, 0)


def test_amounts_that_differ_by_little_are_one():
    assert [coarse(n) for n in (0, 1, 2, 3, 5, 6, 7, 8, 11, 12)] == [0, 1, 2, 3, 5, 6, 6, 8, 10, 12]
    assert coarse(11_300) == coarse(11_908) == 10_240
    assert coarse(96_000) <= 96_000


def cluster() -> State:
    """Five GPUs of node a are free and four of node b; seven jobs of one GPU stand on the others."""
    state = State()
    for name in ("a", "b"):
        apply(state, ev.NodeJoined(NodeSpec(name, gpus=8)), 0)
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("org"), draws=(("default", Bounds(16_000)),))), 0)
    for number, (node, device) in enumerate([(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (1, 3)]):
        places = (Placed(0, node, (device,), ONE),)
        apply(state, ev.JobAdopted(request(f"there-{number}", ONE), 0, places=places), 0)
    return state


def request(name: str, shape: Shape) -> JobSpec:
    return JobSpec(JobId(name), "org", (ReplicaGroup(1, shape),), 0)


def ask_in_vain(state: State, shape: Shape, times: int) -> None:
    for number in range(times):
        apply(state, ev.JobSubmitted(request(f"asked-{number}", shape)), 0)
        apply(state, ev.JobCancelled(JobId(f"asked-{number}")), 0)


def node_of_the_next(state: State) -> str:
    apply(state, ev.JobSubmitted(request("next", ONE)), 0)
    plan(state, 0)
    core = state.jobs[JobId("next")].core
    assert core is not None
    return state.nodes[core.places[0].node].spec.name


def test_where_only_single_gpus_are_asked_for_the_fuller_node_is_filled():
    state = cluster()
    ask_in_vain(state, ONE, 20)
    assert node_of_the_next(state) == "b"


def test_where_fours_are_usual_the_last_four_of_a_node_stay_together():
    state = cluster()
    ask_in_vain(state, FOUR, 20)
    assert node_of_the_next(state) == "a"


def test_what_was_only_previewed_is_not_learnt():
    state = cluster()
    mix = state.mixes["default"]
    before = dict(mix.counts), mix.seen, mix.next_picture, mix.typical
    preview(state, [ev.JobSubmitted(request(f"what-if-{n}", FOUR)) for n in range(20)], 0)
    assert (mix.counts, mix.seen, mix.next_picture, mix.typical) == before
    assert node_of_the_next(state) == "b"


def test_a_new_picture_is_made_each_time_twice_as_much_was_seen():
    state = cluster()
    mix = state.mixes["default"]
    ask_in_vain(state, ONE, 1)  # the eighth
    first = mix.typical
    assert first.total == 8
    ask_in_vain(state, FOUR, 7)
    assert mix.typical is first
    ask_in_vain(state, FOUR, 1)
    assert mix.typical.total == 16
