"""A whole server with the local engine, in a process of its own: `python -m benchmarks.local.server DIRECTORY NODES`.

Prints its address and a token as one line of JSON, and ends when its standard input does.
"""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import structlog

from quotatree.access.roles import Role
from quotatree.api.settings import ServerSettings
from quotatree.client import Client
from quotatree.control.commands import values as do
from quotatree.core import Bounds, Module, Priorities, QuotaId, QuotaSpec, Scope, SelfLevel, SelfLevels
from quotatree.engines.base import StopOrder
from quotatree.engines.local.host.virtual import virtual_nodes
from quotatree.engines.local.server.engine import LocalEngine
from quotatree.server.assembly import Server
from quotatree.server.engine_choice import LOCAL_DIRECTORY
from quotatree.store import Store

ROOT = Path(__file__).resolve().parents[2]
RUN_AS = pwd.getpwuid(os.geteuid()).pw_name
LARGE, SMALL = "large", "small"
"""Two quotas: one with all GPUs but one; one with a single GPU, in which higher priorities preempt lower ones."""


@contextmanager
def serving(nodes: str = "8x8") -> Iterator[tuple[Client, Path]]:
    """A client of a fresh server, and a scratch directory. On exit the server and all its jobs are ended."""
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o711)
        directory = Path(scratch, "server")
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.local.server", str(directory), nodes],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}, text=True,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            said = json.loads(process.stdout.readline())
            with Client(said["url"], said["token"]) as client:
                yield client, Path(scratch)
        finally:
            process.stdin.close()
            process.wait(60)
            process.stdout.close()
            _end_all(directory / LOCAL_DIRECTORY)


def _end_all(directory: Path) -> None:
    """End all jobs that the server has left running."""
    engine = LocalEngine(directory, run_as=RUN_AS)
    engine.open(lambda _: None)
    for one in engine.observe().running:
        engine.stop(StopOrder(one.job, one.run, 0))
    until = time.monotonic() + 60
    while engine.observe().running and time.monotonic() < until:
        time.sleep(0.01)
    engine.close()


def job(command: str, *, quota: str = LARGE, priority: int = 1, grace: str = "30s") -> Any:
    return {
        "workspace": "w", "quota": quota, "groups": [{"replicas": 1, "gpus": 1}], "priority": priority,
        "grace": grace, "program": {"command": command},
    }  # fmt: skip


def main() -> None:
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    directory = Path(sys.argv[1])
    directory.mkdir(mode=0o711)
    store = Store.open(str(directory / "quotatree.db"))
    store.migrate()
    settings = ServerSettings(data=directory, engine="local", nodes=sys.argv[2], run_as=RUN_AS)
    server = Server(store, settings, own_file=True)
    server.start()
    first, _ = server.furnish()
    assert first is not None
    _furnish(server, sum(node.gpus for node in virtual_nodes(sys.argv[2])))
    web = server.uvicorn("127.0.0.1", 0)
    thread = threading.Thread(target=web.run, daemon=True)
    thread.start()
    while not web.started:
        time.sleep(0.01)
    port = web.servers[0].sockets[0].getsockname()[1]
    print(json.dumps({"url": f"http://127.0.0.1:{port}", "token": first.token}), flush=True)
    sys.stdin.read()
    web.should_exit = True
    thread.join()
    server.stop()
    store.close()


def _furnish(server: Server, gpus: int) -> None:
    above = SelfLevels.of(SelfLevel(Priorities(6, 9), Priorities(1, 5), frozenset(Module), Scope.OWN))
    specs = [
        QuotaSpec(QuotaId(LARGE), draws=(("default", Bounds((gpus - 1) * 1_000)),)),
        QuotaSpec(QuotaId(SMALL), draws=(("default", Bounds(1_000)),), self_level=above),
    ]
    asked = [
        *(do.CreateQuota(actor="admin", spec=spec) for spec in specs),
        do.CreateWorkspace(actor="admin", workspace="w"),
        do.AddMember(actor="admin", workspace="w", user="admin", role=Role.OPERATOR),
        *(do.BindQuota(actor="admin", workspace="w", quota=spec.id) for spec in specs),
    ]
    for future in [server.controller.call(command) for command in asked]:
        future.result(30)


if __name__ == "__main__":
    main()
