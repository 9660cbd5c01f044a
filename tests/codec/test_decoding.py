"""What was written can be read, whatever it was; what does not fit is named by its path."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from quotatree.codec import DecodeError, decode, encode
from quotatree.codec.snapshot_file import read_snapshot, read_snapshot_text, snapshot_text, write_snapshot
from quotatree.core import decisions as say
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.model.job import JobSpec
from quotatree.core.model.quota import QuotaSpec
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code, Reason, because
from quotatree.core.records import JobRecord, Snapshot
from quotatree.core.snapshots import restore, snapshot
from tests.property import happenings
from tests.property.walk import begin


def through_json(hint: Any, value: Any) -> Any:
    return decode(hint, json.loads(json.dumps(encode(value, hint))))


def test_everything_a_walk_meets_comes_back_equal() -> None:
    met: set[str] = set()
    for seed in range(60):
        random = Random(f"codec {seed}")
        walk = begin(random)
        for _ in range(12):
            walk.wait(20_000)
            event = happenings.anything_at_all(random, walk.state, walk.now_ms)
            found: list[say.Decision] = []
            if event is not None:
                assert through_json(type(event), event) == event
                with suppress(Refused):
                    found += apply(walk.state, event, walk.now_ms)
            found += plan(walk.state, walk.now_ms).decisions
            for decision in found:
                met.add(type(decision).__name__)
                assert through_json(say.Decision, decision) == decision
                assert through_json(type(decision), decision) == decision
        value = snapshot(walk.state)
        assert through_json(Snapshot, value) == value
        for quota in value.quotas:
            assert through_json(QuotaSpec, quota.spec) == quota.spec
        for job in value.jobs:
            assert through_json(JobSpec, job.spec) == job.spec
            assert through_json(JobRecord, job) == job
    assert {"Start", "Hold", "Evict", "Wait", "Release", "Stop", "Fail"} <= met


@pytest.mark.parametrize("code", list(Code))
def test_every_reason_comes_back(code: Code) -> None:
    reason = because(code, quota="a", n=3)
    assert through_json(Reason, reason) == reason
    assert encode(reason)["code"] == code.name


def a_record() -> dict[str, Any]:
    walk = begin(Random(1))
    plan(walk.state, walk.now_ms)
    running = next(job for job in snapshot(walk.state).jobs if job.core is not None)
    found: dict[str, Any] = encode(running)
    return found


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda r: r.update(phase="Walking"), "phase: must be one of Waiting, Held"),
        (lambda r: r.update(run="one"), "run: must be an integer, is 'one'"),
        (lambda r: r.update(run=True), "run: must be an integer, is True"),
        (lambda r: r.update(color="red"), "color: is not known here"),
        (lambda r: r.pop("phase"), "phase: is missing"),
        (lambda r: r["spec"].update(priority=12), "spec: priority = 12: must be 1..9"),
        (lambda r: r["spec"]["groups"][0]["shape"].pop("gpu_milli"), "spec.groups[0].shape.gpu_milli: is missing"),
        (lambda r: r["core"]["places"][0].update(devices=[0, "x"]), "core.places[0].devices[1]: must be an integer"),
        (lambda r: r.update(core=[]), "core: must be an object, is []"),
        (lambda r: r.update(story="long"), "story: must be a list, is 'long'"),
        (lambda r: r["spec"].update(subjects={"a": 1}), "spec.subjects: must be a list"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_by_its_path(change: Any, problem: str) -> None:
    record = a_record()
    change(record)
    with pytest.raises(DecodeError) as raised:
        decode(JobRecord, record)
    assert str(raised.value).startswith(problem)


@pytest.mark.parametrize("data", [None, 3, [], {}, {"type": "Nap"}, {"type": 3}, {"type": "Wait", "x": 1}])
def test_a_union_names_its_members(data: Any) -> None:
    with pytest.raises(DecodeError):
        decode(say.Decision, data)  # type: ignore[arg-type]


def test_a_snapshot_file_starts_a_state(tmp_path: Path) -> None:
    walk = begin(Random(5))
    plan(walk.state, walk.now_ms)
    file = tmp_path / "now.json"
    write_snapshot(file, snapshot(walk.state), walk.now_ms)
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


@dataclass(frozen=True)
class Odd:
    what: complex


def test_a_type_that_json_cannot_tell_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError, match="no way to write"):
        encode(Odd(1j))
    with pytest.raises(TypeError, match="no way to read"):
        decode(Odd, {})
