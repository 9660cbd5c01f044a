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
    assert [row.split()[:2] for row in rows] == [["ann", "guaranteed"], ["eve", "guaranteed"]]
    assert (total.split()[0], total.split()[-2:]) == ("TOTAL", ["2", "0"])
    text = cli.run("usage", "--by", "quota", "--quota", "company", "--below", "-o", "csv").stdout
    table = list(csv.DictReader(io.StringIO(text)))
    told = cli.json("usage", "--since", "2020-01-01", "--by", "quota,taker")
    assert [row["quota"] for row in table] == [row["quota"] for row in told["rows"]] == ["vision", "speech"]
    assert 0 < float(table[0]["gpu_hours"]) <= told["rows"][0]["gpu_hours"]
    assert told["rows"][0]["taker_quota"] is None
    assert [row["user"] for row in cli.json("usage", "--by", "user", user="ann")["rows"]] == ["ann"]


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
