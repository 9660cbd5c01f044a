"""A whole server behind its API, in one process: real loop, real store, an engine of timers; requests go straight to the app."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

from argon2 import PasswordHasher
from fastapi import FastAPI
from starlette.datastructures import State
from starlette.testclient import TestClient

from quotatree.access.roles import Role
from quotatree.access.values import User
from quotatree.api.app import create_app
from quotatree.api.services import Limits, Oidc, Services
from quotatree.control.commands import values as do
from quotatree.control.loop import Controller, Mode
from quotatree.control.world import SYSTEM
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.identity.passwords import Passwords
from quotatree.identity.tokens import new_token
from quotatree.store import Store
from tests.api.talking import TalkingTimer
from tests.control.faulty_store import FaultyStore
from tests.store.building import migrated_file

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PASSWORD = "correct horse battery"

MEMBERS = {
    "owen": ("vision", Role.OWNER),
    "ada": ("vision", Role.ADMIN),
    "pat": ("vision", Role.OPERATOR),
    "ann": ("vision", Role.DEVELOPER),
    "vic": ("vision", Role.VIEWER),
    "eve": ("speech", Role.DEVELOPER),
}
"""Users by the workspace they are in. Beside them: root (platform admin), quinn (quota admin of team), out (nobody)."""


class Api:
    """One server with users, two workspaces and a small tree: `team` with the children `a` (vision) and `b` (speech)."""

    def __init__(
        self, directory: Path, oidc: Oidc | None = None, limits: Limits | None = None, url: str | None = None
    ) -> None:
        if url is None:
            (directory / "state.db").write_bytes(migrated_file())
        self.store = Store.open(url or str(directory / "state.db"))
        self.engine = TalkingTimer()
        self.faults = FaultyStore(self.store)
        """What the loop writes to; whole until a test breaks it."""
        self.controller = Controller(self.faults, self.engine, "test")
        self.services = Services(
            self.controller, self.store, self.engine, Passwords(QUICK), oidc, limits=limits or Limits()
        )
        self.controller.start()
        self.tokens: dict[str, str] = {}
        wait_for(lambda: self.controller.health.mode is Mode.LEADING)
        self.client = TestClient(app_of(self.services), raise_server_exceptions=False)
        self._furnish()

    def close(self) -> None:
        self.client.close()
        self.services.simulations.close()
        self.controller.stop()
        self.store.close()

    def do(self, command: do.Command) -> do.Answer:
        return self.controller.call(command).result(60)

    def ask(self, method: str, path: str, user: str | None = "root", **extra: Any) -> Any:
        """A request by this user's token; None for nobody."""
        headers = dict(extra.pop("headers", {}))
        if user is not None:
            headers["Authorization"] = f"Bearer {self.token(user)}"

        return self.client.request(method, path, headers=headers, **extra)

    def get(self, path: str, user: str | None = "root", **extra: Any) -> Any:
        return self.ask("GET", f"/api/v1{path}", user, **extra)

    def post(self, path: str, body: Any = None, user: str | None = "root", **extra: Any) -> Any:
        return self.ask("POST", f"/api/v1{path}", user, **({} if body is None else {"json": body}), **extra)

    def token(self, user: str, *, read_only: bool = False) -> str:
        name = f"{user} ro" if read_only else user
        if name not in self.tokens:
            made = new_token(user, "test", self.services.clock(), read_only=read_only)
            self.do(do.MakeToken(actor=SYSTEM, token=made.info))
            self.tokens[name] = made.text
        return self.tokens[name]

    def submit(self, user: str = "ann", **changes: Any) -> str:
        made = self.post("/jobs", job(**changes), user)
        assert made.status_code == 201, made.text
        return str(made.json()["id"])

    def wait_phase(self, job_id: str, phase: str) -> None:
        wait_for(lambda: self.get(f"/jobs/{job_id}").json()["phase"] == phase)

    def _furnish(self) -> None:
        root = do.PutUser(actor=SYSTEM, user=User("root", platform_admin=True, password=QUICK.hash(PASSWORD)))
        self.do(root)
        for name in (*MEMBERS, "quinn", "out"):
            self.do(do.PutUser(actor="root", user=User(name)))
        self.do(do.JoinNode(actor="root", spec=NodeSpec("n0", "p", gpus=8)))
        draws = (("p", Bounds(8000)),)
        self.do(do.CreateQuota(actor="root", spec=QuotaSpec(QuotaId("team"), draws=draws)))
        for name, workspace in (("a", "vision"), ("b", "speech")):
            self.do(
                do.CreateQuota(actor="root", spec=QuotaSpec(QuotaId(name), QuotaId("team"), Bounds(4000)))
            )
            self.do(do.CreateWorkspace(actor="root", workspace=workspace))
            self.do(do.BindQuota(actor="root", workspace=workspace, quota=name))
        for name, (workspace, role) in MEMBERS.items():
            self.do(do.AddMember(actor="root", workspace=workspace, user=name, role=role))
        self.do(do.AppointQuotaAdmin(actor="root", user="quinn", quota="team"))


def app_of(services: Services) -> FastAPI:
    """The application on these services. Its routes are worked out by the first request of a process, and shared by all."""
    made = copy(_app())
    made.state = State()
    made.state.services = services
    return made


@cache
def _app() -> FastAPI:
    app = create_app(None)
    app.middleware_stack = app.build_middleware_stack()
    return app


@contextmanager
def serving(directory: Path, **extra: Any) -> Iterator[Api]:
    api = Api(directory, **extra)
    try:
        yield api
    finally:
        api.close()


def job(gpus: float = 1, seconds: float | None = None, **changes: Any) -> dict[str, Any]:
    program = {} if seconds is None else {"seconds": seconds}
    return {"workspace": "vision", "quota": "a", "groups": [{"gpus": gpus}], "program": program, **changes}


def wait_for(true: Any, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.01)
