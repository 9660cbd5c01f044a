"""An object made with kubectl is queued once, by its namespace's account, and held to what is decided (E7, W1, W2)."""

from __future__ import annotations

from typing import Any

import pytest

from quotatree.control.commands import values as do
from quotatree.control.world import SYSTEM
from quotatree.core import FINAL_PHASES, JobId
from quotatree.engines.kubernetes.adopted import BATCH_JOB
from quotatree.engines.kubernetes.errors import ClusterError
from quotatree.engines.kubernetes.kinds import JOBS
from quotatree.kubernetes_edge.declaring import Declaring
from quotatree.kubernetes_edge.native_jobs import NativeJobs
from quotatree.kubernetes_edge.object_events import Subject
from tests.engines.kubernetes.small_cluster import SmallCluster
from tests.kubernetes_edge.conftest import Loop
from tests.kubernetes_edge.declared import quota, root, workspace
from tests.kubernetes_edge.objects import GPUS, asked, job

NOW_MS = 1_000_000


class Events(list[tuple[str, str]]):
    def tell(self, about: Subject, reason: str, text: str, kind: str = "Normal") -> None:
        self.append((reason, text))


class Scene:
    """Namespace `team` belongs to workspace `v`, which may use quota `a`; `b` is somebody else's."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.cluster = SmallCluster()
        self.events = Events()
        self.submitted: set[tuple[str, str]] = set()
        tree = [root(), *(quota(name, parent="company", min={"gpus": 8}) for name in "ab")]
        Declaring(loop.controller).apply([*tree, workspace("v", quotas=[{"name": "a"}])])
        self.now_ms = NOW_MS
        self.boot()

    def boot(self) -> None:
        """A new server on what is there."""
        self.jobs = NativeJobs(
            self.loop.controller, self.cluster, {BATCH_JOB.name: BATCH_JOB}, self.events, gpu_names=GPUS,
            was_submitted=lambda job, uid: (job, uid) in self.submitted,
        )  # fmt: skip
        self.jobs.workspaces = {"team": "v"}
        self._seen: dict[str, Any] = {}

    def make(self, thing: dict[str, Any]) -> dict[str, Any]:
        return self.cluster.put(JOBS, thing)

    def settle(self) -> None:
        """The informer catches up, and the edge deals with it; twice, since it changes objects itself."""
        for _ in range(2):
            there = {name: asked(thing) for (_, _, name), thing in self.cluster.things.items()}
            for name in {*there, *self._seen}:
                if self._seen.get(name) != there.get(name):
                    self.jobs.changed(self._seen.get(name), there.get(name))
            self._seen = there
            self.now_ms += 100_000
            self.jobs.settle(self.now_ms)

    def queued(self) -> dict[str, Any]:
        """Jobs that are not over, by name."""
        return self.loop.ask(
            lambda world: {
                world.cards[job.id].name: job
                for job in world.state.jobs.values()
                if job.phase not in FINAL_PHASES
            }
        )


@pytest.fixture
def scene(loop: Loop) -> Scene:
    return Scene(loop)


def test_a_suspended_job_is_gated_queued_and_told(scene: Scene):
    thing = scene.make(job(spec={"parallelism": 9}))  # more than the quota has left, so it waits
    scene.settle()
    assert scene.events[0][0] == "Refused"  # S11: it can never fit
    thing = scene.make(job("small"))
    scene.settle()
    [(_, found)] = scene.queued().items()
    assert (found.spec.quota, found.spec.workspace, found.spec.priority) == ("a", "v", 3)
    assert thing["metadata"]["annotations"]["quotatree.io/job"] == found.id
    assert thing["spec"]["template"]["spec"]["schedulingGates"] == [{"name": "quotatree.io/place"}]
    assert scene.events[1] == ("Queued", f"queued in quota a at priority 3 as {found.id}")


def test_the_owner_is_the_account_of_the_namespace(scene: Scene):
    scene.make(job())
    scene.settle()
    assert scene.loop.ask(lambda world: [card.owner for card in world.cards.values()]) == ["v.team"]
    assert scene.loop.ask(lambda world: world.directory.workspaces["v"].roles_of("v.team")) != ()


def test_nothing_is_submitted_twice_whenever_a_server_dies(scene: Scene):
    """Each change that the edge sends is its last once; the next server goes on from there (A7)."""
    scene.make(job())
    for _ in range(8):
        scene.cluster.broken = ClusterError(0, "", "away")
        scene.settle()
        scene.cluster.broken = None
        scene.boot()
        scene.jobs.begin(complete=False)
        scene.settle()
    assert len(scene.queued()) == 1


def test_a_job_whose_annotation_was_never_written_is_found_by_its_uid(scene: Scene):
    thing = scene.make(job())
    scene.settle()
    before = thing["metadata"]["annotations"].pop("quotatree.io/job")
    scene.boot()
    scene.jobs.begin(complete=False)
    scene.settle()
    assert thing["metadata"]["annotations"]["quotatree.io/job"] == before
    assert len(scene.queued()) == 1


def test_a_job_that_is_over_is_not_queued_again_after_a_restart(scene: Scene):
    thing = scene.make(job())
    scene.settle()
    [found] = scene.queued().values()
    scene.submitted.add((found.id, "uid-train"))
    scene.loop.do(do.CancelJob(actor=SYSTEM, job=found.id))
    scene.boot()
    scene.jobs.begin(complete=True)
    scene.settle()
    assert scene.queued() == {}
    assert thing["spec"]["suspend"] is True


def test_a_copy_of_a_job_with_its_annotations_is_queued_by_itself(scene: Scene):
    first = scene.make(job())
    scene.settle()
    copied = {"quotatree.io/job": first["metadata"]["annotations"]["quotatree.io/job"]}
    scene.submitted.add((copied["quotatree.io/job"], "uid-train"))
    scene.make(job("copy", notes=copied))
    scene.settle()
    assert set(scene.queued()) == {"train", "copy"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"labels": {"quotatree.io/quota": "b"}}, "W1"),
        ({"labels": {"quotatree.io/workspace": "other"}}, "belongs to v"),
        ({"labels": {"quotatree.io/priority": "boss"}}, "priority"),
        ({"labels": {"quotatree.io/priority": "12"}}, "priority"),
        ({"notes": {"quotatree.io/module": "ABC"}}, "module"),
    ],
)
def test_what_may_not_be_queued_is_told_once_and_stays_suspended(
    scene: Scene, change: dict[str, Any], says: str
):
    thing = scene.make(job(**change))
    scene.settle()
    scene.settle()
    [(reason, text)] = scene.events
    assert reason == "Refused"
    assert says in text
    assert thing["spec"]["suspend"] is True
    assert scene.queued() == {}


def test_a_namespace_of_no_workspace_is_told_what_to_do(scene: Scene):
    scene.jobs.workspaces = {}
    scene.make(job())
    scene.settle()
    assert "belongs to no workspace" in scene.events[0][1]


def test_a_refused_job_is_queued_when_its_quota_is_bound(scene: Scene):
    scene.make(job(labels={"quotatree.io/quota": "b"}))
    scene.settle()
    scene.loop.do(do.BindQuota(actor=SYSTEM, workspace="v", quota="b"))
    scene.settle()
    assert [found.spec.quota for found in scene.queued().values()] == ["b"]


def test_an_account_without_a_role_stays_so(scene: Scene):
    scene.make(job())
    scene.settle()
    scene.loop.do(do.RemoveMember(actor=SYSTEM, workspace="v", user="v.team"))
    Declaring(scene.loop.controller).apply([workspace("v", quotas=[{"name": "a"}], members=[])])
    scene.make(job("second"))
    scene.settle()
    assert "has no role" in scene.events[-1][1]


def test_a_resource_does_not_take_the_accounts_role_away(scene: Scene):
    scene.make(job())
    scene.settle()
    members = [{"user": "ann", "roles": ["owner"]}]
    Declaring(scene.loop.controller).apply([workspace("v", quotas=[{"name": "a"}], members=members)])
    assert scene.loop.ask(lambda world: world.directory.workspaces["v"].roles_of("v.team")) != ()


def test_a_job_resumed_behind_our_back_is_suspended_again_and_told(scene: Scene):
    scene.loop.do(
        do.ScaleQuota(actor="(resources)", quota="a", min=scene.loop.ask(lambda w: w.quota("b").spec.min))
    )
    thing = scene.make(job(notes={"quotatree.io/hold": "true"}))
    scene.settle()
    thing["spec"]["suspend"] = False
    scene.settle()
    assert thing["spec"]["suspend"] is True
    assert scene.events[-1][0] == "SuspendedAgain"


def test_a_job_that_was_never_suspended_is_suspended_first(scene: Scene):
    thing = scene.make(job(spec={"suspend": False}))
    scene.settle()
    assert thing["spec"]["suspend"] is True
    assert [reason for reason, _ in scene.events] == ["SuspendedAgain", "Queued"]


def test_a_job_that_runs_for_its_own_run_is_let_be(scene: Scene):
    thing = scene.make(job())
    scene.settle()
    [found] = scene.queued().values()
    thing["spec"]["suspend"] = False
    thing["metadata"]["annotations"]["quotatree.io/run"] = f"{found.id}.{found.run}"
    scene.settle()
    assert thing["spec"]["suspend"] is False


def test_deleting_the_object_cancels_the_job(scene: Scene):
    scene.make(job())
    scene.settle()
    del scene.cluster.things["jobs", "team", "train"]
    scene.settle()
    assert scene.queued() == {}


def test_an_object_that_was_deleted_while_nobody_looked_is_cancelled(scene: Scene):
    scene.make(job())
    scene.settle()
    del scene.cluster.things["jobs", "team", "train"]
    scene.boot()
    scene.jobs.begin(complete=True)
    scene.settle()
    assert scene.queued() == {}


def test_a_changed_priority_and_a_hold_are_followed(scene: Scene):
    thing = scene.make(job(notes={"quotatree.io/hold": "true"}))
    scene.settle()
    assert scene.loop.ask(lambda world: [card.on_hold for card in world.cards.values()]) == [True]
    thing["metadata"]["annotations"]["quotatree.io/hold"] = "false"
    scene.settle()
    assert scene.loop.ask(lambda world: [card.on_hold for card in world.cards.values()]) == [False]
    thing["metadata"]["labels"]["quotatree.io/priority"] = "9"
    scene.settle()
    running = [found.phase.value for found in scene.queued().values()] == ["Running"]
    assert running == (scene.events[-1][0] == "Refused")  # W5: only while it waits


def test_another_quota_is_not_followed_and_said_so(scene: Scene):
    thing = scene.make(job())
    scene.settle()
    thing["metadata"]["labels"]["quotatree.io/quota"] = "b"
    scene.settle()
    assert "make it anew" in scene.events[-1][1]
    assert [found.spec.quota for found in scene.queued().values()] == ["a"]


def test_subjects_are_known_by_job(scene: Scene):
    scene.make(job())
    scene.settle()
    [(found, subject)] = scene.jobs.queued().items()
    assert isinstance(found, str)
    assert JobId(found) == found
    assert subject.uid == "uid-train"
