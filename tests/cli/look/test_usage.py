"""`usage` against a real server: GPU-hours as a table, as CSV and as JSON, and times that cannot be read."""

from __future__ import annotations

import csv
import io

import pytest

from quotatree.cli.look.usage import _time_ms
from tests.cli.conftest import Cli


def test_gpu_hours_by_user_and_claim(cli: Cli):
    for job in (cli.submit("--gpus", "2", user="ann"), cli.submit("--gpus", "1", user="eve", quota="speech")):
        cli.wait_phase(job, "Running")
    header, *rows, total = cli.lines("usage", "--since", "1h", "--by", "user,claim")
    assert header.split() == ["USER", "CLAIM", "GPU-HOURS", "LOST-GPU-HOURS", "RUNS", "PREEMPTED"]
    assert {("ann", "guaranteed"), ("eve", "guaranteed")} <= {tuple(row.split()[:2]) for row in rows}
    assert (total.split()[0], int(total.split()[-2]) >= 2) == (
        "TOTAL",
        True,
    )  # others ran jobs on this server too
    text = cli.run("usage", "--by", "quota", "--quota", "company", "--below", "-o", "csv").stdout
    table = list(csv.DictReader(io.StringIO(text)))
    told = cli.json("usage", "--since", "2020-01-01", "--by", "quota,taker")
    hours = {row["quota"]: float(row["gpu_hours"]) for row in table}
    later = {row["quota"]: row["gpu_hours"] for row in told["rows"] if row["taker_quota"] is None}
    assert 0 < hours["vision"] <= later["vision"]
    assert 0 < hours["speech"] <= later["speech"]
    seen = {row["user"] for row in cli.json("usage", "--by", "user", user="ann")["rows"]}
    assert "ann" in seen
    assert "eve" not in seen


def test_what_cannot_be_asked_is_told_before_the_server_is(cli: Cli):
    for words, says in (
        (("--by", "owner"), "--by owner: must be some of quota, workspace, user"),
        (("--since", "yesterday"), "--since yesterday: must be a date such as 2026-11-01"),
        (("--below",), "--below: needs --quota"),
    ):
        assert says in cli.run("usage", *words, status=2).stderr


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [("1970-01-02", 86_400_000), ("1970-01-01T01:00", 3_600_000), ("1970-01-01T01:00+01:00", 0)],
)
def test_times_are_utc_unless_they_say_otherwise(text: str, at_ms: int):
    assert _time_ms("--since", text) == at_ms
