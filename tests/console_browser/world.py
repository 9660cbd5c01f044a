"""A real server for the browser: the 128-GPU example on the timer engine, with a user and a password for each team."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import httpx2
from playwright.sync_api import StorageState

from quotatree.cli.demo import cast
from quotatree.client import Client
from quotatree.client.errors import ClientError

START_SECONDS: Final = 60.0
_TOKEN: Final = re.compile(r"^ {2}(\S+)$", re.MULTILINE)
SAVES_OFTEN: Final = {"checkpoint_every": 1}
SAVES_SELDOM: Final = {"checkpoint_every": 3600}


class World:
    """A server in a directory of its own. `stop` and `start` let its connection be lost and come back."""

    def __init__(
        self, directory: Path, nodes: str = cast.NODES, settings: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.directory = directory
        self.nodes = nodes
        self.settings = settings
        self.url = f"http://127.0.0.1:{_free_port()}"
        self.tokens: dict[str, str] = {}
        self._server: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        out = self.directory / "server.out"
        with out.open("wb") as stream:
            self._server = subprocess.Popen(
                [sys.executable, "-m", "quotatree", "serve", "--engine", "timer", "--nodes", self.nodes,
                 "--data", str(self.directory / "data"), "--listen", self.url.removeprefix("http://"),
                 "--log-file", str(self.directory / "server.log")],
                stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT,
                env={**os.environ, **self.settings},
            )  # fmt: skip
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self._server.poll() is None:
            text = out.read_text()
            if "listening on" in text:
                if "admin" not in self.tokens and (token := _TOKEN.search(text)):
                    self.tokens["admin"] = token[1]
                if self._answers():
                    return
            time.sleep(0.05)
        raise AssertionError(f"the server did not start:\n{out.read_text()}")

    def stop(self) -> None:
        assert self._server is not None
        self._server.terminate()
        try:
            self._server.wait(20)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()

    @property
    def running(self) -> bool:
        return self._server is not None and self._server.poll() is None

    def client(self, user: str = "admin") -> Client:
        return Client(self.url, self.tokens[user])

    def divide(self) -> None:
        """The tree, workspaces and users of the example."""
        with self.client() as admin:
            for quota in cast.QUOTAS:
                admin.quotas.create(quota)  # type: ignore[arg-type]  # a literal, checked by the server
            for workspace, (user, quota_id) in cast.TEAMS.items():
                admin.users.create({"name": user, "password": password(user)})
                admin.workspaces.create({"id": workspace, "owners": [user]})
                admin.workspaces.bind(workspace, quota_id)
                self.tokens[user] = admin.tokens.create({"name": "test", "user": user})["token"]

    def fill(self) -> None:
        """Trainings and notebooks on every GPU; `sweep-a` and `scratch` save often, so they lose least."""
        for user, jobs in (("bob", cast.training()), ("cai", cast.notebooks())):
            with self.client(user) as client:
                for job in jobs:
                    often = job["name"] in {"sweep-a", "scratch"}
                    client.jobs.submit(
                        {**job, "program": SAVES_OFTEN if often else SAVES_SELDOM, "grace": "1s"}
                    )
        self.until(lambda: self.used() == 128)

    def take(self) -> None:
        """A service comes: `sweep-a` and `scratch` are evicted for it and wait, and `extra` waits as well."""
        with self.client("ada") as ada:
            ada.jobs.submit({**cast.service(), "program": {}})
        self.until(lambda: self.job("service")["phase"] == "Running")
        with self.client("bob") as bob:
            bob.jobs.submit({**cast.extra(), "program": {}})

    def used(self) -> float:
        with self.client() as admin:
            usage: Any = admin.quotas.get("Quota1")["usage"]
            return float(usage["used_own"]["gpus"] + usage["used_below"]["gpus"])

    def job(self, name: str) -> Any:
        with self.client() as admin:
            return next(job for job in admin.jobs.list() if job["name"] == name)

    def until(self, seen: Callable[[], bool], seconds: float = 30.0) -> None:
        come_true(seen, seconds)

    def _answers(self) -> bool:
        try:
            with self.client() as admin:
                admin.whoami()
        except (ClientError, KeyError):
            return False
        return True


def come_true(seen: Callable[[], bool], seconds: float) -> None:
    until = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.1)


def signed_in(url: str, token: str) -> StorageState:
    """What a browser keeps for the console after a login with the token."""
    answer = httpx2.post(f"{url}/api/v1/session/token", json={"token": token})
    assert answer.is_success, answer.text
    key = str(answer.json()["key"])
    return {"origins": [{"origin": url, "localStorage": [{"name": "quotatree-key", "value": key}]}]}


def password(user: str) -> str:
    return f"correct horse battery {user}"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
