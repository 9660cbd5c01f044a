"""Who stands by answers questions as the leader would, and is never written to (A7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from quotatree.control import onlooker
from quotatree.control.errors import Unavailable
from quotatree.control.loop import Controller, Mode
from quotatree.engines.timer import TimerEngine
from tests.control.server import Server, submission


@pytest.fixture(autouse=True)
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onlooker, "RESTS", 0)


@pytest.fixture
def leader(tmp_path: Path) -> Server:
    return Server(tmp_path).furnish()


class Standby:
    """A second server on the leader's store, with the same clock."""

    def __init__(self, leader: Server) -> None:
        self._leader = leader
        self.controller = Controller(leader.store, TimerEngine(), "standby", clock=lambda: leader.now_ms)
        self.look()

    def look(self) -> None:
        """Let so much time pass that it asks for the lease again; the leader renews it meanwhile."""
        self._leader.pass_time(6)
        self.controller.step()

    def phases(self) -> dict[str, str]:
        future = self.controller.ask(
            lambda world, _: {i: job.phase.value for i, job in world.state.jobs.items()}
        )
        self.controller.step()
        return {str(job): phase for job, phase in future.result(0).items()}


def test_a_standby_tells_what_the_leader_has_committed(leader: Server):
    first = leader.do(submission(seconds=None)).id
    standby = Standby(leader)
    assert standby.controller.health.mode is Mode.STANDBY
    assert standby.phases() == {first: "Running"}
    second = leader.do(submission(seconds=None)).id
    standby.look()
    assert standby.phases() == {first: "Running", second: "Running"}
    published = standby.controller.published
    assert published is not None
    assert "ann" in published.directory.users


def test_a_standby_loads_nothing_while_nothing_was_written(leader: Server, monkeypatch: pytest.MonkeyPatch):
    standby = Standby(leader)
    monkeypatch.setattr(leader.store, "load", lambda *_: pytest.fail("nothing was written"))
    standby.look()
    assert standby.phases() == {}


def test_a_standby_rests_after_a_load_in_proportion_to_what_it_took(
    leader: Server, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(onlooker, "RESTS", 1_000_000)
    standby = Standby(leader)
    leader.do(submission(seconds=None))
    standby.look()
    assert standby.phases() == {}, "the copy of before"


def test_a_standby_writes_nothing(leader: Server):
    standby = Standby(leader)
    before = leader.store.last_batch()
    call = standby.controller.call(submission())
    standby.controller.step()
    with pytest.raises(Unavailable, match=f"standing by.*; write to {leader.store.lease_holder()}$"):
        call.result(0)
    assert leader.store.last_batch() == before


def test_who_begins_to_lead_has_no_copy_any_more(leader: Server):
    standby = Standby(leader)
    job = leader.do(submission(seconds=None)).id
    leader.kill()
    standby.controller.step()
    assert standby.controller.health.mode is Mode.LEADING
    assert job in standby.phases()
    assert standby.controller._onlooker.copy is None
