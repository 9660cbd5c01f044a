"""A batch is committed whole or not at all; one that breaks is tried again input by input, and only the culprit fails (A6)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from quotatree.control import batch, decision_effects
from quotatree.control.commands import dispatch
from quotatree.control.commands import values as do
from quotatree.control.errors import Fault, Unavailable
from quotatree.control.loop import Mode
from quotatree.control.turn import Turn
from quotatree.core.model.job import Idle
from quotatree.core.model.policy import ChildLevel, Module, Priorities
from quotatree.core.model.quota import QuotaId
from quotatree.core.planning import effort
from quotatree.core.snapshots import snapshot
from quotatree.store.rows import JobRow
from tests.control.faulty_store import FaultyStore
from tests.control.kept_store import KeptStore
from tests.control.server import Server, submission
from tests.engines.contract import replicas_running


@pytest.fixture
def server(tmp_path: Path, kept: KeptStore) -> Server:
    return Server(tmp_path, FaultyStore(kept)).furnish()


def test_a_failed_commit_changes_nothing_and_the_same_command_succeeds_later(server: Server):
    before = snapshot(server.world.state)
    directory = server.world.directory
    server.store.fail_commits = 1
    submit = submission()
    with pytest.raises(Unavailable):
        server.do(submit)
    assert snapshot(server.world.state) == before
    assert server.world.directory is directory
    assert server.world.cards == {}
    assert server.store.table(JobRow) == []
    assert replicas_running(server.engine) == {}, "nothing may start that is not written"
    server.pass_time(1)
    job = server.do(submit).id
    assert replicas_running(server.engine) == {(job, 1): (0,)}


def test_a_store_that_fails_while_a_broken_batch_is_tried_piece_by_piece(
    server: Server, monkeypatch: pytest.MonkeyPatch
):
    """One command breaks the plan, the next one's commit fails: who was answered already is not answered again."""
    calls = [server.controller.call(submission(name=name)) for name in "abc"]

    def broken(turn: Turn) -> None:
        if any(card.name == "b" for card in turn.world.cards.values()):
            raise ZeroDivisionError
        if any(card.name == "a" for card in turn.world.cards.values()):
            server.store.fail_commits = 1 if len(server.store.table(JobRow)) else 0

    monkeypatch.setattr(batch, "close_what_is_over", broken)
    server.controller.step()
    assert calls[0].result(0).id
    assert isinstance(calls[1].exception(0), Fault)
    assert isinstance(calls[2].exception(0), Unavailable)
    assert server.mode() is Mode.STORE_AWAY


def test_one_command_that_breaks_does_not_take_others_with_it(server: Server, monkeypatch):
    def broken(turn, command):
        raise ZeroDivisionError

    monkeypatch.setitem(dispatch.HANDLERS, do.CheckpointJob, broken)
    bad = server.controller.call(do.CheckpointJob(actor="ann", job="x"))
    good = server.controller.call(submission())
    server.step()
    with pytest.raises(Fault):
        bad.result(0)
    assert good.result(0).id


def test_a_batch_that_breaks_is_tried_again_piece_by_piece(server: Server, monkeypatch):
    honest = decision_effects.book_decisions

    def breaks_on_four(turn):
        if any(job.spec.groups[0].replicas == 4 for job in turn.state.jobs.values()):
            raise ZeroDivisionError
        honest(turn)

    monkeypatch.setattr("quotatree.control.batch.book_decisions", breaks_on_four)
    good = [server.controller.call(submission()) for _ in range(2)]
    bad = server.controller.call(submission(replicas=4))
    server.step()
    assert all(call.result(0).id for call in good)
    with pytest.raises(Fault):
        bad.result(0)
    assert len(server.store.table(JobRow)) == 2


def test_what_the_store_does_not_accept_fails_alone(server: Server):
    good = server.controller.call(submission())
    bad = server.controller.call(do.DescribeWorkspace(actor="root", workspace="vision", description="\ud800"))
    server.step()
    assert good.result(0).id
    with pytest.raises(Fault):
        bad.result(0)
    assert server.world.directory.workspace("vision").description == ""
    server.submit()


def test_a_repeated_request_is_known_for_a_day_also_when_it_is_not_at_hand(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("quotatree.control.commands.dispatch.ANSWERS_AT_HAND", 2)
    monkeypatch.setattr("quotatree.store.load.ANSWERS_LOADED", 2)
    monkeypatch.setattr("quotatree.control.load_world.ANSWERS_LOADED", 2)
    server = Server(tmp_path).furnish()

    def submit(key: str) -> do.Answer:
        server.pass_time(0.001)
        return server.do(submission(key=key))

    made = {key: submit(key).id for key in ("one", "two", "three", "four")}
    assert [key for _, key in server.world.answers] == ["three", "four"]
    assert submit("one") == do.Answer(made["one"], repeated=True)
    server.kill()
    server.boot()
    assert [key for _, key in server.world.answers] == ["three", "four"]
    assert submit("two") == do.Answer(made["two"], repeated=True)
    server.pass_time(24 * 3600 - 60)
    assert submit("four").repeated
    server.pass_time(60)
    assert {key: submit(key).repeated for key in made} == dict.fromkeys(made, False)
    assert submit("one").repeated


def test_what_a_plan_leaves_over_is_planned_in_the_next_millisecond(tmp_path: Path, monkeypatch):
    """A plan that was cut short is followed at once: nobody waits for the next event."""
    server = Server(tmp_path).furnish(gpus=4)
    server.allow_preemption("a")
    above = ChildLevel(Priorities(1, 9), frozenset(Module))
    team = server.world.state.quotas[QuotaId("team")].spec
    server.do(do.UpdateQuota(actor="root", spec=replace(team, child_level=above)))
    for _ in range(2):
        server.submit(seconds=600, priority=1, leaves_after=30)
        server.submit(seconds=600, quota="b", priority=1)
    server.submit(quota="team", idle=Idle.ONLY)
    monkeypatch.setattr(effort, "PLAN_AT_MOST", 1)
    futures = [server.controller.call(submission(priority=6)) for _ in range(2)]
    server.controller.step()
    urgent = [future.result(0).id for future in futures]
    assert sorted(server.phase(job) for job in urgent) == ["Held", "Waiting"], "one of them had its turn"
    registry = server.controller.metrics.registry
    assert registry.get_sample_value("quotatree_plans_cut_short_total") == 1
    server.pass_time(0.001)
    assert [server.phase(job) for job in urgent] == ["Held", "Held"]
