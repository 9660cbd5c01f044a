"""Objects of the kinds we know, and what is changed of them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted import (
    BATCH_JOB,
    GATE,
    KNOWN,
    adoption,
    ending,
    is_suspended,
    merge,
    suspension,
    templates,
)

POD = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def batch(**spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "j", "uid": "u1"},
        "spec": {"suspend": True, "template": deepcopy(POD), **spec},
    }


def pods(kind: str, spec: dict[str, Any]) -> list[int]:
    return [one.pods for one in templates(KNOWN[kind], {"metadata": {}, "spec": spec})]


@pytest.mark.parametrize(
    ("spec", "meant"),
    [({}, 1), ({"parallelism": 4}, 4), ({"parallelism": 4, "completions": 2}, 2), ({"parallelism": 2, "completions": 10}, 2)],
)  # fmt: skip
def test_a_job_runs_as_many_pods_as_its_parallelism_and_completions_let_it(spec: dict[str, int], meant: int):
    assert [one.pods for one in templates(BATCH_JOB, batch(**spec))] == [meant]


def test_a_job_for_no_pod_has_no_template():
    assert templates(BATCH_JOB, batch(parallelism=0)) == ()


def test_kubeflow_has_a_template_for_each_role_by_name():
    specs = {"Worker": {"replicas": 3, "template": POD}, "Master": {"template": POD}}
    assert pods("pytorchjobs.kubeflow.org", {"pytorchReplicaSpecs": specs}) == [1, 3]


def test_a_job_set_multiplies_replicas_and_parallelism():
    jobs = [
        {"name": "leader", "template": {"spec": {"template": POD}}},
        {
            "name": "worker",
            "replicas": 2,
            "template": {"spec": {"parallelism": 4, "completions": 4, "template": POD}},
        },
    ]
    assert pods("jobsets.jobset.x-k8s.io", {"replicatedJobs": jobs}) == [1, 8]


def test_a_ray_job_has_a_head_and_workers_of_several_hosts():
    ray = {
        "headGroupSpec": {"template": POD},
        "workerGroupSpecs": [
            {"replicas": 2, "numOfHosts": 2, "template": POD},
            {"replicas": 0, "template": POD},
        ],
    }
    assert pods("rayjobs.ray.io", {"rayClusterSpec": ray}) == [1, 4]


def test_suspending_and_resuming_is_one_field():
    thing = batch()
    merge(thing, suspension(BATCH_JOB, False))
    assert not is_suspended(BATCH_JOB, thing)
    merge(thing, suspension(BATCH_JOB, True))
    assert is_suspended(BATCH_JOB, thing)
    assert suspension(KNOWN["mpijobs.kubeflow.org"], True) == {"spec": {"runPolicy": {"suspend": True}}}


@pytest.mark.parametrize("kind", KNOWN)
def test_adopting_twice_changes_nothing_and_takes_nothing_away(kind: str):
    sort = KNOWN[kind]
    thing: dict[str, Any] = {"metadata": {"name": "x", "uid": "u1", "annotations": {"mine": "1"}}}
    for part in sort.parts:
        steps = part.at.split(".")
        place: Any = [
            {"name": "a", part.template.split(".")[0]: _inside(part.template)},
            {"name": "b", part.template.split(".")[0]: _inside(part.template)},
        ]
        if steps[-1] == "*":
            steps = steps[:-1]
            if "kubeflow" in kind:
                place = {"A": place[0], "B": place[1]}
        else:
            place = place[0]
        merge(thing, adopted._nested(steps, place))
    before = deepcopy(thing)
    patch = adoption(sort, thing)
    assert thing == before
    merge(thing, patch)
    assert adoption(sort, thing) == {}
    assert thing["metadata"] == before["metadata"]
    found = templates(sort, thing)
    assert len(found) == len(templates(sort, before)) >= 1
    for number, one in enumerate(found):
        assert one.template["spec"]["containers"] == POD["spec"]["containers"]  # type: ignore[index]
        assert one.template["spec"]["schedulingGates"] == [{"name": GATE}]
        assert one.template["metadata"]["labels"] == {
            "app": "x",
            "quotatree.io/object": "u1",
            "quotatree.io/group": str(number),
        }


def _inside(path: str) -> dict[str, Any]:
    """What stands at the first step of the path to a template."""
    steps = path.split(".")
    return adopted._nested(steps[1:], deepcopy(POD)) if len(steps) > 1 else deepcopy(POD)


def test_a_gate_of_somebody_else_stays():
    thing = batch()
    thing["spec"]["template"]["spec"]["schedulingGates"] = [{"name": "other"}]
    assert adoption(BATCH_JOB, thing)["spec"]["template"]["spec"]["schedulingGates"] == [
        {"name": "other"},
        {"name": GATE},
    ]


def test_an_object_has_ended_when_its_status_says_so():
    def with_condition(kind: str, status: str) -> dict[str, Any]:
        return {
            **batch(),
            "status": {"conditions": [{"type": kind, "status": status, "reason": "R", "message": "m"}]},
        }

    assert ending(BATCH_JOB, batch()) is None
    assert ending(BATCH_JOB, with_condition("Complete", "False")) is None
    assert ending(BATCH_JOB, with_condition("Suspended", "True")) is None
    assert ending(BATCH_JOB, with_condition("Complete", "True")) == (True, "R: m")
    assert ending(BATCH_JOB, with_condition("Failed", "True")) == (False, "R: m")
    ray = KNOWN["rayjobs.ray.io"]
    assert ending(ray, {"metadata": {}, "status": {"jobDeploymentStatus": "Failed"}}) == (False, "")
    assert ending(ray, {"metadata": {}, "status": {"jobDeploymentStatus": "Suspended"}}) is None
