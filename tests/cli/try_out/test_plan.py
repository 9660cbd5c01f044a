"""`plan` on a file: a line for each decision, and the JSON that others build on."""

from pathlib import Path

from quotatree.scenario.kinds import KINDS
from tests.cli.try_out.story import WORLD, run, run_json


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
        "highest_priority", "tried", "kept",
    }  # fmt: skip
    assert entry["victims"] == [
        {
            "job": "batch",
            "unit": "core",
            "replicas": [0],
            "quota": "team",
            "priority": 1,
            "priority_name": None,
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


def test_a_bad_time_is_a_usage_error(world: str):
    result = run("plan", world, "--at", "noon")
    assert result.exit_code == 2
    assert "'noon' must be a time such as" in result.output
