"""How tests talk with a supervisor: as the engine does, by files; and they wait for what happens, never for time."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from quotatree.engines.local.files import journal
from quotatree.engines.local.files.layout import EngineDir
from quotatree.engines.local.host import cgroups, process_tree
from quotatree.engines.local.host.identity import Identity
from quotatree.engines.local.server.birth import take_lock
from quotatree.engines.local.supervisor.nursery import Nursery

DEADLINE_SECONDS = 60.0


def wait_for(condition: Callable[[], Any], what: str, seconds: float = DEADLINE_SECONDS) -> Any:
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"waited {seconds:g} s for {what}"
        time.sleep(0.002)


class Runs:
    """The supervised runs of one test."""

    def __init__(self, nursery: Nursery, directory: Path, engine: str, *, limits: bool) -> None:
        self.nursery = nursery
        self.directory = EngineDir(directory)
        self.engine = engine
        self.limits = limits
        self._all: list[Run] = []
        os.mkdir(self.directory.jobs, 0o711)

    def start(self, command: str | list[str], *, replicas: int = 1, job: str = "a", **more: Any) -> Run:
        run = self.prepare(command, replicas=replicas, job=job, **more)
        run.supervise()
        return run

    def prepare(self, command: str | list[str], *, replicas: int = 1, job: str = "a", **more: Any) -> Run:
        """As `start`, up to where the supervisor would begin. What is not for spec.json is for the program."""
        amounts = {key: more.pop(key) for key in ("cpu_milli", "memory_mib") if key in more}
        spec: dict[str, Any] = {
            "engine": self.engine,
            "job": job,
            "run": 1,
            "module": "DLC",
            "world_size": replicas,
            "grace_ms": more.pop("grace_ms", 5_000),
            "user": more.pop("user", None),
            "limits": self.limits,
        }
        secrets = more.pop("secrets", {})
        spec["program"] = {"command": command, **more}
        run = Run(self, spec, secrets)
        run.order_start(range(replicas), **amounts)
        self._all.append(run)
        return run

    def close(self) -> None:
        """End what still runs, and fail if a run that was over left anything behind."""
        left_behind = []
        for run in self._all:
            if run.concluded:
                run.wait_for_its_supervisor()
                left_behind += run.processes()
            run.kill_supervisor()
        wait_for(self._nothing_left, "the last process")
        assert not left_behind
        assert not any(group for run in self._all if run.concluded for group in run.groups_left())
        for run in self._all:
            for group in run.groups_left():
                group.remove()
        cgroups.find(self.engine).tidy()

    def _nothing_left(self) -> bool:
        for group in (group for run in self._all for group in run.groups_left()):
            group.kill()
        found = process_tree.marked(f"{self.engine}:")
        for process in found:
            process.send(signal.SIGKILL)
        return not found


class Run:
    def __init__(self, runs: Runs, spec: dict[str, Any], secrets: dict[str, str]) -> None:
        self.runs = runs
        self.spec = spec
        self.secrets = secrets
        self.dir = runs.directory.run(spec["job"], 1)
        os.makedirs(self.dir.path, exist_ok=True)
        os.chmod(self.dir.job.path, 0o711)
        Path(self.dir.spec).write_text(json.dumps(spec))

    def supervise(self) -> None:
        lock = take_lock(self.dir)
        assert lock is not None
        try:
            self.runs.nursery.start(self.dir.path, self.secrets, lock)
        finally:
            os.close(lock)

    def supervise_again(self) -> None:
        """As if somebody did not know that it was; until that supervisor has ended."""
        lock = os.open(self.dir.lock, os.O_RDWR)
        try:
            pid = self.runs.nursery.start(self.dir.path, self.secrets, lock)
        finally:
            os.close(lock)
        wait_for(lambda: not os.path.exists(f"/proc/{pid}"), "the end of the second supervisor")

    # Orders

    def order(self, entry: dict[str, Any]) -> None:
        journal.append(self.dir.orders, entry)
        supervisor = self.supervisor()
        if supervisor is not None:
            supervisor.send(signal.SIGUSR1)

    def order_start(self, replicas: Any, **amounts: int) -> None:
        orders = [
            {"replica": n, "node": "n0", "devices": [n], "gpu_milli": 1000, "cpu_milli": 0, "memory_mib": 0} | amounts
            for n in replicas
        ]  # fmt: skip
        self.order({"do": "start", "replicas": orders})

    def stop(self, replicas: list[int] | None = None, *, grace_ms: int = 5_000) -> None:
        self.order({"do": "stop", "replicas": replicas, "grace_ms": grace_ms})

    # What is known

    @property
    def journal(self) -> list[dict[str, Any]]:
        return journal.read(self.dir.journal)[0]

    def lines(self, what: str) -> list[dict[str, Any]]:
        return [entry for entry in self.journal if entry["is"] == what]

    @property
    def concluded(self) -> bool:
        return any(entry["is"] in journal.FINAL for entry in self.journal)

    def wait(self, what: str, count: int = 1) -> dict[str, Any]:
        """The journal's line of this kind."""
        self.wait_until(lambda: len(self.lines(what)) >= count or self.concluded, what)
        found = self.lines(what)
        assert len(found) >= count, f"it ended without {what}: {self.journal}"
        return found[count - 1]

    def end(self) -> dict[str, Any]:
        """The final line, without its time."""
        self.wait_until(lambda: self.concluded, "the end of the run")
        last = self.journal[-1]
        return {key: value for key, value in last.items() if key != "at_ms"}

    def wait_until(self, condition: Callable[[], Any], what: str) -> Any:
        return wait_for(condition, f"{what}; known: {self.journal}")

    def supervisor(self) -> Identity | None:
        lines = self.lines("supervising")
        return Identity.read(lines[0]) if lines else None

    def supervisor_alive(self) -> bool:
        found = self.supervisor()
        return found is not None and found.alive()

    def wait_for_its_supervisor(self) -> None:
        wait_for(lambda: not self.supervisor_alive(), "the end of the supervisor")

    def kill_supervisor(self) -> None:
        found = self.supervisor()
        if found is not None:
            found.send(signal.SIGKILL)

    def main(self, replica: int = 0) -> Identity:
        return Identity.read([e for e in self.lines("started") if e["replica"] == replica][-1])

    def processes(self) -> list[Identity]:
        """By their mark; those that wiped it off are found by their groups, or by what they wrote."""
        found = process_tree.marked(f"{self.runs.engine}:{self.spec['job']}:1:")
        return found + [process for group in self.groups_left() for process in group.processes()]

    def groups_left(self) -> list[cgroups.Group]:
        """Also of one whose supervisor was killed before it could write of it."""
        return cgroups.find(self.runs.engine).of_run(self.spec["job"], self.spec["run"])

    def log(self, replica: int = 0) -> bytes:
        """What is kept of it."""
        kept = b""
        for path in sorted(Path(self.dir.replica_logs(replica)).glob("*.log")):
            with contextlib.suppress(FileNotFoundError):  # thrown away while we read
                kept += path.read_bytes()
        return kept

    def wait_for_output(self, text: bytes, replica: int = 0) -> None:
        self.wait_until(lambda: text in self.log(replica), f"the output {text!r}")

    def work(self, name: str) -> Path:
        return Path(self.dir.job.work) / name

    def pid_written(self, name: str) -> Identity:
        """Of a process that wrote its number into a file of the work directory, also of one that fled."""
        text = self.wait_until(lambda: self.work(name).exists() and self.work(name).read_text(), name)
        found = Identity.of(int(text))
        assert found is not None
        return found
