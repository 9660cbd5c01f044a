"""What was written can be read, whatever it was; what does not fit is named by its path."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from quotatree.codec import DecodeError, decode, encode
from quotatree.core import decisions as say
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.model.job import JobSpec
from quotatree.core.model.quota import QuotaSpec
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code, Reason, because
from quotatree.core.records import JobRecord, Snapshot
from quotatree.core.snapshots import snapshot
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


@dataclass(frozen=True)
class Odd:
    what: complex


def test_a_type_that_json_cannot_tell_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError, match="no way to write"):
        encode(Odd(1j))
    with pytest.raises(TypeError, match="no way to read"):
        decode(Odd, {})
