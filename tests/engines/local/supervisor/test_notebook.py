"""Is a notebook found at its address with its files, and noticed when nobody uses it (P14)?"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from quotatree.engines.local.supervisor import notebook
from quotatree.engines.local.supervisor.address import Ports
from quotatree.engines.local.supervisor.idle import cpu_seconds
from tests.engines.local.proxy_process import eventually
from tests.engines.local.serving import SERVER, Run

Open = Callable[..., Run]


@pytest.fixture
def open_(tmp_path: Path) -> Iterator[Open]:
    made: list[Run] = []

    def begin(**more: Any) -> Run:
        made.append(Run(tmp_path, "DSW", **more))
        return made[-1]

    yield begin
    for run in made:
        run.end()


def test_it_is_confirmed_when_its_port_answers_and_has_an_address_and_a_token(open_: Open):
    run = open_(env={"START_SECONDS": "0.3"})
    started = run.wait("started")
    run.confirmed(0)
    assert run.lines("confirmed")[0]["at_ms"] - started["at_ms"] >= 300
    endpoint = run.wait("endpoint")
    assert endpoint["address"] == f"http://127.0.0.1:{started['port']}/"
    assert len(endpoint["token"]) == 48
    assert run.ask() == (200, b"0")
    variables = Path(f"/proc/{run.pid(0)}/environ").read_bytes().split(b"\0")
    assert f"QUOTATREE_TOKEN={endpoint['token']}".encode() in variables


def test_a_health_path_decides_when_it_answers(open_: Open):
    run = open_(health={"path": "/health", "timeout_seconds": 1}).confirmed(0)
    assert run.ask("/health") == (200, b"0")


def test_stopped_and_started_again_it_has_its_files_address_and_token(open_: Open):
    shell = "test -e kept && echo again || echo first; date > kept; exec " + " ".join(SERVER)
    first = open_(command=shell).confirmed(0)
    endpoint = first.wait("endpoint")
    first.stop()
    assert first.over() == {"is": "over"}
    second = open_(command=shell, run=2).confirmed(0)
    assert {**second.wait("endpoint"), "at_ms": 0} == {**endpoint, "at_ms": 0}
    assert "again" in eventually(lambda: printed(second))


def printed(run: Run) -> str:
    return "".join(path.read_text() for path in sorted(Path(run.dir.replica_logs(0)).glob("*.log")))


def test_port_and_token_may_stand_in_the_command(open_: Open):
    command = ["sh", "-c", f"echo {{token}}; QUOTATREE_PORT={{port}} exec {' '.join(SERVER)}"]
    run = open_(command=command).confirmed(0)
    assert eventually(lambda: printed(run)).strip() == run.wait("endpoint")["token"]


def test_without_a_command_it_is_jupyterlab_told_its_token_by_a_variable(open_: Open, tmp_path: Path):
    fake = tmp_path / "bin" / "jupyter-lab"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\necho "$JUPYTER_TOKEN $@"\nexec {" ".join(SERVER)}\n')
    fake.chmod(0o755)
    run = open_(command=None, env={"PATH": f"{fake.parent}:/usr/bin:/bin"}).confirmed(0)
    endpoint = run.wait("endpoint")
    token, *options = eventually(lambda: printed(run)).split()
    assert token == endpoint["token"]
    assert options[:4] == [
        "--no-browser", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={run.port}", "--ServerApp.port_retries=0",
    ]  # fmt: skip
    assert options[4] == f"--ServerApp.root_dir={run.dir.job.work}"
    assert (options[5:] == ["--allow-root"]) == (os.geteuid() == 0)
    assert token not in " ".join(options)


def test_one_that_its_user_ends_has_ended_well(open_: Open):
    run = open_(command="sleep 0.2").over()
    assert run == {"is": "exited", "outcome": "succeeded", "detail": ""}


def test_one_that_dies_has_failed_and_says_how(open_: Open):
    run = open_().confirmed(0)
    os.kill(run.pid(0), signal.SIGSEGV)
    assert run.over()["detail"] == "replica 0 was killed by signal SEGV"


def test_one_that_never_opens_its_port_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    supervisor = FakeSupervisor(tmp_path)
    monkeypatch.setattr(notebook, "OPENS_WITHIN_SECONDS", -1.0)
    course = notebook.Notebook(supervisor)  # type: ignore[arg-type]
    course.start([{"replica": 0, "devices": []}])
    course.started(supervisor.replicas[0])  # type: ignore[arg-type]
    assert supervisor.replicas[0].stopped
    supervisor.replicas[0].alive = False
    course.gone(supervisor.replicas[0])  # type: ignore[arg-type]
    assert supervisor.told[0] == "failed"
    assert supervisor.told[1].startswith("it did not answer at port ")
    supervisor.ports.close()


class FakeReplica:
    number, told, alive, stopped = 0, False, True, False

    def stop(self, grace_seconds: float) -> None:
        self.stopped = True


class FakeSupervisor:
    """For the one story that would take two minutes."""

    def __init__(self, directory: Path) -> None:
        self.run_dir = type(
            "Dir", (), {"job": type("Job", (), {"service_file": str(directory / "service.json")})}
        )
        self.program: dict[str, Any] = {"command": ["x"]}
        self.spec: dict[str, Any] = {}
        self.ports = Ports(str(directory / "ports"))
        self.grace_seconds = 1.0
        self.wanted: dict[int, Any] = {0: {}}
        self.replicas: dict[int, FakeReplica] = {}
        self.told: tuple[str, str] = ("", "")

    def launch(self, order: Any, **_: Any) -> None:
        self.replicas[0] = FakeReplica()

    def notice(self, text: str) -> None:
        raise AssertionError(text)

    def exited(self, outcome: str, detail: str) -> None:
        self.told = (outcome, detail)


def test_a_named_port_that_is_taken_fails_the_run_and_says_so(open_: Open):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert f"port {port} is taken by another program" in open_(port=port).over()["detail"]


def test_an_idle_one_is_reported_and_runs_on(open_: Open):
    run = open_(idle_stop={"minutes": 0.01, "cpu_percent": 50, "gpu_percent": 5}).confirmed(0)
    assert run.wait("idle")["detail"] == "used less than 50% of a core for 0.01 minutes"
    assert run.ask() == (200, b"0")


def test_one_that_computes_in_a_child_is_not_idle(open_: Open):
    busy = "import os, threading\nwhile True: pass"
    command = f"{sys.executable} -c '{busy}' & exec {' '.join(SERVER)}"
    run = open_(command=command, idle_stop={"minutes": 0.02, "cpu_percent": 5, "gpu_percent": 5}).confirmed(0)
    before = cpu_seconds([run.pid(0)])
    eventually(
        lambda: cpu_seconds([run.pid(0)]) - before > 1.0
    )  # so at least that long, well beyond the rule
    assert not run.lines("idle")
