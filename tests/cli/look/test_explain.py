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


def test_explain_says_when_a_job_will_start_or_that_it_cannot_be_told(cli: Cli):
    for _ in range(5):
        cli.wait_phase(cli.submit("--gpus", "8", "--seconds", "0"), "Succeeded")
    full = cli.submit("--gpus", "8", "--seconds", "600")
    cli.wait_phase(full, "Running")
    job = cli.submit("--gpus", "8")
    lines = cli.lines("explain", job, user="ann")
    assert any(line.startswith("  it will probably start at 20") for line in lines)
    assert any(line.startswith("    - how long ") for line in lines)
    assert not any("probably" in line for line in cli.lines("explain", job, "--no-estimate", user="ann"))
    service = cli.submit("--gpus", "8", "--module", "EAS", user="eve", quota="speech")
    cli.wait_phase(service, "Running")
    waits = cli.submit("--gpus", "8", user="eve", quota="speech")
    told = cli.run("explain", waits, user="eve").stdout
    assert "when it will start cannot be told: nothing that runs now would end by itself" in told


def test_of_a_notebook_that_ended_by_itself_it_is_told_how(cli: Cli):
    """The last decision about it was its start, which is no reason for being stopped."""
    job = cli.submit("--gpus", "1", "--module", "dsw", "--seconds", "0.1")
    cli.wait_phase(job, "Stopped")
    for words in (("explain", job), ("describe", "job", job)):
        said = cli.run(*words).stdout
        assert "- its program ended: succeeded" in said
        assert "- fits in its quota path" not in said
