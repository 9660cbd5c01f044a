"""What the console says of who may do something is what the table of rights says (W2)."""

from __future__ import annotations

import json

from console import build
from quotatree.access.roles import TABLE, Action


def test_the_roles_that_a_closed_page_names_are_those_that_have_the_right():
    said = json.loads((build.HERE / "src" / "whoMay.json").read_text())
    assert said, "nothing is told"
    for action, told in said.items():
        assert told["roles"] == [role.value for role in TABLE[Action(action)].needed], action
