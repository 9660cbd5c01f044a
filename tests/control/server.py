"""A server in one thread with a clock that a test turns: commands are answered when `step` has run."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from quotatree.access.roles import Role
from quotatree.access.values import User
from quotatree.control.commands import values as do
from quotatree.control.commands.values import Command
from quotatree.control.loop import Controller, Mode
from quotatree.control.world import SYSTEM, World
from quotatree.core.model.job import Job, JobId, JobRequest, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope, SelfLevel, SelfLevels
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.engines.timer import TimerEngine
from quotatree.store.rows import EventRow, JobRow
from tests.control.kept_store import KeptStore

START_MS = 1_700_000_000_000


class Server:
    """One controller at a time over a store and an engine's file that outlive it."""

    def __init__(self, directory: Path, store: Any = None, engine: Any = None) -> None:
        self.now_ms = START_MS
        self.path = directory / "timers"
        self.store: Any = store if store is not None else KeptStore.fresh(directory)
        self._engine_given = engine is not None
        self.controller: Controller
        self.engine: Any = engine
        self.boots = 0
        self.boot()

    def boot(self) -> None:
        """A fresh process: nothing survives but the store and the engine's table."""
        self.boots += 1
        if not self._engine_given:
            self.engine = TimerEngine(self.path, lambda: self.now_ms, threaded=False)
        self.controller = Controller(
            self.store, self.engine, f"server-{self.boots}", clock=lambda: self.now_ms
        )
        self.step()

    def kill(self) -> None:
        """kill -9, and the lease runs out: nothing is released or closed."""
        self.now_ms += 20_000

    def step(self) -> None:
        self.controller.step()
        run_due = getattr(self.engine, "run_due", None)
        if run_due is not None:
            run_due()
        self.controller.step()

    def pass_time(self, seconds: float) -> None:
        self.now_ms += round(seconds * 1000)
        self.step()

    def do(self, command: Command) -> do.Answer:
        future = self.controller.call(command)
        self.controller.step()
        answer = future.result(0)
        self.step()
        return answer

    def do_all(self, *commands: Command) -> None:
        """In one batch."""
        futures = [self.controller.call(command) for command in commands]
        self.step()
        for future in futures:
            future.result(0)

    @property
    def world(self) -> World:
        future = self.controller.ask(lambda world, _: world)
        self.controller.step()
        return future.result(0)

    def mode(self) -> Mode:
        return self.controller.health.mode

    def job(self, job_id: str) -> Job:
        return self.world.state.jobs[JobId(job_id)]

    def phase(self, job_id: str) -> str:
        found = {row.id: row.phase for row in self.store.table(JobRow)}
        return str(found[job_id])

    def kinds(self, job_id: str | None = None) -> list[str]:
        """The domain events, of a job or all, in order."""
        return [row.kind for row in self.store.table(EventRow) if job_id in (None, row.job)]

    # -- a small world -------------------------------------------------------------------------------------------

    def furnish(self, nodes: int = 1, gpus: int = 8) -> Server:
        """Users root (admin), ann (developer) and pat (operator); quota `team` with children `a` and `b`."""
        half = nodes * gpus * 500
        draws = (("p", Bounds(nodes * gpus * 1000)),)
        self.do_all(
            do.PutUser(actor=SYSTEM, user=User("root", platform_admin=True)),
            *(do.PutUser(actor="root", user=User(name)) for name in ("ann", "pat", "out")),
            *(
                do.JoinNode(actor="root", spec=NodeSpec(f"n{number}", "p", gpus=gpus))
                for number in range(nodes)
            ),
            do.CreateQuota(actor="root", spec=QuotaSpec(QuotaId("team"), draws=draws)),
            *(
                do.CreateQuota(actor="root", spec=QuotaSpec(QuotaId(name), QuotaId("team"), Bounds(half)))
                for name in ("a", "b")
            ),
            do.CreateWorkspace(actor="root", workspace="vision", owners=("root",)),
            do.AddMember(actor="root", workspace="vision", user="ann", role=Role.DEVELOPER),
            do.AddMember(actor="root", workspace="vision", user="pat", role=Role.OPERATOR),
            *(do.BindQuota(actor="root", workspace="vision", quota=name) for name in ("team", "a", "b")),
        )
        return self

    def allow_preemption(self, quota: str = "a") -> None:
        policy = SelfLevels.of(SelfLevel(Priorities(6, 9), Priorities(1, 5), frozenset(Module), Scope.OWN))
        child = ChildLevel(Priorities(1, 5), frozenset(Module))
        before = self.world.state.quotas[QuotaId(quota)].spec
        self.do(do.UpdateQuota(actor="root", spec=replace(before, self_level=policy, child_level=child)))

    def submit(self, actor: str = "ann", **changes: Any) -> str:
        return self.do(submission(actor=actor, **changes)).id


def submission(
    gpus: int = 1, replicas: int = 1, seconds: float | None = 60, leaves_after: float = 0, **changes: Any
) -> do.SubmitJob:
    program: dict[str, Any] = {"leaves_after": leaves_after}
    if seconds is not None:
        program["seconds"] = seconds
    asked: dict[str, Any] = {
        "workspace": "vision",
        "quota": "a",
        "groups": (ReplicaGroup(replicas, Shape(gpus * 1000, 0, 0)),),
    }
    rest: dict[str, Any] = {"actor": "ann", "program": program}
    request = {one.name for one in fields(JobRequest)}
    for name, value in changes.items():
        (asked if name in request else rest)[name] = value
    return do.SubmitJob(asked=JobRequest(id=JobId(""), submitted_ms=0, **asked), **rest)
