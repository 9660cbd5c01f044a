"""A job file takes what the options take, and what is no job file is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from quotatree.cli.change.job_file import read_jobs
from tests.cli.conftest import Cli

MANIFEST = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\nspec: {}\n"


def test_a_file_says_what_options_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MINE", "s3cret")
    path = tmp_path / "job.yaml"
    path.write_text(
        "name: train\ngpus: 1\nmodel: H100\nmin-replicas: 1\nreplicas: 2\ncommand: python train.py --fast\n"
        "env: {A: 1}\nsecret: [MINE]\nmax-time: 1h\nhealth: /healthz\nretries: 2\nport: 8000\ncount: 2\n"
        "autoscale: min=1,max=4,target=2\n"
    )
    job, other = read_jobs(path)
    assert job == other
    assert job == {
        "name": "train", "min_replicas": 1, "autoscale": {"min": 1, "max": 4, "target": 2},
        "groups": [{"replicas": 2, "gpus": 1, "models": ["H100"]}],
        "program": {
            "command": ["python", "train.py", "--fast"], "env": {"A": "1"}, "secrets": {"MINE": "s3cret"},
            "max_seconds": 3600, "health": {"path": "/healthz"}, "retries": 2, "port": 8000,
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "job.yaml: is empty; write a job into it, such as {gpus: 1, command: [python, train.py]}"),
        ("# nothing\n", "is empty"),
        ("[]", "is empty"),
        (MANIFEST, "is a Kubernetes manifest (Job)"),
        (MANIFEST, "kubectl apply -f "),
        ("{gpus: 1, count: 0}", "count: must be a whole number"),
        ("{gpus: 1, command: {a: 1}}", "command: must be words"),
        ("{gpus: 1, env: {A: [1]}}", "env: must be a table"),
        ("{gpus: 1, comand: [a]}", "there is no field comand; did you mean command?"),
        ("{gpus: 1, autoscale: min=1}", "autoscale: "),
    ],
)
def test_what_is_no_job_is_told(cli: Cli, text: str, said: str):
    assert said in cli.run("submit", "-f", cli.file("job.yaml", text), status=2).stderr
