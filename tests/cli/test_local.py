"""Real jobs by the command line (E2, E3): a server on the local engine with virtual nodes, and what runs on it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from quotatree.cli import main
from quotatree.client import Client
from tests.cli.process import Command, Process

LOCAL = ("--engine", "local", *(("--run-as", "root") if os.geteuid() == 0 else ()))
"""Tests of other users stand in tests/engines/local; here only what the edge does with the engine."""
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the local engine is for Linux")
TREE = """
quotas: [{id: q, draws: {default: {gpus: 16}}}]
workspaces: [{id: w, members: {admin: owner}, quotas: [q]}]
"""
SECRET = "swordfish-9K"
WEB = (
    "import http.server, os; "
    "http.server.HTTPServer(('127.0.0.1', int(os.environ['QUOTATREE_PORT'])), "
    "http.server.SimpleHTTPRequestHandler).serve_forever()"
)


class Local:
    """One server; commands as its admin."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.server = Process(home / "data", *LOCAL, "--nodes", "2x8:H100")
        self.token = self.server.token
        self.server.client(self.token).close()
        self.run("apply", "-y", "-f", "-", stdin=TREE)

    @property
    def env(self) -> dict[str, str]:
        return self.server.env(self.home, self.token)

    def run(self, *words: str, status: int = 0, stdin: str = "", env: dict[str, str] | None = None) -> str:
        """What a command of the admin prints: if it fails, what it says about that."""
        done = CliRunner().invoke(main, words, env={**self.env, **(env or {})}, input=stdin)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == status, done.output
        return done.stdout if status == 0 else done.stderr

    def submit(self, *words: str, env: dict[str, str] | None = None) -> str:
        where = ("submit", "--workspace", "w", "--quota", "q", "-o", "name")
        return self.run(*where, *words, env=env).strip().removeprefix("job/")

    def client(self) -> Client:
        return Client(self.server.url, self.token)

    def wait_phase(self, job: str, phase: str) -> None:
        with self.client() as client:
            until(lambda: client.jobs.get(job)["phase"] == phase)

    def close(self) -> None:
        if self.server.process.poll() is None:
            with self.client() as client:
                for job in client.jobs.list(active=True):
                    if job["phase"] != "Cancelled":  # else it is leaving already
                        client.jobs.cancel(job["id"])
                until(lambda: not list(client.jobs.list(active=True)))
            self.server.end()


def until(true, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    found = Local(tmp_path_factory.mktemp("local"))
    yield found
    found.close()


def test_a_command_runs_with_its_gpus_and_variables(local: Local):
    script = 'echo "rank $RANK of $WORLD_SIZE gpus $CUDA_VISIBLE_DEVICES $COLOUR $(pwd)"; echo "${#KEY}" >&2; exit $CODE'
    job = local.submit(
        "--gpus", "2", "--replicas", "2", "--env", "COLOUR=a b", "--env", "CODE=0", "--secret", "KEY",
        "--workdir", str(local.home), "--", "sh", "-c", script, env={"KEY": SECRET},
    )  # fmt: skip
    printed = local.run("logs", "-f", job).splitlines()
    assert printed == [f"rank 0 of 2 gpus 0,1 a b {local.home}", str(len(SECRET))]
    assert local.run("logs", job, "--replica", "1", "--tail", "2").startswith("rank 1 of 2 gpus 2,3 a b")
    local.wait_phase(job, "Succeeded")
    told = local.run("describe", "job", job)
    assert "program secrets: KEY ***" in told
    assert "program command: sh -c " in told


def test_how_it_ended_is_told(local: Local):
    job = local.submit("--cpu", "0.1", "--", "sh", "-c", "exit 3")
    local.wait_phase(job, "Failed")
    assert "failed (replica 0 exited with code 3)" in local.run("describe", "job", job)
    assert "- replica 0 exited with code 3" in local.run("explain", job)
    assert local.run("get", "job", job).endswith("replica 0 exited with code 3\n")
    job = local.submit("--cpu", "0.1", "--", "no-such-command")
    local.wait_phase(job, "Failed")
    assert "command not found: no-such-command" in local.run("describe", "job", job)


def test_a_job_that_prints_nothing_has_an_empty_log(local: Local):
    """One that follows it waits for its end, however long that takes; a replica that is not there has none."""
    job = local.submit("--cpu", "0.1", "--", "sh", "-c", f"until [ -e {local.home}/go ]; do sleep 0.1; done")
    local.wait_phase(job, "Running")
    # It is said to run before its process is there, and on a busy machine its log may come much later.
    until(lambda: CliRunner().invoke(main, ("logs", job), env=local.env).exit_code == 0)
    following = Command("logs", "-f", job, env=local.env)
    try:
        assert local.run("logs", job) == ""
        assert f"no output of replica 7 of run 1 of job '{job}'" in local.run(
            "logs", job, "--replica", "7", status=3
        )
        assert following.process.poll() is None
        (local.home / "go").touch()
        assert following.end() == 0
        assert following.said == b""
        assert local.run("logs", job) == ""
    finally:
        following.kill()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--env", "NAME"), "must be NAME=VALUE"),
        (("--secret", "NOT_SET_ANYWHERE"), "no variable NOT_SET_ANYWHERE"),
        (("--max-time", "soon"), "soon"),
        (("--program", '{"comand": "x"}'), "comand"),
        (("--workdir", "/no/such/place", "--", "true"), "/no/such/place"),
    ],
)
def test_what_cannot_be_run_is_refused_at_submit(local: Local, words: tuple[str, ...], said: str):
    for status in (2 if said in ("must be NAME=VALUE", "soon") or "NOT_SET" in said else 1,):
        where = ("submit", "--workspace", "w", "--quota", "q", "--cpu", "0.1")
        assert said in local.run(*where, *words, status=status)


