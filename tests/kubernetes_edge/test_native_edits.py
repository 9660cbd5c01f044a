"""An object that is edited after it was queued is planned anew where that can be, and costs nothing where it cannot (J5, A7)."""

from __future__ import annotations

from typing import Any

import pytest

from quotatree.access.centre import Amount, Centre
from quotatree.control.commands import values as do
from quotatree.control.queries import reasons
from quotatree.control.world import RESOURCES, SYSTEM
from quotatree.core import Bounds, Code, Job, JobId, Phase, Priorities, Refused
from quotatree.engines.base import Unfit
from quotatree.engines.kubernetes.errors import ClusterError
from quotatree.kubernetes_edge.native_writing import plain
from tests.kubernetes_edge.conftest import Loop
from tests.kubernetes_edge.objects import job
from tests.kubernetes_edge.test_native_jobs import Scene


@pytest.fixture
def scene(loop: Loop) -> Scene:
    """The quota's 8 GPUs are taken, so that what comes next waits."""
    made = Scene(loop)
    made.make(job("first", spec={"parallelism": 4}))
    made.settle()
    return made


def waiting(scene: Scene) -> tuple[dict[str, Any], Job]:
    thing = scene.make(job("second"))
    scene.settle()
    return thing, scene.queued()["second"]


def test_another_number_of_pods_is_followed_and_keeps_the_place_in_the_queue(scene: Scene):
    thing, before = waiting(scene)
    submitted_ms = before.spec.submitted_ms
    thing["spec"]["parallelism"] = 3
    scene.settle()
    after = scene.queued()["second"]
    assert after.id == before.id
    assert (after.spec.core_replicas, after.spec.submitted_ms) == (3, submitted_ms)
    assert scene.events[-1] == ("Edited", "planned anew: it asks for 3 pods with 2 GPU")


