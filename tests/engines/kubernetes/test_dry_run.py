"""Is the API server asked whether it would take a program, and no more often than is needed?"""

from __future__ import annotations

from typing import Any

from quotatree.core import JobId, JobSpec, ReplicaGroup, Shape
from quotatree.engines.kubernetes.dry_run import DryRun
from quotatree.engines.kubernetes.errors import ClusterError
from quotatree.engines.kubernetes.options import KubernetesOptions
from quotatree.engines.kubernetes.program import parse

PROGRAM = {"image": "train:1", "env": {"A": "b"}}


class Asked:
    """A cluster that counts what it is asked, and answers with an error if one is given."""

    def __init__(self, error: ClusterError | None = None) -> None:
        self.error = error
        self.asked: list[dict[str, Any]] = []

    def create(self, kind: object, namespace: str, body: dict[str, Any], **more: Any) -> dict[str, Any]:
        assert more["dry_run"]
        self.asked.append(body)
        if self.error is not None:
            raise self.error
        return {}


def said(dry_run: DryRun, name: str, program: dict[str, Any] | None = None) -> str | None:
    job = JobSpec(JobId(name), "root", (ReplicaGroup(1, Shape(1000, 0, 0)),), 0)
    told = program or PROGRAM
    return dry_run.refuses(job, told, parse(told, job.module))


def made(cluster: Asked) -> DryRun:
    return DryRun(cluster, KubernetesOptions(), lambda *_: None)  # type: ignore[arg-type]


def test_alike_jobs_ask_once_and_another_program_asks_again():
    cluster = Asked()
    dry_run = made(cluster)
    assert [said(dry_run, f"dlc-{n}") for n in range(50)] == [None] * 50
    assert len(cluster.asked) == 1
    said(dry_run, "dlc-x", {"image": "train:2"})
    assert len(cluster.asked) == 2


def test_a_refusal_comes_back_in_the_words_of_the_server_also_the_second_time():
    cluster = Asked(ClusterError(422, "Invalid", "spec.volumes[0].name: Invalid value"))
    dry_run = made(cluster)
    for name in ("dlc-a", "dlc-b"):
        assert said(dry_run, name) == "the cluster refuses it: spec.volumes[0].name: Invalid value"
    assert len(cluster.asked) == 1


def test_a_server_that_does_not_answer_refuses_nothing_and_is_left_alone_for_a_while():
    cluster = Asked(ClusterError(0, "", "was not reached"))
    dry_run = made(cluster)
    assert [said(dry_run, "dlc-a"), said(dry_run, "dlc-b", {"image": "other"})] == [None, None]
    assert len(cluster.asked) == 1, "who submits next need not wait for it too"


def test_what_is_not_counted_for_the_job_is_refused_also_while_the_server_is_away():
    """Q3: the server makes the pod, and so no policy of the cluster looks at it."""
    cluster = Asked(ClusterError(0, "", "was not reached"))
    eight = {"resources": {"limits": {"nvidia.com/gpu": 8}}}
    for pod in (
        {"containers": [{}, eight]},
        {"containers": [{}], "initContainers": [{**eight, "restartPolicy": "Always"}]},
        {"containers": [{}], "initContainers": [eight]},
        {"containers": [{"resources": {"requests": {"cpu": "4"}}}]},
    ):
        refusal = said(made(cluster), "dlc-a", {"pod": pod})
        assert refusal is not None
        assert "and the job for" in refusal
    unread = said(
        made(cluster), "dlc-a", {"pod": {"containers": [{}, {"resources": {"limits": {"cpu": "lots"}}}]}}
    )
    assert unread == "program.pod: cpu: 'lots' is no quantity"


def test_containers_beside_the_first_are_counted_with_it():
    cluster = Asked()
    job = JobSpec(JobId("dlc-a"), "root", (ReplicaGroup(1, Shape(1000, 4000, 8192)),), 0)
    beside = {"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}
    told = {"pod": {"containers": [{}, beside]}}
    assert made(cluster).refuses(job, told, parse(told, job.module)) is None
    first, _ = cluster.asked[0]["spec"]["containers"]
    assert first["resources"]["requests"] == {"cpu": "3500m", "memory": "7168Mi", "nvidia.com/gpu": "1"}
