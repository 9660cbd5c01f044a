"""Services and notebooks under a real supervisor, spoken to as the engine does: by files."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from quotatree.engines.local.files import journal
from quotatree.engines.local.files.layout import EngineDir
from quotatree.engines.local.host import process_tree
from tests.engines.local.proxy_process import SOURCE, eventually

BACKEND = str(Path(__file__).with_name("backend.py"))
SERVER = [sys.executable, BACKEND]
CODE = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from quotatree.engines.local.supervisor.supervisor import main; main()"
)


class Run:
    """One run of job `a`."""

    def __init__(
        self, directory: Path, module: str, *, run: int = 1, replicas: int = 1, **program: Any
    ) -> None:
        engine = EngineDir(directory)
        os.makedirs(engine.jobs, exist_ok=True)
        self.dir = engine.run("a", run)
        os.makedirs(self.dir.path)
        self.engine_id = f"test-{os.getpid()}-{directory.name}"
        program = {"command": SERVER, "health": {"interval_seconds": 0.05}, **program}
        spec = {
            "engine": self.engine_id, "job": "a", "run": run, "module": module, "world_size": replicas,
            "grace_ms": program.pop("grace_ms", 5000), "user": program.pop("user", None), "limits": False, "program": program,
        }  # fmt: skip
        Path(self.dir.spec).write_text(json.dumps(spec))
        self.start(range(replicas))
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", CODE, str(SOURCE), self.dir.path], stdin=subprocess.PIPE
        )
        assert self.process.stdin is not None
        self.process.stdin.write(b'{"secrets": {}}\n')
        self.process.stdin.close()

    # -- orders ------------------------------------------------------------------------------------------------

    def start(self, replicas: Any) -> None:
        amounts = {"node": "n0", "devices": [], "gpu_milli": 0, "cpu_milli": 0, "memory_mib": 0}
        self.order(do="start", replicas=[{"replica": n, **amounts} for n in replicas])

    def stop(self, replicas: list[int] | None = None, grace_ms: int = 5000) -> None:
        self.order(do="stop", replicas=replicas, grace_ms=grace_ms)

    def order(self, **entry: Any) -> None:
        journal.append(self.dir.orders, entry)
        if hasattr(self, "process") and self.lines("supervising"):
            self.process.send_signal(signal.SIGUSR1)

    # -- what is known -----------------------------------------------------------------------------------------

    @property
    def journal(self) -> list[dict[str, Any]]:
        return journal.read(self.dir.journal)[0]

    def lines(self, what: str, **more: Any) -> list[dict[str, Any]]:
        return [e for e in self.journal if e["is"] == what and more.items() <= e.items()]

    def wait(self, what: str, count: int = 1, **more: Any) -> dict[str, Any]:
        found = eventually(lambda: f[count - 1 :] if len(f := self.lines(what, **more)) >= count else None)
        return found[0]

    def confirmed(self, *replicas: int) -> Run:
        told = lambda: {n for line in self.lines("confirmed") for n in line["replicas"]}  # noqa: E731
        eventually(lambda: told() >= set(replicas))
        return self

    def pid(self, replica: int) -> int:
        return int(self.lines("started", replica=replica)[-1]["pid"])

    def proxy_pid(self) -> int:
        """The one child that is no replica."""
        mains = {line["pid"] for line in self.lines("started")}
        return eventually(lambda: [p for p in process_tree.children(self.process.pid) if p not in mains])[0]

    @property
    def port(self) -> int:
        return int(self.wait("endpoint")["address"].rstrip("/").rpartition(":")[2])

    def ask(self, path: str = "/", method: str = "GET", body: bytes | None = None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    # -- the end -----------------------------------------------------------------------------------------------

    def over(self) -> dict[str, Any]:
        """The final line; the supervisor ended, and nothing is left."""
        self.process.wait(60)
        assert not process_tree.marked(f"{self.engine_id}:")
        last = self.journal[-1]
        return {key: value for key, value in last.items() if key != "at_ms"}

    def end(self) -> None:
        """Whatever the test left running."""
        self.process.kill()
        self.process.wait()

        def nothing_left() -> bool:
            found = process_tree.marked(f"{self.engine_id}:")
            for process in found:
                process.send(signal.SIGKILL)
            return not found

        eventually(nothing_left)
