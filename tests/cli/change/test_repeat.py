"""`submit --template` and `submit --again` repeat a job."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli

HERE = ("--workspace", "vision", "--quota", "vision")


def test_a_template_is_kept_submitted_and_changed_by_options(cli: Cli, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOKEN_OF_MINE", "s3cret")
    words = ("submit", *HERE, "--gpus", "2", "--priority", "3", "--name", "nightly", "--seconds", "0")
    kept = cli.run(*words, "--secret", "TOKEN_OF_MINE", "--save-template", "nightly", user="ann")
    assert "quotatree submit --template nightly" in kept.stdout
    assert "add --secret TOKEN_OF_MINE" in kept.stderr
    path = cli.home / "config" / "quotatree" / "templates" / "nightly.yaml"
    assert "s3cret" not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    (job,) = cli.json("submit", "--template", "nightly", "--gpus", "1", user="ann")["items"]
    found = cli.json("get", "job", job["id"])
    assert (found["name"], found["priority"], found["gpus"]) == ("nightly", 3, 1)


def test_a_template_that_is_not_there_names_those_that_are(cli: Cli):
    cli.run("submit", *HERE, "--gpus", "1", "--save-template", "small")
    assert "there are: small" in cli.run("submit", "--template", "none", status=3).stderr
    assert "must be letters" in cli.run("submit", "--template", "../x", status=2).stderr
    assert "only one of" in cli.run("submit", "--template", "small", "--again", "x", status=2).stderr


def test_a_job_runs_again_as_it_was(cli: Cli):
    words = (
        "--gpus",
        "2",
        "--replicas",
        "2",
        "--priority",
        "4",
        "--idle",
        "allow",
        "--grace",
        "45s",
        "--seconds",
        "0",
    )
    first = cli.submit(*words, "--name", "twice", "--max-preemptions", "3")
    cli.wait_phase(first, "Succeeded")
    (again,) = cli.json("submit", "--again", "twice", user="ann")["items"]
    one, other = cli.json("get", "job", first), cli.json("get", "job", again["id"])
    for field in (
        "workspace",
        "quota",
        "name",
        "groups",
        "priority",
        "idle",
        "grace",
        "max_preemptions",
        "program",
    ):
        assert other[field] == one[field]
    assert other["id"] != first
    (changed,) = cli.json("submit", "--again", first, "--priority", "9", user="ann")["items"]
    assert cli.json("get", "job", changed["id"])["priority"] == 9
