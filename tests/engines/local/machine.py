"""An engine with real jobs of several workspaces, a victim and hostile ones among them."""

from __future__ import annotations

import json
import os
import sys
import uuid
from pathlib import Path
from typing import Any

import quotatree.examples.notebook
from quotatree.core import JobId, Module, Shape
from quotatree.engines.base import Exited, Program, ReplicaOrder, Report, StartOrder, StopOrder
from quotatree.engines.local.host import process_tree
from quotatree.engines.local.server.disk_use import DiskSettings
from quotatree.engines.local.server.engine import LocalEngine
from quotatree.engines.local.server.unix_users import UserSettings
from tests.engines.local import hostile
from tests.engines.local.harness import until

RANGE = (70_000, 70_009)
PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
SECRET = "the-secret-of-the-victim"
KEY = 0x51540000 + os.getpid()
VICTIM = """
import ctypes, os, pathlib, sys, time
marker, key = sys.argv[1], int(sys.argv[2])
os.umask(0o022)
pathlib.Path("data").write_text("precious")
pathlib.Path(os.environ["QUOTATREE_CHECKPOINT_DIR"], "model").write_text("precious")
pathlib.Path("/tmp", marker).write_text("precious")
pathlib.Path("/dev/shm", marker).write_text("precious")
ctypes.CDLL(None).shmget(key, 4096, 0o1666)
print("ready", flush=True)
time.sleep(600)
"""
SERVICE = """
import http.server, os
class Served(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"served")
    def log_message(self, *words): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["QUOTATREE_PORT"])), Served).serve_forever()
"""
PLAIN = DiskSettings()


class Machine:
    """An engine with a victim of workspace a, and hostile jobs of workspace b."""

    def __init__(
        self, directory: Path, *, run_as: str | None, users: UserSettings, disk: DiskSettings = PLAIN
    ) -> None:
        self.reports: list[Report] = []
        self.directory = directory
        self.engine = LocalEngine(directory / "engine", run_as=run_as, users=users, disk=disk, limits=False)
        self.engine.open(self.reports.append)
        self.marker = f"qt-hostile-{uuid.uuid4().hex[:8]}"

    def start(
        self,
        job: str,
        workspace: str,
        program: Program,
        grace_ms: int = 5_000,
        module: Module = Module.DLC,
    ) -> None:
        where = (ReplicaOrder(0, "n1", (0,), Shape(1000, 0, 0)),)
        self.engine.start(StartOrder(JobId(job), 1, module, where, program, grace_ms, workspace))

    def printed(self, job: str) -> str:
        piece = self.engine.log(JobId(job), 1, 0, 0, 100_000)
        return "" if piece is None else piece.data.decode()

    def ended(self, job: str) -> Exited | None:
        return next((r for r in self.reports if isinstance(r, Exited) and r.job == job), None)

    def victim(self) -> None:
        command = [PYTHON, "-c", VICTIM, self.marker, str(KEY)]
        self.start("victim", "a", {"command": command, "secrets": {"PASSWORD": SECRET}})
        run = self.engine._runs[JobId("victim"), 1]  # its output may be there before its journal is read
        until(lambda: (run.processes and "ready" in self.printed("victim")) or self.ended("victim"))
        assert self.ended("victim") is None, self.printed("victim")

    def serve(self) -> dict[str, Any]:
        """Start a notebook and a service of the victim's workspace; return what a hostile job could know of them."""
        notebook = Path(quotatree.examples.notebook.__file__).read_text(encoding="utf-8")
        self.start("notebook", "a", {"command": [PYTHON, "-c", notebook]}, module=Module.DSW)
        self.start("service", "a", {"command": [PYTHON, "-c", SERVICE]}, module=Module.EAS)
        until(lambda: all(self.ready(job) or self.ended(job) for job in ("notebook", "service")))
        assert not [self.ended(job) for job in ("notebook", "service") if self.ended(job)]
        path = self.engine._directory
        opened = self.engine.endpoint(JobId("notebook"), 1)
        assert opened is not None
        return {
            "token": opened.token, "notebook_port": self.port("notebook"), "service_port": self.port("service"),
            "proxy": self.proxy(),
            "kept": [
                path.run("notebook", 1).journal, path.run("notebook", 1).spec, path.job("notebook").service_file,
                path.job("service").service_file,
            ],
        }  # fmt: skip

    def ready(self, job: str) -> bool:
        at = self.engine.endpoint(JobId(job), 1)
        return at is not None and at.ready == 1

    def port(self, job: str) -> int:
        at = self.engine.endpoint(JobId(job), 1)
        assert at is not None
        return int(at.address.rstrip("/").rpartition(":")[2])

    def proxy(self) -> int:
        """Pid of the process that listens at the address of the service."""
        supervisor = self.engine._runs[JobId("service"), 1].supervisor
        assert supervisor is not None
        children = process_tree.children(supervisor.pid)
        return next(pid for pid in children if b"proxy" in Path(f"/proc/{pid}/cmdline").read_bytes())

    def attack(
        self, attempts: list[str], workspace: str = "b", job: str = "hostile", **more: Any
    ) -> dict[str, str | None]:
        path = self.engine._directory
        known = self.engine._runs[JobId("victim"), 1].processes[0].pid
        script = Path(hostile.__file__).read_text(encoding="utf-8")
        victim = {
            "pid": known, "secret": SECRET, "marker": self.marker, "key": KEY, "mine": job, "attempts": attempts,
            "work": path.job("victim").work, "checkpoints": path.job("victim").checkpoints, "jobs": path.jobs,
            "logs": path.run("victim", 1).replica_logs(0), "orders": path.run("victim", 1).orders,
            "users": path.users_file, "engine": path.path, **more,
        }  # fmt: skip
        self.start(job, workspace, {"command": [PYTHON, "-c", script, json.dumps(victim)]})
        until(lambda: self.ended(job) is not None)
        lines = self.printed(job).splitlines()
        assert lines, self.ended(job)
        found: dict[str, str | None] = json.loads(lines[-1])
        return found

    def close(self) -> None:
        for one in self.engine.observe().running:
            self.engine.stop(StopOrder(one.job, one.run, 0))
        until(lambda: not self.engine.observe().running)
        self.engine.close()
        for place in ("/tmp", "/dev/shm"):
            Path(place, self.marker).unlink(missing_ok=True)