def test_a_job_says_that_it_wrote_a_checkpoint(local: Local):
    """P6: `quotatree checkpoint` inside the job, whose PATH leads to it; outside, without a job, it says what is missing."""
    inside = "quotatree checkpoint && exec sleep 600"
    path = f"PYTHONPATH={os.environ.get('PYTHONPATH', '')}"
    job = local.submit("--cpu", "0.1", "--grace", "1s", "--env", path, "--", "sh", "-c", inside)
    with local.client() as client:
        until(lambda: "job.checkpointed" in [event["kind"] for event in client.events.list(job=job)])
    local.run("checkpoint", job)
    local.run("cancel", job)
    assert "say which JOB" in local.run("checkpoint", status=2)
    assert "it is a training job" in local.run("open", job, status=1)


def test_a_notebook_is_opened_stopped_and_started(local: Local):
    """P14: its address has its token; stopped it has none, and started again it is the same job in its next run."""
    words = (
        "--module",
        "DSW",
        "--cpu",
        "0.1",
        "--grace",
        "2s",
        "--health",
        "/",
        "--",
        sys.executable,
        "-c",
        WEB,
    )
    job = local.submit(*words)
    address = local.run("open", job, "--wait").strip()
    assert address.startswith("http://127.0.0.1:")
    assert "token=" in address
    assert "token=" not in local.run("describe", "job", job)
    local.run("stop", job)
    local.wait_phase(job, "Stopped")
    assert "has no address: it is Stopped; start it again" in local.run("open", job, status=1)
    assert "[StoppedByOwner, P14]" in local.run("explain", job)
    local.run("start", job)
    local.run("open", job, "--wait")
    with local.client() as client:
        assert client.jobs.get(job)["run"] == 2
    local.run("cancel", job)


def test_a_service_is_resized_and_restarted(local: Local):
    """P12: more replicas while it runs; a rolling restart keeps the run."""
    words = (
        "--module",
        "EAS",
        "--cpu",
        "0.1",
        "--grace",
        "2s",
        "--health",
        "/",
        "--",
        sys.executable,
        "-c",
        WEB,
    )
    job = local.submit(*words)
    address = local.run("open", job, "--wait").strip()
    local.run("resize", job, "--replicas", "2", "--min-replicas", "1")
    with local.client() as client:
        until(lambda: client.jobs.endpoint(job)["ready"] == 2)
        local.run("restart", job)
        until(lambda: client.jobs.endpoint(job)["ready"] == 2)
        assert client.jobs.get(job)["run"] == 1
    assert local.run("open", job).strip() == address
    assert "--replicas, --min-replicas, --max-replicas or --autoscale" in local.run("resize", job, status=2)
    local.run("cancel", job)


SLOW = (
    "import http.server, os, time\n"
    "class Slow(http.server.BaseHTTPRequestHandler):\n"
    "    def do_GET(self):\n"
    "        time.sleep(0.5 if self.path == '/work' else 0)\n"
    "        self.send_response(200); self.send_header('Content-Length', '0'); self.end_headers()\n"
    "    def log_message(self, *words): pass\n"
    "http.server.ThreadingHTTPServer(('127.0.0.1', int(os.environ['QUOTATREE_PORT'])), Slow).serve_forever()\n"
)


