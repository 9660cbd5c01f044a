"""A loop that really runs, on SQLite and with an engine that only notes its orders, for an edge to talk to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from quotatree.access.values import User
from quotatree.control.commands import values as do
from quotatree.control.loop import Controller
from quotatree.control.world import SYSTEM
from quotatree.core.model.node import NodeSpec
from quotatree.engines.base import Report
from tests.control.kept_store import KeptStore
from tests.control.told_engine import ToldEngine

ANSWER_SECONDS = 30


class Loop:
    def __init__(self, directory: Path) -> None:
        self.store = KeptStore.fresh(directory)
        self.engine = ToldEngine()
        self.controller = Controller(self.store, self.engine, "edge")
        self.controller.start()
        for name in ("ann", "bob", "root"):
            self.do(do.PutUser(actor=SYSTEM, user=User(name, platform_admin=name == "root")))
        for number in range(2):
            self.do(
                do.JoinNode(
                    actor=SYSTEM, spec=NodeSpec(f"n{number}", gpus=8, cpu_milli=64_000, memory_mib=65_536)
                )
            )

    def do(self, command: do.Command) -> do.Answer:
        return self.controller.call(command).result(ANSWER_SECONDS)

    def tell(self, report: Report) -> None:
        """The engine tells this; returns when it is known."""
        self.engine.tell(report)
        self.do(do.PutUser(actor=SYSTEM, user=User("later")))

    def ask(self, query):
        return self.controller.ask(lambda world, now_ms: query(world)).result(ANSWER_SECONDS)


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Loop]:
    made = Loop(tmp_path)
    yield made
    made.controller.stop()
    made.store.close()
