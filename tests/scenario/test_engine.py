"""The virtual engine: how long jobs run, what a restart repeats, and when evicted work is gone."""

from quotatree.scenario.check import check_scenario
from quotatree.scenario.load import read_scenario

# A batch job of ten minutes is taken at 5m by an urgent job of one minute.
WORLD = """
title = "one node"
steady = true

[settings]
{settings}

[[nodes]]
name = "n0"

[[quotas]]
id = "lab"
gpus = 8
self_level = {{ high = 9, low = 1, modules = ["DLC"] }}

[[running]]
id = "batch"
quota = "lab"
gpus = 8
duration = "10m"
{batch}

[[at]]
time = "5m"
submit = {{ id = "urgent", quota = "lab", priority = 9, gpus = 8, duration = "1m" }}
"""


def faults(batch: str, more: str, settings: str = 'leave_after = "0s"') -> tuple[str, ...]:
    text = WORLD.format(batch=batch, settings=settings) + more
    return check_scenario(read_scenario(text, "world.toml")).faults


def over_at(time: str, before: str) -> str:
    """The batch job still runs at `before` and has succeeded at `time`."""
    return f"""
[[expect]]
time = "6m"
start = ["batch"]
[[expect]]
time = "{before}"
running = ["batch"]
[[expect]]
time = "{time}"
phase = {{ batch = "Succeeded" }}
"""


def test_a_restart_begins_anew():
    assert faults("", over_at("16m", before="15m59s")) == ()


def test_a_job_that_resumes_repeats_what_its_interval_had_not_saved():
    assert faults('resumes = true\ncheckpoint_interval = "2m"', over_at("12m", before="11m59s")) == ()


def test_a_job_that_resumes_goes_on_at_its_reported_checkpoint():
    saved = '[[at]]\ntime = "3m"\ncheckpoint = "batch"\n'
    assert faults("resumes = true", saved + over_at("13m", before="12m59s")) == ()


def test_a_job_that_started_before_the_scenario_has_done_part_of_its_work():
    ended = '[[expect]]\ntime = "4m"\nphase = { batch = "Succeeded" }\n'
    assert faults('started = "-6m"', ended) == ()


def test_evicted_work_leaves_after_its_grace():
    late = '[[expect]]\ntime = "5m19s"\nheld = ["urgent"]\n[[expect]]\ntime = "5m20s"\nstart = ["urgent"]\n'
    assert faults('grace = "20s"', late, settings="") == ()


def test_the_scenario_may_say_when_evicted_work_leaves():
    late = '[[expect]]\ntime = "5m7s"\nstart = ["urgent"]\n'
    assert faults('grace = "20s"', late, settings='leave_after = "7s"') == ()


def test_a_job_may_say_when_it_leaves():
    late = '[[expect]]\ntime = "5m3s"\nstart = ["urgent"]\n'
    assert faults('grace = "20s"\nleaves_after = "3s"', late, settings='leave_after = "7s"') == ()


def test_the_timeline_may_confirm_early_that_a_victim_is_gone():
    early = '[[at]]\ntime = "5m2s"\nleft = "batch"\n[[expect]]\ntime = "5m2s"\nstart = ["urgent"]\n'
    assert faults('grace = "10m"', early, settings="") == ()
