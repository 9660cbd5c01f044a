"""What nobody's leaving could make fit is refused at the door (S11)."""

from __future__ import annotations

import pytest

from quotatree.core.errors import Refused
from tests.core.building import World


def test_a_gang_that_no_nodes_hold_at_once_is_refused_s11() -> None:
    world = World(nodes=2)
    world.root(16)
    with pytest.raises(Refused, match="hold 2 replicas"):
        world.submit("gang", "r", 5, 3)
