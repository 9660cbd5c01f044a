"""`hold`, `release`, `priority` and `cancel` against a real server."""

from __future__ import annotations

from tests.cli.conftest import Cli


def test_hold_release_priority_cancel(cli: Cli):
    full = cli.submit("--gpus", "8")
    cli.wait_phase(full, "Running")
    job = cli.submit("--gpus", "8")
    cli.run("hold", job, user="ann")
    assert cli.phase(job) == "OnHold"
    cli.run("release", job, user="ann")
    assert cli.phase(job) == "Waiting"
    cli.run("priority", job, "3", user="ann")
    assert cli.json("get", "job", job)["priority"] == 3
    result = cli.run("cancel", job, "dlc-0000000000", user="ann", status=3)
    assert result.stdout == f"{job} cancelled\n"
    assert cli.phase(job) == "Cancelled"
