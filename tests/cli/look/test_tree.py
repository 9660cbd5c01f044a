"""`tree` and `top` against a real server: use, drawn as bars."""

from __future__ import annotations

from tests.cli.conftest import Cli


def test_tree_and_top(cli: Cli):
    job = cli.submit("--gpus", "4")
    cli.wait_phase(job, "Running")
    assert ["├─", "vision", "████████████············", "4", "of", "8"] in [
        line.split() for line in cli.lines("tree")
    ]
    assert cli.lines("tree", user="eve")[0].startswith("speech  ")
    text = cli.run("top").stdout
    assert "jobs: 1 Running" in text
    assert "12 of 16 GPU free" in text
    assert "nodes:" not in cli.run("top", user="eve").stdout
