"""`quotatree top --since` against a real server."""

from __future__ import annotations

import csv
import io
import json

import pytest

from quotatree.cli.look import top_since
from quotatree.control.figure_history import FigureHistory, KeptFigures
from tests.cli.conftest import Cli


@pytest.fixture
def looked(cli: Cli) -> Cli:
    """A server with a running job, whose figures were written down once."""
    cli.wait_phase(cli.submit("--gpus", "4"), "Running")
    FigureHistory(cli.serving.server.controller, cli.serving.store, KeptFigures()).look()
    return cli


def test_every_quota_has_a_line_and_one_has_a_line_for_each_figure(looked: Cli):
    lines = looked.lines("top", "--since", "10m")
    assert lines[0].split() == ["QUOTA", "USED", "MIN"]
    assert ["vision", "4", "8", "▅"] in [line.split() for line in lines]
    assert "by minute; nothing known of 10 of 11" in lines[-1]
    one = [line.split() for line in looked.lines("top", "vision", "--since", "10m")]
    assert ["used", "4", "4", "4", "▅"] in one
    assert ["queued", "0", "0", "0", "▁"] in one
    assert ["running", "jobs", "1", "1", "1", "█"] in one
    assert "loan" not in [line[0] for line in one]


def test_programs_get_json_and_csv(looked: Cli):
    found = json.loads(looked.run("top", "vision", "--since", "1h", "-o", "json").stdout)
    assert [one for one in found["figures"]["gpu"]["used"] if one is not None] == [4]
    every = json.loads(looked.run("top", "--since", "1h", "-o", "json").stdout)
    assert {one["quota"] for one in every["items"]} >= {
        "company",
        "vision",
        "speech",
    }  # others make quotas here too
    rows = list(csv.DictReader(io.StringIO(looked.run("top", "--since", "1h", "-o", "csv").stdout)))
    assert {(row["quota"], row["resource"], row["used"], row["running_jobs"]) for row in rows} >= {
        ("company", "gpu", "4", "0"), ("vision", "gpu", "4", "1"), ("speech", "gpu", "0", "0"),
    }  # fmt: skip


def test_one_sees_ones_own_quotas(looked: Cli):
    assert [line.split()[0] for line in looked.lines("top", "--since", "1h", user="eve")[1:-1]] == ["speech"]
    assert "vision" in looked.run("top", "vision", "--since", "1h", user="eve", status=3).stderr


def test_what_cannot_be_asked_is_told(looked: Cli):
    assert "only with --since" in looked.run("top", "vision", status=2).stderr
    assert "soon" in looked.run("top", "--since", "soon", status=2).stderr


def test_a_narrow_and_plain_terminal_is_heeded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(top_since, "PIPED_WIDTH", 40)
    monkeypatch.setattr(top_since, "marks_for", lambda _: "_.:-=+*#")
    lines = top_since._lines([("QUOTA", "USED"), ("vision", "4")], [([4.0] * 300, 8)])
    assert lines == ["QUOTA   USED", "vision     4  " + "=" * 25]
    assert max(len(line) for line in lines) <= 40
