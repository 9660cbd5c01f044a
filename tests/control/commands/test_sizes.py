"""Another request of a job that waits (J5); resizing and autoscaling are in test_jobs.py and test_autoscaling.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from quotatree.access.errors import Forbidden
from quotatree.control.commands import values as do
from quotatree.core.errors import Refused
from quotatree.store.rows import AuditRow, EventRow, JobRow
from tests.control.kept_store import KeptStore
from tests.control.server import Server, submission


@pytest.fixture
def server(tmp_path: Path, kept: KeptStore) -> Server:
    return Server(tmp_path, kept).furnish()


def altered(server: Server, job: str, gpus: int, actor: str = "ann") -> do.AlterJob:
    """The wish for so many GPUs, with a program that differs."""
    found = submission(actor=actor, gpus=gpus, seconds=7)
    return do.AlterJob(actor=actor, job=job, asked=found.asked, program=found.program)


def test_a_job_that_waits_asks_for_something_else_also_after_a_restart(server: Server):
    server.submit(gpus=4, seconds=None)
    job = server.submit(gpus=4)
    submitted_ms = server.job(job).spec.submitted_ms
    server.pass_time(10)
    server.do(altered(server, job, 2))
    server.kill()
    server.boot()
    spec = server.job(job).spec
    assert (spec.groups[0].shape.gpu_milli, spec.submitted_ms) == (2000, submitted_ms)
    [row] = [row for row in server.store.table(JobRow) if row.record.spec.id == job]
    assert row.card.program == altered(server, job, 2).program
    assert [row.kind for row in server.store.table(EventRow) if row.job == job][-1] == "job.altered"
    assert server.store.table(AuditRow)[-1].action == "job.alter"


def test_only_its_owner_and_whoever_may_resize_it_alters_a_job(server: Server):
    server.submit(gpus=4, seconds=None)
    job = server.submit(gpus=4, actor="pat")
    with pytest.raises(Forbidden):
        server.do(altered(server, job, 2))


def test_what_runs_is_not_altered(server: Server):
    job = server.submit(gpus=4, seconds=None)
    with pytest.raises(Refused, match="only while it waits"):
        server.do(altered(server, job, 2))
