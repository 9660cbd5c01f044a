"""`get` against a real server: every noun in every format, and who sees what."""

from __future__ import annotations

import csv
import io
import json

import pytest
import yaml

from quotatree.cli.look.nouns import NOUNS
from tests.cli.conftest import Cli, until

NAMES = [noun.word for noun in NOUNS]


@pytest.mark.parametrize("noun", NAMES)
@pytest.mark.parametrize("output", ["table", "wide", "json", "yaml", "name", "csv"])
def test_every_noun_in_every_format(cli: Cli, noun: str, output: str):
    cli.submit("--gpus", "1", "--name", "one")
    text = cli.run("get", noun, "-o", output).stdout
    if output == "json":
        assert isinstance(json.loads(text)["items"], list)
    elif output == "yaml":
        assert isinstance(yaml.safe_load(text)["items"], list)
    elif output == "name":
        assert all(line.startswith(f"{noun}/") for line in text.splitlines())
    elif output == "csv":
        rows = list(csv.reader(io.StringIO(text)))
        assert len({len(row) for row in rows}) == 1
    elif text:
        assert text.splitlines()[0].isupper()


def test_jobs_have_a_reason_and_a_place_in_the_queue(cli: Cli):
    running = cli.submit("--gpus", "8", "--priority", "5")
    cli.wait_phase(running, "Running")
    first = cli.submit("--gpus", "8", "--priority", "4")
    second = cli.submit("--gpus", "8", "--priority", "3")
    header, *rows = cli.lines("get", "jobs", "--phase", "Waiting", user="ann")
    table = {row.split()[0]: dict(zip(header.split(), row.split(), strict=False)) for row in rows}
    assert set(table) == {first, second}
    assert [cli.json("get", "job", job)["position"] for job in (first, second)] == [1, 2]
    assert rows[0].split()[-1] == cli.json("get", "job", second)["reason"]["code"]
    assert cli.lines("get", "jobs", "--no-headers", "--phase", "Waiting", user="ann") == rows


def test_finished_jobs_are_listed_only_when_asked_for(cli: Cli):
    job = cli.submit("--gpus", "1", "--seconds", "0")
    cli.wait_phase(job, "Succeeded")
    until(lambda: f"job/{job}" not in cli.lines("get", "jobs", "-o", "name"))
    assert f"job/{job}" in cli.lines("get", "jobs", "-a", "-o", "name")


def test_teams_see_only_their_own(cli: Cli):
    mine = cli.submit("--gpus", "1")
    assert f"job/{mine}" in cli.lines("get", "jobs", "-o", "name", user="ann")
    assert cli.run("get", "jobs", user="eve").stdout == ""
    cli.run("get", "job", mine, user="eve", status=3)
    cli.run("cancel", mine, user="eve", status=3)
    assert cli.lines("get", "workspaces", "-o", "name", user="eve") == ["workspace/speech"]


def test_a_filter_that_means_nothing_is_refused(cli: Cli):
    assert "--phase means nothing for quota" in cli.run("get", "quota", "--phase", "Running", status=2).stderr


def test_words_may_be_small(cli: Cli):
    job = cli.submit("--gpus", "1", "--module", "dlc")
    cli.wait_phase(job, "Running")
    assert cli.lines("get", "jobs", "--phase", "running", "-o", "name") == [f"job/{job}"]


def test_a_watch_shows_what_changes_and_nothing_twice(cli: Cli, monkeypatch: pytest.MonkeyPatch):
    job = cli.submit("--gpus", "8")
    cli.wait_phase(job, "Running")

    def watch(events, *, workspace=(), opened=lambda: None, **_):
        opened()
        yield {"kind": "job.started", "job": job}
        cli.run("cancel", job)
        cli.wait_phase(job, "Cancelled")
        yield {"kind": "job.cancelled", "job": job}

    monkeypatch.setattr("quotatree.client.history.Events.watch", watch)
    header, first, second = cli.lines("get", "jobs", "-w", "--quota", "vision")
    assert header.split()[0] == "ID"
    assert " Running " in first
    assert " Cancelled " in second
    assert first.index("DLC") == second.index("DLC") == header.index("MODULE"), "columns stay where they are"
    assert "does not work for pool" in cli.run("get", "pools", "-w", status=2).stderr


def test_the_name_of_a_priority_stands_beside_its_number_in_lists(cli: Cli):
    """W6: where people read; programs have the number, and the name in a field of its own."""
    cli.run("priorities", "set", "production=8", "nightly=2")
    try:
        runs = cli.submit("--gpus", "8", "--priority", "production")
        cli.wait_phase(runs, "Running")
        waits = cli.submit("--gpus", "8", "--priority", "nightly")
        assert any(runs in line and " 8 production " in line for line in cli.lines("get", "jobs"))
        (row,) = [line for line in cli.lines("get", "jobs", "-o", "csv") if line.startswith(runs)]
        assert ",8," in row
        assert "8 production" not in row
        assert any(waits in line and " 2 nightly " in line for line in cli.lines("queue", "vision"))
        (place,) = cli.json("queue", "vision")["items"]
        assert (place["priority"], place["priority_name"]) == (2, "nightly")
        assert f"{waits}  priority 2 nightly" in cli.run("describe", "quota", "vision").stdout
        told = cli.run("explain", waits, user="ann").stdout
        assert "vision: 1 job, 8 GPU, priority 8 production" in told
    finally:
        cli.run("priorities", "remove", "production", "nightly")
