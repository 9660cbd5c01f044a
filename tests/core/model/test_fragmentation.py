"""The waste of a node, worked out by hand (R3, ADR 0015), and the mix it is judged by."""

from __future__ import annotations

from quotatree.core.model.fragmentation import FINE, Typical, losses
from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node, NodeSpec

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
