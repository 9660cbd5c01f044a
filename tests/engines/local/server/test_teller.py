"""Whoever is told may ask: nobody holds meanwhile what the answer needs."""

from __future__ import annotations

import threading
from pathlib import Path

from quotatree.core.model.job import JobId
from quotatree.engines.base import Report
from tests.engines.contract import start_order
from tests.engines.local.harness import LocalHarness, until

JOB = JobId("dlc-a")


def test_whoever_is_told_may_wait_for_another_who_asks(local: LocalHarness, monkeypatch):
    """A sweep that told while it held the state once stopped a whole server."""
    asked: list[bool] = []

    def listen(_: Report) -> None:
        other = threading.Thread(target=local.engine.observe, daemon=True)
        other.start()
        other.join(10)
        asked.append(not other.is_alive())

    monkeypatch.setattr(local.engine, "_woken", lambda _: None)
    monkeypatch.setattr(local.engine._teller, "_report", listen)
    local.engine.start(start_order(local.program()))
    journalled = Path(local.engine._runs[JOB, 1].directory.journal)
    until(lambda: journalled.exists() and b"confirmed" in journalled.read_bytes())
    local.engine._sweep()
    until(lambda: asked)
    assert all(asked)
