"""The local engine with real processes for the engines' contract: the contract's seconds are short ones here.

Nothing is slept for blindly: before time passes every replica must have begun, and afterwards whatever should be over by
then, by its own declared life and its orders, is waited for.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from quotatree.core.model.job import JobId
from quotatree.engines.base import Program, Report, StopOrder
from quotatree.engines.local.files import journal
from quotatree.engines.local.files.layout import RunDir
from quotatree.engines.local.host import process_tree
from quotatree.engines.local.host.identity import Identity
from quotatree.engines.local.server.engine import LocalEngine
from quotatree.engines.local.server.unix_users import UserSettings

RUN_AS = "root" if os.geteuid() == 0 else None
PACE = 0.2
"""How long one of the contract's seconds takes."""
FOREVER = 1_000_000.0
PATIENCE_SECONDS = 60.0

# A child does the waiting, so that the shell hears SIGTERM at once; the child dies of the same signal.
SCRIPT = """
trap 'sleep "$LEAVES"; exit 1' TERM
printf %s "$PRINTS"
sleep "$LIFE" & wait $!
exit "$CODE"
"""


class LocalHarness:
    users = UserSettings()
    above = 0
    """How many processes stand above the program: one where it is kept apart."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._open()

    def _open(self) -> None:
        self.reports: list[Report] = []
        run_as = None if self.users.given else RUN_AS
        self.engine = LocalEngine(self._directory, run_as=run_as, users=self.users, limits=False)
        self.engine.open(self.reports.append)

    def reopen(self) -> None:
        self.engine.close()
        self._open()

    def ms(self, seconds: float) -> int:
        return round(seconds * PACE * 1000)

    def pass_time(self, seconds: float) -> None:
        until(self._all_begun)
        time.sleep(seconds * PACE)
        until(lambda: not any(self._overdue(run) for run in self._runs()))
        until(lambda: not self.engine._teller.telling)

    def program(
        self,
        *,
        seconds: float | None = None,
        leaves_after: float = 0,
        outcome: str = "succeeded",
        prints: str = "",
    ) -> Program:
        life = FOREVER if seconds is None else seconds * PACE
        env = {
            "LIFE": f"{life:.3f}",
            "LEAVES": f"{leaves_after * PACE:.3f}",
            "CODE": "0" if outcome == "succeeded" else "1",
            "PRINTS": prints,
        }
        return {"command": SCRIPT, "env": env}

    def lose(self, job: str, run: int) -> bool:
        """Kill the one that watches over a run."""
        until(lambda: self.engine.observe().running)
        return self.supervisor(job, run).send(signal.SIGKILL)

    def supervisor(self, job: str, run: int) -> Identity:
        """The one that watches over a run, once the engine has read who it is: its processes may be there before."""
        known = self.engine._runs[JobId(job), run]
        until(lambda: known.supervisor is not None)
        assert known.supervisor is not None
        return known.supervisor

    def marked(self) -> list[int]:
        """Pids of all processes that carry the engine's mark."""
        return sorted(process.pid for process in process_tree.marked(self.engine._premises.engine_id))

    def close(self) -> None:
        """End everything; nothing may be left behind (A7)."""
        for one in self.engine.observe().running:
            self.engine.stop(StopOrder(one.job, one.run, 0))
        until(lambda: not self.engine.observe().running)
        self.engine.close()
        assert self.marked() == []

    # -- what should be over ---------------------------------------------------------------------------------------

    def _runs(self) -> Iterator[RunDir]:
        for path in self._directory.glob("jobs/*/runs/*"):
            if (path / "journal").exists():
                yield RunDir(path)

    def _all_begun(self) -> bool:
        """Confirmed, and its script has set its trap: it prints something first, if only nothing, so look at its child."""
        running = {(one.job, one.run): set(one.replicas) for one in self.engine.observe().running}
        for (job, run), replicas in running.items():
            known = self.engine._runs[job, run]
            if not all(
                r in known.processes and _sleeps(known.processes[r].pid, self.above) for r in replicas
            ):
                return False
        return True

    def _overdue(self, run: RunDir) -> bool:
        """By what is written: a replica is there that should be gone."""
        key = (JobId(json.loads(Path(run.spec).read_text())["job"]), int(Path(run.path).name))
        env = json.loads(Path(run.spec).read_text())["program"]["env"]
        there = {
            r for one in self.engine.observe().running if (one.job, one.run) == key for r in one.replicas
        }
        now_ms = time.time() * 1000
        due: dict[int, float] = {}
        for line in journal.read(run.journal)[0]:
            if line["is"] == "started":
                due[line["replica"]] = line["at_ms"] + float(env["LIFE"]) * 1000
        for line in journal.read(run.orders)[0]:
            if line["do"] == "stop":
                for replica in line["replicas"]:
                    leaves_ms = min(float(env["LEAVES"]) * 1000, line["grace_ms"])
                    due[replica] = min(due.get(replica, now_ms), line["at_ms"] + leaves_ms)
        return any(due.get(replica, now_ms + 1) <= now_ms for replica in there)


class ApartHarness(LocalHarness):
    """The same, where each workspace has a unix user of its own and jobs are kept apart."""

    users = UserSettings(range=(70_000, 70_009))
    above = 1


def _sleeps(pid: int, above: int) -> bool:
    """Its first child is there, so its trap is set. One that leaves or has ended is past that."""
    if above:
        below = process_tree.children(pid)
        return any(_sleeps(child, above - 1) for child in below) or not Path(f"/proc/{pid}").exists()
    return bool(process_tree.children(pid)) or not Path(f"/proc/{pid}").exists()


def until(happened: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)
