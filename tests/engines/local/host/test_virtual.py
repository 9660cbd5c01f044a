"""`--nodes 16x8` (R2): virtual nodes where there are no GPUs."""

import pytest

from quotatree.core.errors import Refused
from quotatree.engines.local.host.virtual import virtual_nodes


def test_sixteen_nodes_of_eight():
    nodes = virtual_nodes("16x8")
    assert [node.name for node in nodes] == [f"node-{n}" for n in range(16)]
    assert {(node.gpus, node.model, node.pool) for node in nodes} == {(8, "GPU", "default")}


def test_several_models_are_numbered_through_and_make_a_pool_each():
    nodes = virtual_nodes("2x8:H100, 1x4:L20")
    assert [(n.name, n.gpus, n.model, n.pool) for n in nodes] == [
        ("node-0", 8, "H100", "H100"),
        ("node-1", 8, "H100", "H100"),
        ("node-2", 4, "L20", "L20"),
    ]


def test_several_sizes_of_one_model_are_one_pool():
    assert {node.pool for node in virtual_nodes("2x8:H100,1x4:H100")} == {"default"}


@pytest.mark.parametrize(
    "text", ["", "8", "x8", "0x8", "16x65", "16x8:", "16x8:a b", "-1x8", "9999x8,2x8", "1x8,,"]
)
def test_anything_else_is_refused_with_an_example(text):
    with pytest.raises(Refused, match=r"NODESxGPUS|1 to 10000|0 to 64"):
        virtual_nodes(text)
