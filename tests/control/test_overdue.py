"""What takes too long: runs, waits, and leaving (W3, P9)."""

from pathlib import Path

import pytest

from quotatree.access.centre import Centre, ModuleTime
from quotatree.control.commands import values as do
from quotatree.control.queries import preview
from quotatree.core.model.policy import Module
from tests.control.server import Server


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path).furnish()


@pytest.mark.parametrize(("module", "phase"), [(Module.DLC, "Failed"), (Module.DSW, "Stopped")])
def test_a_run_that_takes_too_long_is_stopped(server: Server, module: Module, phase: str):
    server.do(do.SetCentre(actor="root", centre=Centre("vision", "a", longest_run_ms=60_000)))
    job = server.submit(seconds=None, module=module)
    server.pass_time(59)
    assert server.phase(job) == "Running"
    server.pass_time(1)
    assert server.phase(job) == phase
    assert "job.ran_too_long" in server.kinds(job)


def test_a_longest_run_set_later_binds_what_runs_also_after_a_restart(server: Server):
    job = server.submit(seconds=None)
    server.pass_time(100)
    server.do(do.SetCentre(actor="root", centre=Centre("vision", "a", longest_run_ms=130_000)))
    assert server.phase(job) == "Running"
    server.kill()
    server.boot()
    assert server.phase(job) == "Running"
    server.pass_time(11)
    assert server.phase(job) == "Failed"


def test_a_training_job_that_waits_too_long_is_told_once_and_a_notebook_is_stopped(server: Server):
    server.do(do.SetCentre(actor="root", centre=Centre("vision", "a", longest_wait_ms=60_000)))
    server.submit(gpus=4, seconds=None)
    training, notebook = server.submit(gpus=4), server.submit(gpus=4, module=Module.DSW)
    server.pass_time(61)
    server.pass_time(61)
    server.kill()
    server.boot()
    server.pass_time(61)
    assert (server.phase(training), server.phase(notebook)) == ("Waiting", "Stopped")
    assert server.kinds(training).count("job.waited_too_long") == 1


def test_who_does_not_leave_raises_an_alarm_and_keeps_its_devices(server: Server):
    job = server.submit(gpus=4, grace_ms=1_000, program={"deaf": True})
    server.do(do.CancelJob(actor="ann", job=job))
    server.pass_time(62)
    server.pass_time(62)
    assert server.kinds(job).count("job.does_not_leave") == 2
    filler = server.submit(gpus=4, quota="b")
    other = server.submit(gpus=4)
    assert server.phase(filler) == "Running"
    assert server.phase(other) == "Held"


def test_a_limit_on_training_does_not_end_a_service(server: Server):
    only = (ModuleTime(Module.DLC, 60_000),)
    server.do(do.SetCentre(actor="root", centre=Centre("vision", "a", longest_run_of=only)))
    training = server.submit(seconds=None)
    service = server.submit(seconds=None, module=Module.EAS)
    server.pass_time(61)
    assert (server.phase(training), server.phase(service)) == ("Failed", "Running")


def test_a_preview_of_a_scheduling_centre_names_the_jobs_it_would_end_and_ends_none(server: Server):
    old = server.submit(seconds=None)
    server.pass_time(100)
    young = server.submit(seconds=None)
    change = do.SetCentre(actor="root", centre=Centre("vision", "a", longest_run_ms=60_000))
    asked = server.controller.ask(preview(server.engine, change))
    server.step()
    seen = asked.result(0)
    assert [(type(d).__name__, d.job) for d in seen.decisions] == [("Stop", old), ("Fail", old)]
    assert [server.phase(job) for job in (old, young)] == ["Running", "Running"]
    server.pass_time(1)
    assert server.phase(old) == "Running", "nothing of it is left"
    server.do(change)
    server.pass_time(1)
    assert [server.phase(job) for job in (old, young)] == ["Failed", "Running"], "and it does as it said"
