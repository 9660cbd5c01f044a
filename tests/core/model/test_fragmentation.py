"""The waste of a node, worked out by hand (R3, ADR 0015), and the mix it is judged by."""

from __future__ import annotations

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.explanation import preview
from quotatree.core.model.fragmentation import FINE, Typical, losses
from quotatree.core.model.job import JobId, JobSpec, Placed, ReplicaGroup, Shape
from quotatree.core.model.node import Node, NodeSpec
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.model.typical_requests import coarse
from quotatree.core.planning.plan import plan
from quotatree.core.state import State

ONE, FOUR, EIGHT = Shape(1000, 1000, 0), Shape(4000, 1000, 0), Shape(8000, 1000, 0)
HALF, THIRD = Shape(500, 0, 0), Shape(300, 0, 0)


def rank(
    typical: Typical, shape: Shape, free: list[int], cpu: int = 128_000, memory: int = 0, gpus: int = 8
) -> int:
    return typical.fit(Node(0, NodeSpec("n", gpus=gpus)), shape, free, cpu, memory)[0]


def whole(free: int) -> list[int]:
    return [1000] * free + [0] * (8 - free)


def test_a_gpu_comes_from_the_node_that_no_larger_request_could_use():
    # 3 free are wasted for half of the requests (the 4s), 2 free as well: 500 milli less. 5 -> 4 wastes nothing new,
    # 4 -> 3 makes 3,000 useless to half of them.
    typical = Typical({ONE: 1, FOUR: 1})
    assert rank(typical, ONE, whole(3)) < rank(typical, ONE, whole(5)) < rank(typical, ONE, whole(4))


def test_where_nothing_is_wasted_the_tightest_fit_decides():
    typical = Typical({ONE: 5})
    ranks = [rank(typical, ONE, whole(free)) for free in (1, 2, 5, 8)]
    assert ranks == sorted(ranks)


def test_where_all_ask_for_whole_gpus_and_nothing_else_the_tightest_fit_decides():
    one, four = Shape(1000, 0, 0), Shape(4000, 0, 0)
    typical = Typical({one: 1, four: 1})
    assert rank(typical, one, whole(3)) < rank(typical, one, whole(4)) < rank(typical, one, whole(5))


def test_differences_below_a_step_are_none():
    # The one EIGHT among a thousand would lose 7,000 of its 8,000: 7 milli on average, which is less than half a step.
    rare = Typical({ONE: 999, EIGHT: 1})
    assert rank(rare, ONE, whole(8)) - rank(rare, ONE, whole(1)) == 7000
    common = Typical({ONE: 9, EIGHT: 1})
    assert rank(common, ONE, whole(8)) > rank(common, ONE, whole(1)) + 7000


def test_gpus_without_the_cpu_to_use_them_are_waste():
    # Either node has room. On the first, what is left of the CPU lets nobody use the other GPU.
    needy = Shape(1000, 8_000, 0)
    typical = Typical({needy: 1})
    short = rank(typical, needy, [1000, 1000], cpu=12_000, gpus=2)
    plenty = rank(typical, needy, [1000, 1000], cpu=16_000, gpus=2)
    assert plenty < short


def test_a_request_without_gpus_goes_where_its_cpu_is_not_missed():
    needy, cpu_only = Shape(1000, 8_000, 0), Shape(0, 8_000, 0)
    typical = Typical({needy: 1})
    beside_gpus = rank(typical, cpu_only, [1000, 0], cpu=8_000, gpus=2)
    beside_none = rank(typical, cpu_only, [0, 0], cpu=8_000, gpus=2)
    assert beside_none < beside_gpus


def test_nodes_of_a_model_nobody_else_can_use_are_taken_first():
    picky = Shape(1000, 0, 0, ("A100",))
    typical = Typical({ONE: 1, picky: 1})
    old = typical.fit(Node(0, NodeSpec("t", model="T4", gpus=2)), ONE, [1000, 1000], 0, 0)
    new = typical.fit(Node(1, NodeSpec("a", model="A100", gpus=2)), ONE, [1000, 1000], 0, 0)
    assert old[0] < new[0]


def test_a_fraction_shares_the_device_whose_rest_stays_of_use():
    # 300 of 600 leaves 300 for another of its kind; 300 of 500 would leave 200 for nobody and break up a half.
    typical = Typical({HALF: 1, THIRD: 1})
    assert typical.fit(Node(0, NodeSpec("n", gpus=2)), THIRD, [500, 600], 0, 0)[1] == 600
    assert typical.fit(Node(0, NodeSpec("n", gpus=2)), HALF, [500, 600], 0, 0)[1] == 500


def test_losses_to_come_on_a_shared_device():
    # Halves and thirds alike often: 300 left is used up by a third, or lost; 500 left is used up, or 200 are lost.
    lost = losses({500: 1, 300: 1})
    assert lost[0] == 0
    assert lost[200] == 200 * FINE
    assert lost[300] == 150 * FINE
    assert lost[500] == 100 * FINE
    assert lost[550] == 150 * FINE


def test_before_anything_is_known_the_tightest_fit_decides():
    nothing = Typical({})
    assert rank(nothing, ONE, whole(2)) < rank(nothing, ONE, whole(3))
    assert nothing.fit(Node(0, NodeSpec("n", gpus=2)), THIRD, [600, 400], 0, 0)[1] == 400


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
