"""A service follows its demand in a server (P16): looks, moves with all rights, events with figures, restarts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quotatree.control.autoscaling import LOOK_MS
from quotatree.control.commands import values as do
from quotatree.core.errors import Refused
from quotatree.core.model.autoscale import Autoscale
from quotatree.core.model.job import JobId
from quotatree.core.model.policy import Module
from quotatree.engines.base import Confirmed, Endpoint, InFlight, Left
from quotatree.store.rows import AuditRow, EventRow
from tests.control.server import Server, submission
from tests.control.told_engine import ToldEngine

AUTO = Autoscale(1, 4, 8_000, down_after_ms=20_000)


class SeenEngine(ToldEngine):
    """An engine that sees the requests of all services: `in_flight`, another figure at each look; None: it sees nothing now."""

    def __init__(self) -> None:
        super().__init__()
        self.capabilities = replace(self.capabilities, in_flight=True)
        self.in_flight: float | None = 0.0
        self.numbers = 0

    def endpoint(self, job: JobId, run: int) -> Endpoint | None:
        if self.in_flight is None:
            return Endpoint("http://127.0.0.1:1/")
        self.numbers += 1
        return Endpoint(
            "http://127.0.0.1:1/", "", 1, InFlight(round(self.in_flight * 1000), LOOK_MS, self.numbers)
        )


class Story:
    def __init__(self, directory: Path) -> None:
        self.engine = SeenEngine()
        self.server = Server(directory, engine=self.engine).furnish()

    def serve(self, auto: Autoscale | None = AUTO, **changes: Any) -> str:
        changes = {"module": Module.EAS, "seconds": None, "autoscale": auto, **changes}
        return self.server.submit(**changes)

    def see(self, in_flight: float | None, seconds: int) -> None:
        """Let so much be in flight for so long; the engine confirms and lets go of everything at once."""
        self.engine.in_flight = in_flight
        for _ in range(seconds // 2):
            self.server.pass_time(2)
            for job in list(self.server.world.state.jobs.values()):
                stands = (*job.core_indexes, *job.extras)
                if stands:
                    self.engine.tell(Confirmed(job.id, job.run, stands))
                if job.leaving:
                    self.engine.tell(Left(job.id, job.run, tuple(job.leaving)))
            self.server.step()

    def sizes(self, job: str) -> tuple[int, int]:
        """How many replicas it wants and has."""
        found = self.server.world.state.jobs[JobId(job)]
        return found.spec.wanted_replicas, found.running_replicas

    def steps(self, job: str) -> list[EventRow]:
        return [e for e in self.server.store.table(EventRow) if e.job == job and e.kind == "job.autoscaled"]


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path)


def test_replicas_follow_the_requests_up_at_once_and_down_slowly(story: Story):
    job = story.serve()
    assert story.sizes(job) == (1, 1)
    story.see(20, seconds=8)
    assert story.sizes(job) == (3, 3)
    story.see(2, seconds=12)
    assert story.sizes(job) == (3, 3), "not yet"
    story.see(2, seconds=12)
    assert story.sizes(job) == (1, 1)


def test_every_step_is_an_event_with_its_figures(story: Story):
    job = story.serve()
    story.see(20, seconds=8)
    (step,) = story.steps(job)
    assert step.body == {
        "before": 1, "after": 3, "in_flight": 20.0, "over_seconds": 6.0, "target": 8.0, "running": 1, "min": 1, "max": 4,
    }  # fmt: skip
    (audited,) = [a for a in story.server.store.table(AuditRow) if a.action == "job.autoscaled"]
    assert audited.actor == "(server)"


def test_a_look_that_changes_nothing_writes_nothing(story: Story):
    story.serve()
    story.see(2, seconds=4)
    number = story.server.world.counters.batch
    story.see(3, seconds=4)
    assert story.server.world.counters.batch == number


def test_what_it_wants_more_it_takes_with_its_rights(story: Story):
    """P12: a replica that the demand asks for evicts where the policy lets the service evict."""
    story.server.allow_preemption()
    low = story.server.submit(gpus=3, priority=1, seconds=None)
    filler = story.server.submit(gpus=4, quota="b", seconds=None)
    job = story.serve(priority=7, actor="pat")
    story.see(2, seconds=4)
    assert story.sizes(job) == (1, 1)
    story.see(30, seconds=10)
    assert story.sizes(job) == (4, 4)
    assert story.server.phase(low) == "Waiting"
    assert story.server.phase(filler) == "Running"


def test_without_figures_it_stays_as_it_is(story: Story):
    job = story.serve(replicas=3)
    story.see(None, seconds=60)
    assert story.sizes(job) == (3, 3)
    assert story.steps(job) == []


def test_after_a_restart_it_goes_on_and_lowers_nothing_on_what_another_server_saw(story: Story):
    job = story.serve()
    story.see(20, seconds=8)
    story.see(0, seconds=18)
    server = story.server
    story.engine.running = {(job, 1): (0, 1, 2)}
    server.kill()
    server.boot()
    assert story.sizes(job) == (3, 3)
    story.see(0, seconds=16)
    assert story.sizes(job) == (3, 3)
    story.see(0, seconds=8)
    assert story.sizes(job) == (1, 1)


def test_another_run_begins_with_what_was_wanted_and_knows_nothing(story: Story):
    job = story.serve()
    story.see(20, seconds=8)
    story.server.do(do.StopJob(actor="ann", job=job))
    story.see(20, seconds=4)
    story.server.do(do.ResubmitJob(actor="ann", job=job))
    assert story.sizes(job) == (3, 3)
    story.see(0, seconds=18)
    assert story.sizes(job) == (3, 3)
    story.see(0, seconds=4)
    assert story.sizes(job) == (1, 1)


def test_a_resize_within_the_bounds_is_where_it_goes_on_from(story: Story):
    job = story.serve()
    answer = story.server.do(do.ResizeJob(actor="ann", job=job, replicas=4))
    assert "between 1 and 4" in answer.notice
    assert story.sizes(job) == (4, 4)
    story.see(2, seconds=24)
    assert story.sizes(job) == (1, 1)


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ({"replicas": 5}, "must be 1..4, within which autoscale moves it"),
        ({"max_replicas": 6}, "leave it out"),
        ({"replicas": 3, "min_replicas": 2}, "autoscale may lower"),
    ],
)
def test_a_resize_out_of_the_bounds_is_refused(story: Story, sizes: dict[str, Any], says: str):
    job = story.serve()
    with pytest.raises(Refused, match=says):
        story.server.do(do.ResizeJob(actor="ann", job=job, **sizes))
    assert story.sizes(job) == (1, 1)


def test_it_can_be_switched_on_changed_and_off_while_it_runs(story: Story):
    job = story.serve(auto=None)
    story.see(20, seconds=10)
    assert story.sizes(job) == (1, 1)
    story.server.do(do.AutoscaleJob(actor="ann", job=job, autoscale=replace(AUTO, min_replicas=2)))
    assert story.sizes(job) == (2, 2), "moved into the bounds at once"
    story.see(30, seconds=10)
    assert story.sizes(job) == (4, 4)
    story.server.do(do.AutoscaleJob(actor="ann", job=job, autoscale=replace(AUTO, max_replicas=3)))
    story.see(30, seconds=2)
    assert story.sizes(job) == (3, 3)
    story.server.do(do.AutoscaleJob(actor="ann", job=job, autoscale=None))
    story.see(0, seconds=60)
    assert story.sizes(job) == (3, 3)
    assert story.server.kinds(job).count("job.autoscale_set") == 3
    assert story.steps(job)[-1].body["after"] == 4


def test_an_engine_that_does_not_see_requests_refuses_and_says_what_to_do(tmp_path: Path):
    server = Server(tmp_path).furnish()
    service = submission(module=Module.EAS, seconds=None, autoscale=AUTO)
    with pytest.raises(Refused, match="the timer engine does not see how many requests") as refused:
        server.do(service)
    assert (refused.value.field, refused.value.rule) == ("autoscale", "E2")
    job = server.submit(module=Module.EAS, seconds=None)
    with pytest.raises(Refused, match="replicas and max_replicas"):
        server.do(do.AutoscaleJob(actor="ann", job=job, autoscale=AUTO))


def test_a_job_that_is_no_service_is_refused(story: Story):
    with pytest.raises(Refused, match="only a service"):
        story.server.submit(autoscale=AUTO)