def test_other_resources_are_followed(scene: Scene):
    thing, before = waiting(scene)
    limits = thing["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
    limits["nvidia.com/gpu"] = "4"
    scene.settle()
    after = scene.queued()["second"]
    assert (after.id, after.spec.groups[0].shape.gpu_milli) == (before.id, 4000)


def test_an_edit_that_can_never_fit_takes_the_job_out_of_the_queue_until_it_is_taken_back(scene: Scene):
    thing, _ = waiting(scene)
    thing["spec"]["parallelism"] = 9
    scene.settle()
    assert scene.events[-1][0] == "Refused"
    assert scene.queued()["second"].phase is Phase.STOPPED
    with pytest.raises(Refused, match="edit the object"):
        scene.loop.do(do.ReleaseJob(actor=SYSTEM, job=scene.queued()["second"].id))
    thing["spec"]["parallelism"] = 1
    scene.settle()
    assert scene.queued()["second"].phase is Phase.WAITING
    assert scene.queued()["second"].spec.core_replicas == 1


def test_what_runs_goes_on_as_planned_and_is_told_once(scene: Scene):
    thing = scene.cluster.things["jobs", "team", "first"]
    thing["spec"]["parallelism"] = 2
    scene.settle()
    thing["metadata"]["annotations"]["of-others"] = "x"
    scene.settle()
    assert scene.queued()["first"].spec.core_replicas == 4
    assert [text for reason, text in scene.events if reason == "Edited"] == [
        "edited while it runs: it goes on as it was planned, and the edit counts from its next run"
    ]


def test_a_start_that_came_too_late_for_an_edit_is_planned_anew(scene: Scene):
    """The engine saw the edit before the edge did: the job neither runs nor is tried again as it was."""
    first = scene.queued()["first"]
    run = first.run
    thing = scene.cluster.things["jobs", "team", "first"]
    scene.loop.tell(Unfit(first.id, run, "it asks for 2 pods now, not 4", edited=True))
    assert scene.queued()["first"].phase is Phase.STOPPED
    assert scene.loop.ask(lambda world: world.state.leaving_replicas) == 0
    thing["spec"]["parallelism"] = 2
    scene.settle()
    after = scene.queued()["first"]
    assert (after.phase, after.spec.core_replicas, after.run) == (Phase.RUNNING, 2, run + 1)


def test_a_start_that_could_not_begin_is_not_tried_again_until_something_changes(scene: Scene):
    first = scene.queued()["first"]
    thing = scene.cluster.things["jobs", "team", "first"]
    scene.loop.tell(Unfit(first.id, first.run, "kube-scheduler: 0/2 nodes"))
    for _ in range(3):
        scene.now_ms += 60_000
        scene.settle()
    found = scene.queued()["first"]
    assert (found.phase, found.reason, found.run) == (Phase.STOPPED, "DidNotBegin", first.run)
    thing["spec"]["parallelism"] = 2
    scene.settle()
    assert scene.queued()["first"].phase is Phase.RUNNING


def test_an_owner_releases_what_could_not_begin_by_the_hold(scene: Scene):
    first = scene.queued()["first"]
    thing = scene.cluster.things["jobs", "team", "first"]
    scene.loop.tell(Unfit(first.id, first.run, "kube-scheduler: 0/2 nodes"))
    scene.settle()
    for held in ("true", "false"):
        thing["metadata"].setdefault("annotations", {})["quotatree.io/hold"] = held
        scene.settle()
    assert scene.queued()["first"].phase is Phase.RUNNING


def test_a_label_taken_off_cancels_the_job_and_is_told(scene: Scene):
    thing, _ = waiting(scene)
    del thing["metadata"]["labels"]["quotatree.io/quota"]
    scene.settle()
    assert "second" not in scene.queued()
    assert scene.events[-1][0] == "Unlabelled"


def test_annotations_that_are_ours_are_put_right(scene: Scene):
    first = scene.queued()["first"]
    thing, second = waiting(scene)
    notes = thing["metadata"]["annotations"]
    notes.update({"quotatree.io/job": first.id, "quotatree.io/run": f"{first.id}.{first.run}"})
    scene.settle()
    assert notes == {"quotatree.io/job": second.id}
    assert scene.events[-1][0] == "PutRight"
    assert {name: one.phase for name, one in scene.queued().items()} == {
        "first": Phase.RUNNING,
        "second": Phase.WAITING,
    }


def test_a_job_that_vanishes_after_its_end_is_left_to_the_engine(scene: Scene):
    """`ttlSecondsAfterFinished`: the engine tells how it ended, and nobody has cancelled it."""
    thing = scene.cluster.things["jobs", "team", "first"]
    thing["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    scene.settle()
    del scene.cluster.things["jobs", "team", "first"]
    scene.settle()
    assert scene.queued()["first"].phase is Phase.RUNNING
    assert JobId(scene.queued()["first"].id) not in scene.jobs.queued()


def test_another_hold_than_ours_stays(scene: Scene):
    thing = scene.make(job("held", notes={"quotatree.io/hold": "true"}))
    scene.settle()
    thing["spec"]["parallelism"] = 1
    scene.settle()
    found = scene.queued()["held"]
    assert (found.phase, found.reason, found.spec.core_replicas) == (Phase.STOPPED, "HeldByOwner", 1)


def test_an_amount_of_the_scheduling_centre_holds_for_the_namespace(scene: Scene):
    """W3: its account may use 8 GPUs of the quota's 16 at these priorities, whatever is free."""
    scene.loop.do(do.ScaleQuota(actor=RESOURCES, quota="b", min=Bounds(0)))
    scene.loop.do(do.ScaleQuota(actor=RESOURCES, quota="a", min=Bounds(16_000)))
    amounts = (Amount("user:v.team", Priorities(1, 5), 8_000),)
    scene.loop.do(do.SetCentre(actor=RESOURCES, centre=Centre("v", "a", amounts=amounts)))
    _, second = waiting(scene)
    assert second.phase is Phase.WAITING
    why = scene.loop.ask(lambda world: reasons([second.id])(world, scene.now_ms))
    assert why[second.id].code is Code.OverAmountLimit


def test_a_template_that_cannot_be_changed_is_refused_in_one_sentence(scene: Scene):
    """And one whose controller has not suspended it yet is tried again, without a word."""
    thing = job("ran", spec={"suspend": False})
    thing["status"] = {"startTime": "2026-01-01T00:00:00Z"}
    scene.make(thing)
    dump = 'Job.batch "ran" is invalid: spec.template: Invalid value: core.PodTemplateSpec{ObjectMeta:{}}: field is immutable'
    scene.cluster.refuse = ("PATCH jobs/ran", 1, ClusterError(422, "Invalid", dump))
    scene.settle()
    assert "Refused" not in [reason for reason, _ in scene.events]
    thing["status"] = {}
    scene.settle()
    assert scene.events[-1] == (
        "Refused",
        "its pods cannot be given places any more: delete it, and make it anew with `suspend: true`",
    )
    assert plain(dump) == 'Job.batch "ran" is invalid: spec.template: field is immutable'
