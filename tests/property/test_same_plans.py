"""The program that compares two versions of the core finds what is different, and nothing where nothing is."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from shutil import copytree

import pytest

from tests.profiles import by_profile
from tests.property.planned_walks import KINDS
from tests.property.same_plans import HERE, compare, source_of

WALKS = by_profile(quick=3, deep=20)
"""Walks of each kind."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_package_plans_as_itself_and_no_walk_ends_early(kind: str) -> None:
    counts, differences = compare(HERE, HERE, kind, 0, WALKS)
    assert differences == []
    assert counts["walks"] == WALKS
    assert counts["plans"] > 0
    assert "raised" not in counts


def test_another_order_of_the_steps_is_found_p4(tmp_path: Path) -> None:
    """The copy takes from its own quota last."""
    copytree(HERE / "quotatree", tmp_path / "quotatree", ignore=lambda *_: {"console_files", "__pycache__"})
    steps = tmp_path / "quotatree/core/planning/steps.py"
    own, beside = "Step.OWN, Right.OWN", "Step.SIBLINGS, Right.BELOW_AND_BESIDE"
    text = steps.read_text(encoding="utf-8")
    swapped = text.replace(own, "-").replace(beside, own).replace("-, loan", f"{beside}, loan")
    assert swapped != text
    steps.write_text(swapped, encoding="utf-8")
    with ExitStack() as stack:
        _, differences = compare(source_of(str(tmp_path), stack), HERE, "plain", 0, 10)
    assert differences, "nobody noticed"
    assert all(one.old != one.new for one in differences)
