"""`explain` and `queue` against a real server: why a job waits, and who is before it."""

from __future__ import annotations

from tests.cli.conftest import Cli


def test_explain_and_queue(cli: Cli):
    full = cli.submit("--gpus", "8")
    cli.wait_phase(full, "Running")
    job = cli.submit("--gpus", "8", "--name", "later")
    lines = cli.lines("explain", "later", user="ann")
    assert lines[0] == f"later ({job}) is Waiting in vision"
    assert any("what would help" in line for line in lines)
    assert cli.json("explain", job, user="ann")["position"] == 1
    assert [line.split()[:4] for line in cli.lines("queue", "--no-headers")] == [["vision", "1", job, "1"]]
    assert cli.lines("queue", "-o", "name", "vision", user="ann") == [f"job/{job}"]
    assert "could be taken by" in cli.run("explain", full, user="ann").stdout
