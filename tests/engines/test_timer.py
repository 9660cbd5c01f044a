"""What only the timer engine does: its program, its thread and its file."""

import threading
from pathlib import Path

import pytest

from quotatree.core.model.job import JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.policy import Module
from quotatree.engines.base import (
    Capabilities,
    Checkpointed,
    Confirmed,
    Exited,
    Observed,
    Outcome,
    ReplicaOrder,
    Report,
    Running,
    StartOrder,
    StopOrder,
    lacks,
)
from quotatree.engines.timer import TimerEngine
from tests.engines.contract import replicas_running, start_order, stop_order

SPEC = JobSpec(JobId("a"), "q", (ReplicaGroup(2, Shape(500, 0, 0)),), 0)


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ({"seconds": "long"}, "program.seconds"),
        ({"seconds": -1}, "program.seconds"),
        ({"leaves_after": True}, "program.leaves_after"),
        ({"outcome": "maybe"}, "program.outcome"),
        ({"command": "ls"}, "program.command"),
    ],
)
def test_a_program_it_cannot_read_is_refused_by_field(program, told):
    refused = TimerEngine(threaded=False).refuses(SPEC, program)
    assert refused is not None
    assert refused.startswith(told)


def test_what_an_engine_has_not_declared_is_refused():
    assert "share a GPU" in (lacks(Capabilities("x", frozenset({SPEC.module}), fractions=False), SPEC) or "")
    assert "one replica" in (
        lacks(Capabilities("x", frozenset({SPEC.module}), several_replicas=False), SPEC) or ""
    )
    assert "not DLC" in (lacks(Capabilities("x", frozenset()), SPEC) or "")
    assert lacks(Capabilities("x", frozenset({SPEC.module})), SPEC) is None


def test_its_thread_reports_the_end_by_itself():
    ended = threading.Event()
    engine = TimerEngine()
    engine.open(lambda report: ended.set() if isinstance(report, Exited) else None)
    engine.start(start_order({"seconds": 0.01}))
    assert ended.wait(60)
    engine.close()


def test_a_start_is_confirmed_late_and_checkpoints_are_reported():
    now = [0]
    reports: list[Report] = []
    engine = TimerEngine(clock=lambda: now[0], threaded=False)
    engine.open(reports.append)
    engine.start(start_order({"starts_after": 2, "checkpoint_every": 3}))
    assert reports == []
    now[0] = 7_000
    engine.run_due()
    assert [type(r) for r in reports] == [Confirmed, Checkpointed, Checkpointed]


def test_a_deaf_job_never_leaves():
    now = [0]
    engine = TimerEngine(clock=lambda: now[0], threaded=False)
    engine.open(lambda _: None)
    engine.start(start_order({"deaf": True}))
    engine.stop(stop_order(grace_ms=1_000))
    now[0] = 10_000_000
    assert replicas_running(engine) == {("dlc-a", 1): (0,)}


def test_a_line_torn_off_at_the_end_of_the_file_is_passed(tmp_path):
    path = tmp_path / "table"
    engine = TimerEngine(path, lambda: 0, threaded=False)
    engine.start(start_order({}))
    engine.close()
    with path.open("ab") as file:
        file.write(b'{"at_ms": 5, "do": "sto')
    again = TimerEngine(path, lambda: 0, threaded=False)
    again.start(start_order({}, job="dlc-b"))
    again.close()
    assert replicas_running(TimerEngine(path, lambda: 0, threaded=False)) == {
        ("dlc-a", 1): (0,),
        ("dlc-b", 1): (0,),
    }


def test_a_long_file_is_rewritten_without_what_was_forgotten(tmp_path, monkeypatch):
    monkeypatch.setattr("quotatree.engines.timer.FORGOTTEN_LINES_KEPT", 2)
    path = tmp_path / "table"
    engine = TimerEngine(path, lambda: 0, threaded=False)
    engine.start(start_order({}, job="dlc-stays"))
    for n in range(3):
        engine.start(start_order({"seconds": 0}, job=f"dlc-{n}"))
        engine.observe()
        engine.forget(JobId(f"dlc-{n}"), 1)
    engine.close()
    TimerEngine(path, lambda: 0, threaded=False).close()
    assert path.read_text().count("start") == 1
    assert replicas_running(TimerEngine(path, lambda: 0, threaded=False)) == {("dlc-stays", 1): (0,)}


def test_its_file_stays_as_it_is(tmp_path):
    """The file outlives the server: a later version reads what this one wrote, and writes the same."""
    now, file = [0], tmp_path / "timers"
    golden = (Path(__file__).parent / "golden" / "timer.log").read_text()
    engine = TimerEngine(file, clock=lambda: now[0], threaded=False)
    shape = Shape(1000, 0, 0)
    first = (ReplicaOrder(0, "n1", (0, 1), shape), ReplicaOrder(1, "n2", (), shape))
    second = (ReplicaOrder(0, "n2", (0,), shape),)
    now[0] = 1_000
    engine.start(
        StartOrder(JobId("dlc-1"), 1, Module.DLC, first, {"seconds": 60, "outcome": "failed"}, 30_000)
    )
    now[0] = 2_000
    engine.start(StartOrder(JobId("dlc-2"), 1, Module.DLC, second, {"seconds": 1}, 30_000))
    now[0] = 3_000
    engine.stop(StopOrder(JobId("dlc-1"), 1, 500, (1,)))
    now[0] = 4_000
    engine.observe()
    engine.forget(JobId("dlc-2"), 1)
    engine.stop(StopOrder(JobId("dlc-3"), 7, 30_000))
    engine.close()
    assert file.read_text() == golden

    (tmp_path / "old").write_text(golden)
    again = TimerEngine(tmp_path / "old", clock=lambda: now[0], threaded=False)
    assert again.observe() == Observed((Running(JobId("dlc-1"), 1, (0,)),), ())
    now[0] = 61_000
    assert again.observe() == Observed((), (Exited(JobId("dlc-1"), 1, Outcome.FAILED),))
    again.close()
