"""What a Job asks for, in the words of a submit."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from quotatree.api.models.jobs import JobIn
from tests.kubernetes_edge.objects import asked, job


def test_a_job_says_what_a_submit_needs():
    found = asked(job())
    assert found.body == {
        "quota": "a", "name": "train", "priority": 3, "grace": "5s", "on_hold": False, "requeue": False, "min_replicas": 2,
        "groups": [{"name": "part-0", "replicas": 2, "gpus": 2.0, "cpu": 4.0, "memory": "8192Mi", "labels": {}}],
    }  # fmt: skip
    command = JobIn.model_validate({**found.body, "workspace": "v", "program": found.program}).command(
        "v.team"
    )
    wanted = command.asked
    assert (wanted.groups[0].shape[:3], wanted.grace_ms, wanted.priority) == ((2000, 4000, 8192), 5_000, 3)


def test_a_node_selector_is_asked_of_nodes():
    thing = job()
    thing["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "ssd"}
    assert asked(thing).body["groups"][0]["labels"] == {"disk": "ssd"}


def test_annotations_say_the_rest():
    notes = {
        "module": "EAS",
        "idle": "allow",
        "checkpoint-interval": "10m",
        "max-preemptions": "3",
        "requeue": "true",
        "hold": "true",
    }
    found = asked(job(notes={f"quotatree.io/{name}": value for name, value in notes.items()}))
    body: dict[str, Any] = {**found.body, "workspace": "v"}
    command = JobIn.model_validate(body).command("v.team")
    wanted = command.asked
    assert (wanted.module.value, wanted.idle.value, wanted.checkpoint_interval_ms) == (
        "EAS",
        "allow",
        600_000,
    )
    assert (wanted.max_preemptions, wanted.requeue, command.on_hold, found.on_hold) == (3, True, True, True)


@pytest.mark.parametrize(("said", "meant"), [("", 1), ("7", 7), ("production", "production")])
def test_a_priority_is_a_number_or_a_name(said: str, meant: object):
    assert asked(job(labels={"quotatree.io/priority": said})).priority == meant


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"notes": {"quotatree.io/hold": "yes"}}, '"true" or "false"'),
        ({"notes": {"quotatree.io/max-preemptions": "many"}}, "whole number"),
        ({"spec": {"parallelism": 0}}, "no pod"),
        ({"spec": {"template": {"spec": {"containers": [], "nodeName": "n"}}}}, "names a node"),
        ({"spec": {"template": {"spec": {"containers": [{"resources": {"limits": {"cpu": "x"}}}]}}}}, "cpu"),
    ],
)
def test_what_cannot_be_read_is_said_and_asks_for_nothing(change: dict[str, Any], says: str):
    found = asked(job(**change))
    assert says in found.wrong
    assert found.body == {}


def test_what_runs_and_status_are_no_change_of_what_is_asked():
    thing = job()
    later = deepcopy(thing)
    later["status"] = {"active": 2}
    later["metadata"]["resourceVersion"] = "7"
    assert asked(thing) == asked(later)


def test_how_the_object_stands_is_seen():
    notes = {"quotatree.io/job": "dlc-1", "quotatree.io/run": "dlc-1.4"}
    found = asked(
        {
            **job(notes=notes, spec={"suspend": False}),
            "status": {"conditions": [{"type": "Complete", "status": "True"}]},
        }
    )
    assert (found.job, found.run, found.suspended, found.ended, found.gated) == (
        "dlc-1",
        4,
        False,
        True,
        False,
    )
