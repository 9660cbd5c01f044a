"""`submit` against a real server: from options and files, once or many, and waiting for the end."""

from __future__ import annotations

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