class Clients:
    """So many requests at any time, each half a second long."""

    def __init__(self, address: str, count: int) -> None:
        self._on = True
        self.statuses: set[int] = set()
        self._threads = [threading.Thread(target=self._ask, args=(address,)) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def _ask(self, address: str) -> None:
        while self._on:
            with urllib.request.urlopen(f"{address}work", timeout=30) as answer:
                self.statuses.add(answer.status)

    def stop(self) -> None:
        self._on = False
        for thread in self._threads:
            thread.join()


def test_a_service_follows_its_requests(local: Local):
    """P16: a real server under real load; up within seconds, down after its wait, and every step told with its figures."""
    job = local.submit(
        "--module", "EAS", "--cpu", "0.1", "--grace", "2s", "--autoscale", "min=1,max=3,target=2,down_after=4s",
        "--", sys.executable, "-c", SLOW,
    )  # fmt: skip
    address = local.run("open", job, "--wait").strip()
    with local.client() as client:
        assert client.jobs.get(job)["replicas"] == 1
        clients = Clients(address, count=5)
        try:
            until(lambda: client.jobs.endpoint(job)["ready"] == 3)
            assert "requests in flight)" in local.run("describe", "job", job)
        finally:
            clients.stop()
        until(lambda: client.jobs.endpoint(job)["ready"] == 1)
        assert clients.statuses == {200}
        found = client.jobs.get(job)
        assert found["autoscale"] == {"min": 1, "max": 3, "target": 2, "down_after": "4s"}
        steps = [e["body"] for e in client.events.list(job=job) if e["kind"] == "job.autoscaled"]
    assert steps[0]["before"] == 1
    assert steps[0]["in_flight"] > 2
    assert {(one["target"], one["min"], one["max"]) for one in steps} == {(2.0, 1, 3)}
    assert (steps[-1]["after"], steps[-1]["over_seconds"]) == (1, 4.0)
    told = local.run("events", "--kind", "job.autoscaled", "--job", job)
    assert f"before=1 after={steps[0]['after']} in_flight={steps[0]['in_flight']}" in told
    assert f"{job} resized\n{job} follows its demand" in local.run("resize", job, "--replicas", "2")
    assert "must be 1..3" in local.run("resize", job, "--replicas", "4", status=1)
    assert "no more" in local.run("resize", job, "--autoscale", "off")
    local.run("cancel", job)


def test_a_service_that_hangs_in_its_health_check_says_so(local: Local):
    job = local.submit(
        "--module", "EAS", "--cpu", "0.1", "--grace", "2s", "--health", "/nowhere/to/be/found",
        "--", sys.executable, "-c", WEB,
    )  # fmt: skip
    until(lambda: "/nowhere/to/be/found answered 404" in local.run("explain", job))
    assert re.search(r"replica 0 is not ready for \d+s: /nowhere", local.run("describe", "job", job))
    local.run("cancel", job)


def test_a_secret_is_nowhere_but_in_the_database(local: Local):
    """Neither in the engine's directory nor in the server's log nor in anything that the command line says."""
    job = local.submit("--cpu", "0.1", "--secret", f"KEY={SECRET}", "--", "sh", "-c", "test ${#KEY} = 12")
    local.wait_phase(job, "Succeeded")
    said = [local.run("describe", "job", job, "-o", kind) for kind in ("table", "json", "yaml")]
    said += [local.run(*words) for words in (("get", "jobs", "-a", "-o", "json"), ("events", "-o", "json"), ("get", "audit", "-o", "json"), ("snapshot",), ("export", "-"))]  # fmt: skip
    assert [one for one in said if SECRET in one] == []
    found = subprocess.run(
        ["grep", "-rl", SECRET, str(local.home)], capture_output=True, text=True, check=False
    )
    assert {Path(line).name.removesuffix("-wal") for line in found.stdout.splitlines()} <= {"quotatree.db"}


def test_a_server_that_dies_finds_its_jobs_again(tmp_path: Path, started: list[Process]):
    """A7: the job goes on while nobody serves, its log is followed on, and nodes that are gone are drained."""
    first = Local(tmp_path)
    started.append(first.server)
    job = first.submit(
        "--gpus", "1", "--", "sh", "-c", "echo one; while [ ! -e go ]; do sleep 0.1; done; echo two"
    )
    follow = Command("logs", "-f", job, env=first.env)
    try:
        follow.until("one")
        first.server.end(signal.SIGKILL)
        listen = f"127.0.0.1:{first.server.port}"
        again = Process(tmp_path / "data", *LOCAL, "--nodes", "1x8:H100", "--listen", listen)
        started.append(again)
        again.url = first.server.url
        first.server = again
        with again.client(first.token) as client:
            assert (client.jobs.get(job)["phase"], client.jobs.get(job)["run"]) == ("Running", 1)
            states = {node["name"]: node["state"] for node in client.nodes.list()}
            assert states == {"node-0": "Ready", "node-1": "Draining"}
        assert "node-1 is no longer there" in again.said
        (tmp_path / "data" / "engine" / "jobs" / job / "work" / "go").touch()
        assert follow.end() == 0
        assert follow.said == b"one\ntwo\n"
    finally:
        follow.kill()
        first.close()
