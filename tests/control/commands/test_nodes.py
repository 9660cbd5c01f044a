"""A node is drained and used again in a server (R5)."""

import pytest

from quotatree.access.errors import Forbidden
from quotatree.control.commands import values as do
from quotatree.core.model.node import NodeState
from tests.control.server import Server


def test_a_drained_node_is_emptied_and_used_again(server: Server):
    job = server.submit(seconds=None)
    server.do(do.SetNodeState(actor="root", node="n0", state=NodeState.DRAINING))
    assert server.phase(job) == "Waiting"
    server.do(do.SetNodeState(actor="root", node="n0", state=NodeState.READY))
    assert server.phase(job) == "Running"
    with pytest.raises(Forbidden):
        server.do(do.SetNodeState(actor="ann", node="n0", state=NodeState.CORDONED))
