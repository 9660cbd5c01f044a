"""`get preemptions` and `get events` against a real server: what happened, to whom, at which cost."""

from __future__ import annotations

import csv
import io

import pytest

from quotatree.cli.look.get import print_items
from quotatree.cli.look.happened import echo_event
from quotatree.cli.look.nouns import WORDS
from tests.cli.conftest import Cli


def test_the_ledger_names_victims_and_costs(cli: Cli):
    """P1 by the company's child-level policy: a job of the company takes one of vision (P13)."""
    cli.run(
        "apply",
        "-y",
        "-f",
        cli.file("w.yaml", "workspaces: [{id: board, quotas: [company], members: {admin: owner}}]"),
    )
    named = ("--grace", "0s", "--requeue", "--name", "training")
    victims = [cli.submit("--gpus", "8", "--priority", "1", *named)]
    victims.append(cli.submit("--gpus", "8", *named, user="eve", quota="speech"))
    for victim in victims:
        cli.wait_phase(victim, "Running")
    words = (
        "submit",
        "--workspace",
        "board",
        "--quota",
        "company",
        "--gpus",
        "8",
        "--priority",
        "9",
        "-o",
        "name",
    )
    taker = cli.lines(*words)[0].removeprefix("job/")
    cli.wait_phase(taker, "Running")
    rows = list(
        csv.DictReader(io.StringIO(cli.run("get", "preemptions", "--job", taker, "-o", "csv").stdout))
    )
    assert [row["preemptor"] for row in rows] == [taker]
    assert rows[0]["victim"] in victims
    assert rows[0]["victim_name"] == "training"
    assert f"{rows[0]['victim']} (training)" in cli.run("get", "preemptions", "--job", taker).stdout
    assert f"{rows[0]['victim']} (training)" in cli.run("get", "preemptions").stdout
    assert taker not in cli.run("get", "preemptions", user="ann").output
    assert cli.json("get", "preemptions", "--job", taker)["items"][0]["preemption"]["preemptor"] == taker
    cli.run("get", "preemptions", "--since", "soon", status=2)
    assert len(cli.lines("get", "preemptions", "--since", "1h", "--no-headers")) >= len(rows)
    older = ("--job", taker, "-o", "csv")
    assert cli.run("preemptions", *older).stdout == cli.run("get", "preemptions", *older).stdout
    wide = cli.lines("get", "preemptions", "--job", taker, "-o", "wide")
    assert wide[0].split()[-3:] == ["RULE", "HIGHEST", "SEQ"]


def test_events_of_a_job_in_order(cli: Cli):
    job = cli.submit("--gpus", "1", "--seconds", "0")
    cli.wait_phase(job, "Succeeded")
    kinds = [event["kind"] for event in cli.json("get", "events", "--job", job, user="ann")["items"]]
    assert kinds[0] == "job.submitted"
    assert kinds.index("job.submitted") < len(kinds) - 1


def test_an_event_is_printed_with_its_figures_in_a_list_and_while_one_watches(
    capsys: pytest.CaptureFixture[str],
):
    event = {
        "seq": 7, "at_ms": 0, "kind": "job.autoscaled", "workspace": "vision", "quota": None, "job": "eas-1",
        "body": {"before": 1, "after": 3, "in_flight": 20.0},
    }  # fmt: skip
    cells = ["vision", "-", "eas-1", "before=1", "after=3", "in_flight=20.0"]
    for output in ("table", "wide"):
        print_items(WORDS["event"], [event], output, headers=False)
        echo_event(event, output)
        listed, watched = capsys.readouterr().out.splitlines()
        assert listed.split()[-6:] == watched.split()[-6:] == cells
