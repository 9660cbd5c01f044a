"""The command line: exit codes, what is printed, and the JSON schemas that others build on."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from quotatree.cli import COMMANDS, main
from quotatree.core.errors import IllegalTransition
from quotatree.scenario.check import Verdict
from quotatree.scenario.kinds import KINDS
from quotatree.scenario.model import Scenario

ROOT = Path(__file__).resolve().parents[3]
check_command = import_module("quotatree.cli.try_out.check")

WORLD = """
title = "batch and production"

[[nodes]]
name_prefix = "n"
count = 2

[[quotas]]
id = "shop"
gpus = 16

[[quotas]]
id = "team"
parent = "shop"
gpus = 8
self_level = { high = 9, low = "1-3", modules = ["DLC"], scope = "own" }

[[running]]
id = "batch"
quota = "team"
gpus = 8
started = "-1h"
checkpoint = "-5m"
place = ["n0:0-7"]

[[waiting]]
id = "humble"
quota = "team"
gpus = 8

[[preview]]
id = "would-be"
quota = "team"
priority = 9
gpus = 8

[[at]]
time = "1m"
submit = { id = "production", quota = "team", priority = 9, gpus = 4 }

[[expect]]
time = "1m"
evict = ["batch"]
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def run_json(*arguments: str) -> Any:
    result = run(*arguments, "-o", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


@pytest.fixture
def world(tmp_path: Path) -> str:
    path = tmp_path / "world.toml"
    path.write_text(WORLD, encoding="utf-8")
    return str(path)


# -- plan --------------------------------------------------------------------------------------------------------


def test_plan_prints_a_line_for_each_decision(world: str):
    result = run("plan", world)
    assert result.exit_code == 0
    lines = [line.split(maxsplit=3) for line in result.output.splitlines()]
    assert lines[0][:3] == ["TIME", "DECISION", "JOB"]
    decided = [tuple(line[:3]) for line in lines[1:]]
    assert ("1m", "evict", "batch") in decided
    assert ("1m", "start", "production") in decided
    [victim] = [line[3] for line in lines[1:] if line[1] == "evict"]
    assert "loses 3,200 GPU-s" in victim
    assert "taken for production by the self-level policy of team" in victim


def test_plan_stops_at_a_time(world: str):
    told = run_json("plan", world, "--at", "30s")
    assert {decision["kind"] for decision in told["decisions"]} == {"wait"}


def test_plan_json_keeps_its_schema(world: str):
    told = run_json("plan", world)
    assert told["schema"] == "quotatree.plan/1"
    assert set(told) == {"schema", "title", "decisions", "refusals"}
    for decision in told["decisions"]:
        assert {"time_ms", "kind", "job", "reason"} <= set(decision)
        assert decision["kind"] in KINDS
        assert set(decision["reason"]) == {"code", "text", "rules", "facts"}
    [victim] = [d for d in told["decisions"] if d["kind"] == "evict"]
    assert victim == {
        "time_ms": 60_000,
        "kind": "evict",
        "job": "batch",
        "reason": victim["reason"],
        "run": victim["run"],
        "unit": "core",
        "replicas": [0],
        "preemptor": "production",
        "cost_gpu_seconds": 3200,
        "lost_gpu_seconds": 3200,
        "grace_ms": 30_000,
        "requeued": True,
        "counts": True,
        "moved": False,
    }
    [start] = [d for d in told["decisions"] if d["kind"] == "start"]
    assert start["claim"] == "regular"
    assert start["step"] == "own"
    assert start["replicas"] == [{"replica": 0, "node": "n1", "devices": [0, 1, 2, 3]}]
    entry = start["preemption"]
    assert set(entry) == {
        "preemptor", "step", "victims", "demoted", "cost_gpu_seconds", "cost_without_ladder_gpu_seconds",
        "highest_priority", "tried",
    }  # fmt: skip
    assert entry["victims"] == [
        {
            "job": "batch",
            "unit": "core",
            "replicas": [0],
            "quota": "team",
            "priority": 1,
            "lost_gpu_seconds": 3200,
            "cost_gpu_seconds": 3200,
            "freed": {"gpu_milli": 8000, "cpu_milli": 0, "memory_mib": 0},
        }
    ]
    assert entry["tried"][0]["step"] == "free"
    assert entry["tried"][0]["reason"]["code"] == "OwnQuotaFull"


def test_plan_shows_a_refusal_the_file_expects(tmp_path: Path):
    path = tmp_path / "w.toml"
    step = '\n[[at]]\ntime = "2m"\nscale = { quota = "team", gpus = 99 }\nrefused = "99"\n'
    path.write_text(WORLD + step, encoding="utf-8")
    [refusal] = run_json("plan", str(path))["refusals"]
    assert refusal["time_ms"] == 120_000
    assert refusal["step"] == "scale team (refuse)"
    assert "99 GPU" in refusal["text"]


def test_an_unexpected_refusal_is_bad_input(tmp_path: Path):
    path = tmp_path / "w.toml"
    path.write_text(
        WORLD + '\n[[at]]\ntime = "2m"\nscale = { quota = "team", gpus = 99 }\n', encoding="utf-8"
    )
    result = run("plan", str(path))
    assert result.exit_code == 2
    assert "[[at]] 2m, scale" in result.output


def test_plan_with_nothing_to_decide(tmp_path: Path):
    path = tmp_path / "w.toml"
    path.write_text('title = "empty"\n[[nodes]]\nname = "n"\n', encoding="utf-8")
    assert run("plan", str(path)).output == "nothing to decide\n"


# -- explain, preview, tree --------------------------------------------------------------------------------------


def test_explain_a_waiting_job(world: str):
    told = run_json("explain", world, "humble", "--at", "0s")
    assert told["schema"] == "quotatree.explain/1"
    assert set(told) == {
        "schema", "time_ms", "job", "phase", "quota", "position", "ahead", "reasons", "holders", "nodes", "tried", "helps",
        "preempted_by", "lost_gpu_seconds", "next_try", "exposure",
    }  # fmt: skip
    assert told["phase"] == "Waiting"
    assert told["position"] == 1
    assert told["reasons"][0]["code"] == "OwnQuotaFull"
    assert told["reasons"][0]["rules"] == ["Q3"]
    assert told["holders"] == [
        {"quota": "team", "jobs": 1, "gpu_milli": 8000, "lowest_priority": 1, "highest_priority": 1}
    ]
    text = run("explain", world, "humble", "--at", "0s").output
    assert "humble is Waiting in team at 0s" in text
    assert "[OwnQuotaFull, Q3]" in text
    assert "team: 1 job, 8 GPU, priority 1" in text


def test_explain_a_victim(world: str):
    """X2: who took it, what was lost, and when it will be tried again."""
    told = run_json("explain", world, "batch")
    assert told["preempted_by"] == "production"
    assert told["lost_gpu_seconds"] == 3200
    assert told["next_try"].startswith("as soon as capacity is released")
    text = run("explain", world, "batch").output
    assert "preempted by production, losing 3,200 GPU-s" in text
    assert "next try: as soon as capacity is released" in text


def test_explain_a_running_job_tells_who_could_take_it(world: str):
    told = run_json("explain", world, "batch", "--at", "0s")
    assert [risk["quota"] for risk in told["exposure"]] == ["team"]
    assert "could be taken by" in run("explain", world, "batch", "--at", "0s").output


def test_explain_an_unknown_job(world: str):
    result = run("explain", world, "nobody")
    assert result.exit_code == 2
    assert "no job nobody at 1m; there are: batch, humble, production" in result.output


def test_preview_a_declared_job(world: str):
    told = run_json("preview", world, "would-be", "--at", "0s")
    assert told["schema"] == "quotatree.preview/1"
    assert {("evict", "batch"), ("start", "would-be")} <= {(d["kind"], d["job"]) for d in told["decisions"]}
    assert "nothing has been changed" in run("preview", world, "would-be", "--at", "0s").output


def test_preview_a_job_from_a_file(world: str, tmp_path: Path):
    path = tmp_path / "job.toml"
    path.write_text('id = "other"\nquota = "shop"\ngpus = 8\n', encoding="utf-8")
    told = run_json("preview", world, "--submit", str(path), "--at", "0s")
    assert ("start", "other") in {(d["kind"], d["job"]) for d in told["decisions"]}


def test_preview_a_scaling(world: str):
    told = run_json("preview", world, "--scale", "team=0:reclaim", "--at", "0s")
    assert ("evict", "batch") in {(d["kind"], d["job"]) for d in told["decisions"]}
    grown = run_json("preview", world, "--scale", "team=16", "--at", "0s")
    assert ("start", "humble") in {(d["kind"], d["job"]) for d in grown["decisions"]}


CHILD_LEVEL = 'quota = "shop"\nchild_level = { priorities = 1, modules = ["DLC"] }\n'


def policy_file(tmp_path: Path, text: str) -> str:
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_preview_a_policy_tells_whose_running_work_it_exposes(world: str, tmp_path: Path):
    told = run_json("preview", world, "--policy", policy_file(tmp_path, CHILD_LEVEL), "--at", "0s")
    assert told["decisions"] == []
    assert told["exposed"] == [
        {"job": "batch", "quota": "shop", "rule": "ChildLevel", "who": "jobs of shop with priority 1-9"}
    ]
    text = run("preview", world, "--policy", policy_file(tmp_path, CHILD_LEVEL), "--at", "0s").output
    assert "batch  jobs of shop with priority 1-9 [ChildLevel]" in text


def test_preview_a_policy_decides_what_it_would_for_those_who_wait(tmp_path: Path):
    world = tmp_path / "world.toml"
    world.write_text(
        WORLD + '\n[[waiting]]\nid = "large"\nquota = "shop"\ngpus = 8\nreplicas = 2\n', encoding="utf-8"
    )
    before = run_json("tree", str(world), "--at", "0s")
    told = run_json("preview", str(world), "--policy", policy_file(tmp_path, CHILD_LEVEL), "--at", "0s")
    assert {("evict", "batch"), ("hold", "large")} <= {(d["kind"], d["job"]) for d in told["decisions"]}
    assert run_json("tree", str(world), "--at", "0s") == before


def test_preview_of_a_policy_together_with_a_job(world: str, tmp_path: Path):
    job = tmp_path / "job.toml"
    job.write_text('id = "large"\nquota = "shop"\ngpus = 8\nreplicas = 2\n', encoding="utf-8")
    arguments = ("preview", world, "--submit", str(job), "--at", "0s")
    assert {d["kind"] for d in run_json(*arguments)["decisions"]} == {"wait"}
    told = run_json(*arguments, "--policy", policy_file(tmp_path, CHILD_LEVEL))
    assert ("evict", "batch") in {(d["kind"], d["job"]) for d in told["decisions"]}


def test_preview_of_taking_a_policy_away_exposes_nobody(world: str, tmp_path: Path):
    off = policy_file(tmp_path, 'quota = "team"\nself_level = "off"\n')
    result = run("preview", world, "would-be", "--policy", off, "--at", "0s")
    assert result.exit_code == 0
    assert "evict" not in result.output
    assert "no running work becomes exposed that is not exposed now" in result.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('quota = "team"\n', "changes nothing about team"),
        ('quota = "nobody"\n', "no such quota; there are: shop, team"),
        ('quota = "team"\nchild = 1\n', "child is not a field here"),
        (
            'quota = "team"\nself_level = { high = "4-6", low = 6, modules = ["DLC"] }\n',
            "its highest value 6 must be below 4",
        ),
    ],
)
def test_preview_of_a_bad_policy(world: str, tmp_path: Path, text: str, message: str):
    result = run("preview", world, "--policy", policy_file(tmp_path, text))
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to preview"),
        (["nobody"], "[[preview]] declares no job nobody; it declares: would-be"),
        (["--scale", "team"], "must be QUOTA=GPUS[:MODE]"),
        (["--scale", "team=many"], "such as team=56 or team=56:lazy"),
        (["--scale", "team=8:hard"], "such as team=56 or team=56:lazy"),
        (["--scale", "team=99"], "99 GPU"),
        (["--submit", "gone.toml"], "gone.toml: cannot be read"),
        (["--policy", "gone.toml"], "gone.toml: cannot be read"),
    ],
)
def test_preview_of_nonsense(world: str, arguments: list[str], message: str):
    result = run("preview", world, *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_tree_draws_bars(world: str):
    result = run("tree", world, "--at", "0s")
    assert result.exit_code == 0
    assert "└─ team  " in result.output
    assert "8 of 8" in result.output
    assert "█" in result.output


def test_tree_json(world: str):
    told = run_json("tree", world, "--at", "0s")
    assert told["schema"] == "quotatree.tree/1"
    shop, team = told["quotas"]
    assert (shop["id"], shop["parent"], team["id"], team["parent"]) == ("shop", None, "team", "shop")
    assert team["used_own"] == {"gpu_milli": 8000, "cpu_milli": 0, "memory_mib": 0}
    assert team["desired"] == {"gpu_milli": 8000, "cpu_milli": None, "memory_mib": None}
    assert shop["used_below"]["gpu_milli"] == 8000


# -- check -------------------------------------------------------------------------------------------------------


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


# -- the rest ----------------------------------------------------------------------------------------------------


def test_play_tells_the_example_in_plain_text_when_piped():
    result = run("play")
    assert result.exit_code == 0
    assert "\x1b[" not in result.output
    for words in (
        "Before: every GPU is in use.",
        "victim sweep-a of Quota1.2",
        "squeezed 8",
        "Nothing more is to come.",
    ):
        assert words in result.output


def test_a_bad_time_is_a_usage_error(world: str):
    result = run("plan", world, "--at", "noon")
    assert result.exit_code == 2
    assert "'noon' must be a time such as" in result.output


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Usage:" in result.output


def test_help_lists_the_commands_without_importing_them():
    code = (
        "import sys; from quotatree.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in sys.modules if m.startswith(('quotatree.core', 'quotatree.scenario', 'rich'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for command in COMMANDS:
        assert f"  {command} " in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_unknown_command_is_a_usage_error():
    assert run("dance").exit_code == 2
