"""Once a minute the server asks itself when a job that has begun to wait will start, and keeps what it said."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from quotatree.api.estimate_checks import EstimateChecks
from quotatree.api.estimate_worker import Work
from quotatree.api.estimates import cannot_tell
from quotatree.api.models.explanations import EstimateOut
from quotatree.store.errors import LeaseLost
from quotatree.store.rows import EstimateRow
from tests.control.server import Server

MINUTE_MS = 60_000


class Played:
    """The loop of a server that a test steps: a question is answered at once."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.lease: tuple[str, int] | None = server.controller.lease

    def ask(self, query: Any) -> Future[Any]:
        future = self._server.controller.ask(query)
        self._server.controller.step()
        return future


def checks(
    server: Server, make: Callable[[Work], EstimateOut] | None = None, loop: Played | None = None
) -> EstimateChecks:
    def in_ten_minutes(work: Work) -> EstimateOut:
        return {**cannot_tell(""), "likely_ms": work.now_ms + 10 * MINUTE_MS}

    return EstimateChecks(
        loop or Played(server), server.store, clock=lambda: server.now_ms, make=make or in_ten_minutes
    )


def kept(server: Server) -> list[Any]:
    return list(server.store.table(EstimateRow))


def full(tmp_path: Path) -> Server:
    server = Server(tmp_path).furnish()
    server.submit(gpus=4)
    return server


def test_what_is_told_of_a_job_that_begins_to_wait_is_held_against_its_start(tmp_path: Path):
    server = full(tmp_path)
    first = server.submit(gpus=4)
    looking = checks(server)
    looking.look()
    assert kept(server) == []  # it waited before: nothing is known of since when
    later = server.submit(gpus=4)
    looking.look()
    looking.look()
    assert [(row.job, row.likely_ms - row.asked_ms) for row in kept(server)] == [(later, 10 * MINUTE_MS)]
    assert first != later
    quotas = ("team", "a", "b")
    assert server.store.material(quotas).outcomes == ()  # it has not started
    asked_ms = kept(server)[0].asked_ms
    server.pass_time(60)
    server.pass_time(60)
    (run,) = server.store.runs(later)
    assert run.started_ms > asked_ms
    assert server.store.material(quotas).outcomes == ((10 * MINUTE_MS, run.started_ms - asked_ms),)
    assert server.store.material(("b",)).outcomes == ()


def test_a_check_that_comes_to_no_start_keeps_nothing(tmp_path: Path):
    server = full(tmp_path)
    looking = checks(server, lambda work: cannot_tell("nothing is known"))
    looking.look()
    server.submit(gpus=4)
    looking.look()
    assert kept(server) == []


def test_a_server_that_does_not_lead_asks_nothing_and_writes_nothing(tmp_path: Path):
    server = full(tmp_path)
    loop = Played(server)
    looking = checks(server, loop=loop)
    looking.look()
    server.submit(gpus=4)
    loop.lease = None
    looking.look()
    assert kept(server) == []
    loop.lease = ("another", 99)
    looking.look()  # it leads again, and begins anew
    server.submit(gpus=4)
    with pytest.raises(LeaseLost):
        looking.look()
