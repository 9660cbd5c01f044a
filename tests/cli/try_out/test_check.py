"""`check`: what fails is told with what was expected and seen, and a crash is no bad input."""

import json
from importlib import import_module
from pathlib import Path

import pytest

from quotatree.core.errors import IllegalTransition
from quotatree.scenario.check import Verdict
from quotatree.scenario.model import Scenario
from tests.cli.try_out.story import WORLD, run, run_json

check_command = import_module("quotatree.cli.try_out.check")


def test_check_passes(world: str):
    result = run("check", world)
    assert result.exit_code == 0
    assert "ok     world.toml" in result.output
    assert "1 of 1 scenarios as told" in result.output


def test_check_fails_with_expected_and_seen(tmp_path: Path):
    path = tmp_path / "wrong.toml"
    path.write_text(WORLD.replace('evict = ["batch"]', "evict = []"), encoding="utf-8")
    result = run("check", str(path))
    assert result.exit_code == 1
    assert "FAILED wrong.toml" in result.output
    assert "1m: evict: expected nobody; seen batch" in result.output


def test_check_of_bad_input_goes_on_with_the_others(tmp_path: Path, world: str):
    bad = tmp_path / "bad.toml"
    bad.write_text("title = 3\n", encoding="utf-8")
    result = run("check", str(bad), world)
    assert result.exit_code == 2
    assert "title = 3: must be a text" in result.output
    assert "ok     world.toml" in result.output


def crash(*_: object) -> None:
    raise AssertionError("the core is\nwrong")


def test_check_of_a_crash_fails_that_file_and_goes_on(
    tmp_path: Path, world: str, monkeypatch: pytest.MonkeyPatch
):
    """Not bad input: the file may be right, the core is not."""
    other = tmp_path / "other.toml"
    other.write_text(WORLD.replace("batch and production", "crash"), encoding="utf-8")
    real = check_command.check_scenario

    def crashes_on_other(scenario: Scenario) -> Verdict:
        if scenario.title == "crash":
            crash()
        return real(scenario)

    monkeypatch.setattr(check_command, "check_scenario", crashes_on_other)
    result = run("check", str(other), world)
    assert result.exit_code == 1
    assert "FAILED other.toml  crashed: AssertionError: the core is wrong" in result.output
    assert "ok     world.toml" in result.output
    assert "1 of 2 scenarios as told" in result.output
    assert "Traceback" not in result.output
    whole = run("check", "--traceback", str(other))
    assert "Traceback (most recent call last)" in whole.output
    assert "crashes_on_other" in whole.output
    [told] = json.loads(run("check", str(other), "-o", "json").output)["scenarios"]
    assert told == {"file": str(other), "good": False, "crash": "AssertionError: the core is wrong"}
    [told] = json.loads(run("check", str(other), "--traceback", "-o", "json").output)["scenarios"]
    assert "crashes_on_other" in told["traceback"]


def test_check_takes_an_illegal_transition_for_a_crash(world: str, monkeypatch: pytest.MonkeyPatch):
    def illegal(_: Scenario) -> Verdict:
        raise IllegalTransition("a", "Running", "Held", ("0 submitted",))

    monkeypatch.setattr(check_command, "check_scenario", illegal)
    result = run("check", world)
    assert result.exit_code == 1
    assert "crashed: quotatree.core.errors.IllegalTransition: job a" in result.output


def test_check_json(world: str):
    told = run_json("check", world)
    assert told["schema"] == "quotatree.check/1"
    assert told["scenarios"][0]["good"] is True
    assert told["scenarios"][0]["faults"] == []
