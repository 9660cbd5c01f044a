"""The programs we ship as examples keep what they promise: an eviction costs them nothing that they could save."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from quotatree.examples import notebook, train

STEPS = 60
DIGEST = re.compile(r"digest (\w+)")


def start(module, directory: Path, *arguments: str, **env: str) -> subprocess.Popen[str]:
    directory.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, module.__file__, *arguments],
        cwd=directory,
        env={**os.environ, "QUOTATREE_CHECKPOINT_DIR": str(directory), **env},
        stdout=subprocess.PIPE,
        text=True,
    )


def training(directory: Path, **env: str) -> subprocess.Popen[str]:
    return start(
        train, directory, "--steps", str(STEPS), "--step-seconds", "0.01", "--save-every", "0.1", **env
    )


def test_an_evicted_training_ends_as_if_nothing_had_happened(tmp_path: Path):
    """P14: SIGTERM is the notice to write a checkpoint."""
    undisturbed = DIGEST.search(training(tmp_path / "a").communicate(timeout=60)[0])
    assert undisturbed is not None

    evicted = training(tmp_path / "b")
    assert evicted.stdout is not None
    assert "begins" in evicted.stdout.readline()
    evicted.send_signal(signal.SIGTERM)
    told = evicted.communicate(timeout=60)[0]
    assert "was told to leave, saved step" in told
    assert evicted.returncode == train.LEFT_ON_NOTICE, "0 would say that the work is done"

    resumed = training(tmp_path / "b").communicate(timeout=60)[0]
    assert "; 0 steps were lost" in resumed
    digest = DIGEST.search(resumed)
    assert digest is not None
    assert digest[1] == undisturbed[1]


def test_a_killed_training_loses_what_it_did_not_save_and_says_so(tmp_path: Path):
    undisturbed = DIGEST.search(training(tmp_path / "a").communicate(timeout=60)[0])
    killed = start(
        train, tmp_path / "b", "--steps", str(STEPS), "--step-seconds", "0.02", "--save-every", "0.2"
    )
    assert killed.stdout is not None
    while "saved" not in killed.stdout.readline():
        pass
    saved = (tmp_path / "b" / "progress-0").read_text()
    until = monotonic() + 30
    while (tmp_path / "b" / "progress-0").read_text() in ("", saved) and monotonic() < until:
        sleep(0.001)
    killed.kill()
    killed.communicate()
    resumed = training(tmp_path / "b").communicate(timeout=60)[0]
    lost = re.search(r"; (\d+) steps were lost", resumed)
    assert lost is not None
    assert int(lost[1]) >= 1
    digest = DIGEST.search(resumed)
    assert digest is not None
    assert undisturbed is not None
    assert digest[1] == undisturbed[1]


def test_saving_tells_the_scheduler(tmp_path: Path):
    """P6: lost work counts from the last checkpoint that was reported."""
    mark = tmp_path / "mark"
    training(tmp_path / "a", QUOTATREE_CHECKPOINT_FILE=str(mark)).communicate(timeout=60)
    assert mark.exists()


def test_a_notebook_keeps_its_cells_and_lets_nobody_in_without_its_token(tmp_path: Path):
    port = free_port()
    env = {"QUOTATREE_PORT": str(port), "QUOTATREE_TOKEN": "open-sesame"}
    first = start(notebook, tmp_path, **env)
    answers(first)
    assert ask(port, "GET", "/")[0] == 401
    assert ask(port, "GET", "/?token=wrong")[0] == 401
    assert ask(port, "POST", "/?token=open-sesame", "cell=1+%2B+1")[0] == 201
    first.terminate()
    assert "kept" in first.communicate(timeout=30)[0]
    assert first.returncode != 0

    second = start(notebook, tmp_path, **env)
    answers(second)
    status, page = ask(port, "GET", "/?token=open-sesame")
    second.kill()
    second.communicate()
    assert status == 200
    assert "<pre>1 + 1</pre>" in page


def test_the_torch_example_runs_where_torch_is(tmp_path: Path):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    from quotatree.examples import train_torch

    command = ["torchrun", "--standalone", "--nproc-per-node", "2", train_torch.__file__, "--steps", "20"]
    env = {**os.environ, "QUOTATREE_CHECKPOINT_DIR": str(tmp_path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=True)
    assert "saved step 20" in done.stdout


def answers(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert "answers on" in process.stdout.readline()


def ask(port: int, method: str, path: str, body: str | None = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, body)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
