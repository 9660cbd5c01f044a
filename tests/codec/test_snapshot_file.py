"""A snapshot file starts a state, or says why not."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from quotatree.codec import DecodeError
from quotatree.codec.snapshot_file import read_snapshot, read_snapshot_text, snapshot_text
from quotatree.core.errors import Refused
from quotatree.core.planning.plan import plan
from quotatree.core.snapshots import restore, snapshot
from tests.property.walk import begin


def test_a_snapshot_file_starts_a_state(tmp_path: Path) -> None:
    walk = begin(Random(5))
    plan(walk.state, walk.now_ms)
    file = tmp_path / "now.json"
    file.write_text(snapshot_text(snapshot(walk.state), walk.now_ms), encoding="utf-8")
    value, at_ms = read_snapshot(file)
    assert at_ms == walk.now_ms
    assert plan(restore(value), at_ms).decisions == plan(restore(snapshot(walk.state)), at_ms).decisions


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "schema: must be 'quotatree.snapshot/1', is None"),
        ('{"schema": "quotatree.snapshot/2"}', "schema: must be 'quotatree.snapshot/1', is 'quotatree.snapshot/2'"),
        ('{"schema": "quotatree.snapshot/1"}', "must have schema, at_ms and snapshot"),
        ('{"schema": "quotatree.snapshot/1", "at_ms": "now", "snapshot": {}}', "at_ms: must be an integer"),
        ('{"schema": "quotatree.snapshot/1", "at_ms": 0, "snapshot": {}}', "snapshot.settings: is missing"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_snapshot_is_refused(text: str, problem: str) -> None:
    with pytest.raises(DecodeError) as raised:
        read_snapshot_text(text)
    assert str(raised.value).startswith(problem)


def test_records_that_contradict_each_other_are_refused() -> None:
    """A7: two jobs on one device, a node nobody knows."""
    walk = begin(Random(1))
    plan(walk.state, walk.now_ms)
    data = json.loads(snapshot_text(snapshot(walk.state), 0))
    running = [job for job in data["snapshot"]["jobs"] if "core" in job]
    running[0]["core"]["places"][0]["node"] = "nowhere"
    with pytest.raises(Refused, match="nowhere"):
        restore(read_snapshot_text(json.dumps(data))[0])
    again = json.loads(snapshot_text(snapshot(walk.state), 0))
    twin = json.loads(json.dumps(next(job for job in again["snapshot"]["jobs"] if "core" in job)))
    twin["spec"]["id"] = "twin"
    again["snapshot"]["jobs"].append(twin)
    with pytest.raises(Refused, match="given away twice"):
        restore(read_snapshot_text(json.dumps(again))[0])
