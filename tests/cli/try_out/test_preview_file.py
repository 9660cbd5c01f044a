"""`preview` on a file: jobs, scalings and policies, and nothing is changed."""

from pathlib import Path

import pytest

from tests.cli.try_out.story import WORLD, run, run_json


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
