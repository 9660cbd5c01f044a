"""`submit` against a real server: from options and files, once or many, and waiting for the end."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli


def test_submit_from_a_file_with_options_over_it(cli: Cli):
    path = cli.file("jobs.yaml", "jobs:\n- {workspace: vision, quota: vision, gpus: 1, name: a}\n"
                                 "- {workspace: vision, quota: vision, gpus: 1, name: b, priority: 2}\n")  # fmt: skip
    made = cli.json("submit", "-f", path, "--priority", "7", "--cpu", "4", user="ann")["items"]
    found = [cli.json("get", "job", one["id"]) for one in made]
    assert [job["name"] for job in found] == ["a", "b"]
    assert {job["priority"] for job in found} == {7}
    assert found[0]["groups"][0]["cpu"] == 4


def test_a_key_makes_one_job_of_two_submits(cli: Cli):
    assert cli.submit("--gpus", "1", "--key", "k-1") == cli.submit("--gpus", "1", "--key", "k-1")


def test_many_at_once_each_with_its_outcome(cli: Cli):
    path = cli.file("jobs.toml", '[[jobs]]\nworkspace = "vision"\nquota = "vision"\ngpus = 1\n'
                                 '[[jobs]]\nworkspace = "vision"\nquota = "speech"\ngpus = 1\n')  # fmt: skip
    result = cli.run("submit", "-f", path, user="ann", status=1)
    assert len(result.stdout.splitlines()) == 1
    assert "speech" in result.stderr


def test_submit_waits_for_the_end(cli: Cli):
    words = ("submit", "--workspace", "vision", "--quota", "vision", "--gpus", "1", "--wait")
    assert cli.lines(*words, "--seconds", "0.1", user="ann")[-1].endswith(" Succeeded")
    failing = '{"seconds": 0.1, "outcome": "failed"}'
    assert (
        cli.run(*words, "--program", failing, user="ann", status=1)
        .stdout.splitlines()[-1]
        .endswith(" Failed")
    )
    assert "listed with -a" in cli.run("get", "jobs").stderr
    told = '{"seconds": 0.1, "outcome": "failed", "detail": "no luck"}'
    job = cli.run(*words, "--program", told, user="ann", status=1).stdout.splitlines()[-1]
    assert job.endswith(" Failed: no luck")
    assert "    - no luck" in cli.lines("explain", job.split()[0], user="ann")
    assert cli.lines("get", "jobs", "-a", "--most", "1", "--no-headers")[0].endswith("no luck")


def test_the_workspace_of_a_file_goes_before_the_variable(cli: Cli, monkeypatch: pytest.MonkeyPatch):
    file = cli.file("job.yaml", "{workspace: vision, quota: vision, gpus: 1}")
    bare = cli.file("bare.yaml", "{quota: vision, gpus: 1}")
    for named, path in (("speech", file), ("vision", bare)):
        monkeypatch.setenv("QUOTATREE_WORKSPACE", named)
        (job,) = cli.json("submit", "-f", path, user="ann")["items"]
        assert cli.json("get", "job", job["id"])["workspace"] == "vision"
    assert "speech" in cli.run("submit", "-f", file, "--workspace", "speech", status=1).stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{gpus: 1, gpus: 2}", "line 1: gpus is said twice"),
        ("{groups: 5}", "groups: must be a list of tables"),
        ("{groups: [5]}", "groups: must be a list of tables"),
        ("{gpus: 1, program: 5}", "program: must be a table"),
        ("{gpus: 1, program: {env: 5}}", "program: must be a table"),
    ],
)
def test_a_file_of_another_shape_is_refused(cli: Cli, text: str, said: str):
    assert (
        said
        in cli.run("submit", "-f", cli.file("job.yaml", text), "--gpus", "1", "--env", "A=1", status=2).stderr
    )
