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


def test_a_name_that_no_job_has_does_not_keep_the_others_from_being_cancelled(cli: Cli):
    job = cli.submit("--gpus", "1")
    result = cli.run("cancel", "nosuch", job, user="ann", status=3)
    assert "there is no job nosuch" in result.stderr
    assert result.stdout == f"{job} cancelled\n"
