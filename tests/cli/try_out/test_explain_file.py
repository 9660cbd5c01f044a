"""`explain` on a file."""

from pathlib import Path

from tests.cli.try_out.story import run, run_json


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
        {
            "quota": "team",
            "claim": "regular",
            "jobs": 1,
            "held": 0,
            "gpu_milli": 8000,
            "lowest_priority": 1,
            "lowest_priority_name": None,
            "highest_priority": 1,
            "highest_priority_name": None,
        }
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


def test_names_of_priorities_are_shown_beside_their_numbers(tmp_path: Path):
    """W6: a file's own names, in the text and as JSON."""
    file = tmp_path / "named.toml"
    file.write_text(
        'title = "named"\npriority_names = { production = 8, nightly = 2 }\n[[nodes]]\nname = "n"\n'
        '[[quotas]]\nid = "q"\ngpus = 8\n'
        '[[running]]\nid = "a"\nquota = "q"\ngpus = 4\npriority = "production"\n'
        '[[running]]\nid = "b"\nquota = "q"\ngpus = 4\npriority = "nightly"\n'
        '[[waiting]]\nid = "w"\nquota = "q"\ngpus = 8\n'
    )
    assert "q: 2 jobs, 8 GPU, priority 2 nightly to 8 production" in run("explain", str(file), "w").output
    (holder,) = run_json("explain", str(file), "w")["holders"]
    assert (holder["lowest_priority"], holder["lowest_priority_name"]) == (2, "nightly")
    assert (holder["highest_priority"], holder["highest_priority_name"]) == (8, "production")
