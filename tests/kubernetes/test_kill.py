"""`kill -9` of QuotaTree at random moments: no job is lost, none runs twice, no GPU is given twice (A7). The numbers are printed."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from quotatree.client.errors import ClientError
from tests.kubernetes.api import Api, Denied, Thing, condition, names
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.processes import until
from tests.kubernetes.serving import Server
from tests.kubernetes.story import ENDED, JOB_LABEL, OVER, Story
from tests.kubernetes.witness import OBJECT_LABEL, Witness
from tests.profiles import by_profile

KILLS = by_profile(quick=6, deep=50)
NODES = 3
LONGEST_LIFE_SECONDS = 2.5
TEAM = "made-with-kubectl"
JOBS = f"/apis/batch/v1/namespaces/{TEAM}/jobs"


class Life:
    """Lets pods end, and now and then takes one away by hand, whoever is alive to see it."""

    def __init__(self, api: Api, dice: random.Random) -> None:
        self._api = api
        self._dice = dice
        self._over = threading.Event()
        self.gentle = False
        self.pace = 0.15
        """Which part of the pods comes to its end at each look."""
        self._thread = threading.Thread(target=self._run, name="life", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(0.2):
            pods = [
                pod
                for label in (JOB_LABEL, OBJECT_LABEL)
                for pod in self._api.items("/api/v1/pods", labelSelector=label)
            ]
            for pod in pods:
                if pod["status"].get("phase") == "Running" and self._dice.random() < self.pace:
                    self._touch(
                        f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
                    )

    def _touch(self, path: str) -> None:
        try:
            if not self.gentle and self._dice.random() < 0.1:
                self._api.delete(path, gracePeriodSeconds=0)
            else:
                self._api.merge(path, {"metadata": {"annotations": {"play.quotatree.io/end": "now"}}})
        except Denied:
            pass  # it was gone already


@pytest.fixture
def life(cluster: Cluster) -> Iterator[Life]:
    api = Api(cluster.kubeconfig)
    made = Life(api, random.Random(1))
    yield made
    made.close()
    api.close()


def test_whenever_it_is_killed_nothing_is_lost_nothing_runs_twice_no_gpu_is_given_twice(
    cluster: Cluster, account: Path, tmp_path: Path, life: Life, capsys
):
    began = time.monotonic()
    dice = random.Random(2)
    story = two_teams(cluster, account, tmp_path)
    server = story.server
    watching = Api(cluster.kubeconfig)
    witness = Witness(watching)
    wishes: dict[str, dict[str, object]] = {}
    made: dict[str, set[str]] = {}
    for _ in range(KILLS):
        until(lambda: submit_some(story, dice, wishes, made), "something was submitted")
        threading.Event().wait(dice.uniform(0.0, LONGEST_LIFE_SECONDS))
        server.kill()
        server.start(wait=dice.random() < 0.7)
    until(server.writable, "the last server leads")
    for key, wish in wishes.items():
        made.setdefault(key, set()).add(story.submit(key=key, **wish))  # type: ignore[arg-type]
    life.gentle = True
    jobs = {job for ids in made.values() for job in ids}
    until(lambda: all(job["phase"] in OVER for job in server.client.jobs.list()), "everything ends", 180)
    faults = [*witness.faults, *story.broken_promises(jobs)]
    faults += [f"{key} made {ids}" for key, ids in made.items() if len(ids) > 1]
    faults += [
        f"{job['id']} was asked for by nobody" for job in server.client.jobs.list() if job["id"] not in jobs
    ]
    left = [pod for pod in story.pods() if pod["status"].get("phase") not in ENDED]
    faults += [f"pod {pod['metadata']['name']} is left" for pod in left]
    witness.close()
    server.stop()
    with capsys.disabled():
        sys.stdout.write(
            f"\nkill -9 of QuotaTree on Kubernetes, {KILLS} times in {time.monotonic() - began:.0f} s: {len(jobs)} jobs, "
            f"{sum(map(len, witness.runs.values()))} runs, {witness.seen} changes of pods; faults: {len(faults)}\n"
        )
    assert faults == []
    assert len(jobs) >= KILLS


def two_teams(cluster: Cluster, account: Path, directory: Path) -> Story:
    """A server that knows NODES nodes of 8 GPUs, with the quotas `a` and `b` below the root."""
    cluster.nodes.add(NODES, 8, labels={"nvidia.com/gpu.product": "A100"})
    server = Server(directory / "server", account)
    server.start()
    story = Story(cluster, server)
    story.nodes_known(NODES)
    story.tree(NODES * 8, {"a": 12, "b": 12}, child_level={"priorities": "1-3"})
    return story


def submit_some(
    story: Story, dice: random.Random, wishes: dict[str, dict[str, object]], made: dict[str, set[str]]
) -> bool:
    """Ask for some jobs; whoever gets no answer asks again in the end with the same key. Returns whether any was answered."""
    answered = False
    for _ in range(dice.randint(1, 3)):
        key = f"wish-{len(wishes)}"
        wish: dict[str, object] = {
            "name": key,
            "quota": dice.choice(("a", "b", "root")),
            "gpus": dice.choice((1, 2, 4)),
            "replicas": dice.choice((1, 1, 2)),
            "priority": dice.randint(1, 9),
        }
        wishes[key] = wish
        try:
            made.setdefault(key, set()).add(story.submit(key=key, **wish))  # type: ignore[arg-type]
            answered = True
        except ClientError:
            continue
    return answered


def test_whenever_it_is_killed_a_job_made_with_kubectl_is_queued_once_and_comes_to_its_end(
    cluster: Cluster, account: Path, tmp_path: Path, life: Life, capsys
):
    began = time.monotonic()
    dice = random.Random(3)
    server = two_teams(cluster, account, tmp_path).server
    cluster.api.create(
        "/api/v1/namespaces", {"metadata": {"name": TEAM, "labels": {"quotatree.io/workspace": "team"}}}
    )
    watching = Api(cluster.kubeconfig)
    witness = Witness(watching, native=True)
    made: list[str] = []
    life.pace = 0.03
    for _ in range(KILLS):
        for _ in range(dice.randint(1, 3)):
            made.append(f"wish-{len(made)}")
            cluster.api.create(JOBS, native_job(made[-1], dice))
        threading.Event().wait(dice.uniform(0.0, LONGEST_LIFE_SECONDS))
        server.kill()
        server.start(wait=dice.random() < 0.7)
    until(server.writable, "the last server leads")
    life.gentle, life.pace = True, 0.3
    until(lambda: all_complete(cluster, made), "every Job is complete", 240)
    until(lambda: all(job["phase"] in OVER for job in server.client.jobs.list()), "and over here too", 60)
    faults = list(witness.faults)
    queued = Counter(job["name"] for job in server.client.jobs.list())
    faults += [f"{name} was queued {queued[name]} times" for name in made if queued[name] != 1]
    faults += [f"{name} was asked for by nobody" for name in queued if name not in made]
    phases = Counter(job["phase"] for job in server.client.jobs.list())
    faults += [f"{count} jobs are {phase}" for phase, count in phases.items() if phase != "Succeeded"]
    witness.close()
    server.stop()
    with capsys.disabled():
        sys.stdout.write(
            f"\nkill -9 of QuotaTree with Jobs of kubectl, {KILLS} times in {time.monotonic() - began:.0f} s: {len(made)} Jobs, "
            f"{sum(map(len, witness.runs.values()))} runs, {witness.seen} changes of pods; faults: {len(faults)}\n"
        )
    assert faults == []


def native_job(name: str, dice: random.Random) -> Thing:
    pods = dice.choice((1, 1, 2))
    labels = {"quotatree.io/quota": dice.choice(("a", "b", "root"))}
    labels["quotatree.io/priority"] = str(dice.randint(1, 9))
    container = {
        "name": "main",
        "image": "none",
        "resources": {"limits": {"nvidia.com/gpu": dice.choice((1, 2, 4))}},
    }
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "suspend": True,
            "parallelism": pods,
            "completions": pods,
            "backoffLimit": 1000,
            "template": {
                "metadata": {"annotations": {"play.quotatree.io/leaves-after": "1s"}},
                "spec": {
                    "restartPolicy": "Never",
                    "terminationGracePeriodSeconds": 2,
                    "containers": [container],
                },
            },
        },
    }


def all_complete(cluster: Cluster, made: list[str]) -> bool:
    jobs = cluster.api.items(JOBS)
    assert set(names(jobs)) == set(made), "nobody takes a Job away"
    return all(condition(job, "Complete") == "True" for job in jobs)
