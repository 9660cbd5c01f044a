"""A whole server on a loopback port, and the command line as one user of it."""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
import uvicorn
from click.testing import CliRunner, Result

from quotatree.api.settings import ServerSettings
from quotatree.cli import main
from quotatree.client import Client
from quotatree.control import logs
from quotatree.server.assembly import Server
from quotatree.store import Store
from tests.cli.process import Process


@pytest.fixture(autouse=True, scope="session")
def quiet() -> Iterator[None]:
    """What the server logs is not what a command prints, though both are one process here."""
    logs.configure(io.StringIO())
    yield
    structlog.reset_defaults()


TREE = """
users: [ann, eve]
quotas:
  - id: company
    draws: {default: {gpus: 16}}
    child_level: {priorities: 1-3}
    children:
      - {id: vision, min: {gpus: 8}}
      - {id: speech, min: {gpus: 8}}
workspaces:
  - id: vision
    members: {ann: developer}
    quotas: [vision]
  - id: speech
    members: {eve: developer}
    quotas: [speech]
"""


class Serving:
    """`url` and the admin's `token`; `tokens` of others by name."""

    def __init__(self, directory: Path, nodes: str = "2x8") -> None:
        self.directory = directory
        self.store = Store.open(str(directory / "quotatree.db"))
        self.store.migrate()
        self.server = Server(
            self.store, ServerSettings(data=directory, engine="timer", nodes=nodes), own_file=True
        )
        self.server.start()
        first, _ = self.server.furnish()
        assert first is not None
        self.token = first.token
        self._web = self.server.uvicorn("127.0.0.1", 0)
        self._thread = threading.Thread(target=self._web.run, daemon=True)
        self._thread.start()
        until(lambda: self._web.started)
        self.url = f"http://127.0.0.1:{port_of(self._web)}"
        self.tokens = {"admin": self.token}

    def client(self, user: str = "admin") -> Client:
        return Client(self.url, self.tokens[user])

    def close(self) -> None:
        self._web.should_exit = True
        self._thread.join()
        self.server.stop()
        self.store.close()


def port_of(web: uvicorn.Server) -> int:
    port: int = web.servers[0].sockets[0].getsockname()[1]
    return port


def until(true: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


class Cli:
    def __init__(self, serving: Serving, home: Path) -> None:
        self.serving = serving
        self.home = home

    def run(
        self, *words: str, user: str | None = "admin", status: int = 0, stdin: str | None = None
    ) -> Result:
        result = CliRunner().invoke(main, words, env=self.env(user), input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == status, result.output
        return result

    def env(self, user: str | None) -> dict[str, str | None]:
        return {
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_DATA_HOME": str(self.home / "data"),
            "QUOTATREE_URL": self.serving.url,
            "QUOTATREE_TOKEN": None if user is None else self.serving.tokens[user],
            "QUOTATREE_CONTEXT": None,
        }

    def lines(self, *words: str, **extra: Any) -> list[str]:
        return self.run(*words, **extra).stdout.splitlines()

    def json(self, *words: str, **extra: Any) -> Any:
        return json.loads(self.run(*words, "-o", "json", **extra).stdout)

    def submit(self, *words: str, user: str = "ann", quota: str = "vision") -> str:
        workspace = quota if quota != "company" else "vision"
        found = self.lines(
            "submit", "--workspace", workspace, "--quota", quota, "-o", "name", *words, user=user
        )
        return found[0].removeprefix("job/")

    def phase(self, job: str) -> str:
        phase: str = self.json("get", "job", job)["phase"]
        return phase

    def wait_phase(self, job: str, phase: str) -> None:
        until(lambda: self.phase(job) == phase)

    def file(self, name: str, text: str) -> str:
        path = self.home / name
        path.write_text(text, encoding="utf-8")
        return str(path)


@pytest.fixture(scope="session")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    found = Serving(tmp_path_factory.mktemp("server"))
    try:
        home = tmp_path_factory.mktemp("admin")
        cli = Cli(found, home)
        cli.run("apply", "-y", "-f", cli.file("tree.yaml", TREE))
        for user in ("ann", "eve"):
            found.tokens[user] = cli.run("token", "create", "test", "--user", user).stdout.strip()
        yield found
    finally:
        found.close()


@pytest.fixture
def cli(serving: Serving, tmp_path: Path) -> Iterator[Cli]:
    """As the server was left by `serving`: jobs of the test before are cancelled and gone."""
    yield Cli(serving, tmp_path)
    with serving.client() as client:
        for job in client.jobs.list(active=True):
            if job["phase"] not in ("Cancelled", "Succeeded", "Failed"):
                client.jobs.cancel(job["id"])
        until(lambda: not list(client.jobs.list(active=True)))


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Process]]:
    running: list[Process] = []
    yield running
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


def bare(cli: Cli, *words: str, status: int = 0, stdin: str | None = None, **env: str):
    """Without the variables that name a server and a token."""
    clean = {
        "XDG_CONFIG_HOME": str(cli.home / "config"), "XDG_DATA_HOME": str(cli.home / "data"),
        "QUOTATREE_URL": None, "QUOTATREE_TOKEN": None, "QUOTATREE_CONTEXT": None, **env,
    }  # fmt: skip
    result = CliRunner().invoke(main, words, env=clean, input=stdin)
    assert result.exit_code == status, result.output
    return result
