"""The small cluster that the server under fire runs, and where it keeps its things."""

from __future__ import annotations

from pathlib import Path

from quotatree.access.roles import Role
from quotatree.access.values import User
from quotatree.control.commands import values as do
from quotatree.control.loop import Controller, LoopSettings
from quotatree.control.world import SYSTEM
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope, SelfLevel, SelfLevels
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.engines.timer import TimerEngine
from quotatree.store import Store

NODES, GPUS = 2, 8
QUOTAS = ("team", "a", "b")


def open_server(directory: Path) -> tuple[Controller, Store]:
    """Always the same holder: a restarted server takes its own lease over at once, with a new epoch."""
    store = Store.open(str(directory / "store.db"))
    engine = TimerEngine(directory / "timers")
    return Controller(store, engine, "server", settings=LoopSettings(lease_ms=2_000)), store


def furnish(directory: Path) -> None:
    store = Store.open(str(directory / "store.db"))
    store.migrate()
    store.close()
    controller, store = open_server(directory)
    controller.start()
    taken = SelfLevels.of(SelfLevel(Priorities(6, 9), Priorities(1, 5), frozenset(Module), Scope.LEVEL))
    below = ChildLevel(Priorities(1, 5), frozenset(Module))
    draws = (("p", Bounds(NODES * GPUS * 1000)),)
    specs = [QuotaSpec(QuotaId("team"), draws=draws, child_level=below)]
    for name in ("a", "b"):
        half = Bounds(NODES * GPUS * 500)
        specs.append(QuotaSpec(QuotaId(name), QuotaId("team"), half, self_level=taken))
    asked = [
        do.PutUser(actor=SYSTEM, user=User("root", platform_admin=True)),
        *(do.JoinNode(actor="root", spec=NodeSpec(f"n{n}", "p", gpus=GPUS)) for n in range(NODES)),
        *(do.CreateQuota(actor="root", spec=spec) for spec in specs),
        do.CreateWorkspace(actor="root", workspace="w"),
        do.AddMember(actor="root", workspace="w", user="root", role=Role.OPERATOR),
        *(do.BindQuota(actor="root", workspace="w", quota=quota) for quota in QUOTAS),
    ]
    for future in [controller.call(command) for command in asked]:
        future.result(30)
    controller.stop()
    store.close()
