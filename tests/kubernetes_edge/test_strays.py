"""Which pods are strays, and what is done about them once."""

from __future__ import annotations

from typing import Any

import pytest

from quotatree.engines.kubernetes.adopted import BATCH_JOB
from quotatree.engines.kubernetes.errors import ClusterError
from quotatree.engines.kubernetes.options import SUSPEND, WARN
from quotatree.kubernetes_edge.strays import RETRY_MS, Strays, pod_with_gpus

GPUS = ("nvidia.com/gpu",)
OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u-job", "controller": True}


def pod(name: str = "p", namespace: str = "team", **meta: Any) -> dict[str, Any]:
    resources = {"limits": {"nvidia.com/gpu": 2}}
    meta = {"name": name, "namespace": namespace, "uid": f"u-{name}", **meta}
    return {"metadata": meta, "spec": {"containers": [{"name": "c", "resources": resources}]}}


class Cluster:
    def __init__(self) -> None:
        self.done: list[str] = []
        self.away = False

    def merge(self, kind: Any, namespace: Any, name: str, patch: Any) -> dict[str, Any]:
        self._note(f"suspend {kind.plural} {namespace}/{name} {patch['metadata']['uid']} {patch['spec']}")
        return {}

    def delete(
        self, kind: Any, namespace: Any, name: str, *, uid: str | None = None, background: bool = True
    ) -> bool:
        self._note(f"delete {kind.plural} {namespace}/{name} {uid}")
        return True

    def _note(self, what: str) -> None:
        if self.away:
            raise ClusterError(500, "InternalError", "away")
        self.done.append(what)


class Told:
    def __init__(self) -> None:
        self.words: list[tuple[str, str]] = []

    def tell(self, about: Any, reason: str, text: str, kind: str = "") -> None:
        self.words.append((f"{about.kind}/{about.key.name}", text))


class Case:
    def __init__(self, act: str = WARN) -> None:
        self.cluster, self.events, self.gpus = Cluster(), Told(), 0.0
        self.strays = Strays(
            self.cluster, self.events, [BATCH_JOB], act=act, count=self.count, was_job=lambda job: job == "real"
        )  # fmt: skip

    def count(self, gpus: float) -> None:
        self.gpus = gpus

    def sees(self, *pods: dict[str, Any], now_ms: int = 1) -> None:
        for one in pods:
            found = pod_with_gpus(one, GPUS)
            if found is not None:
                self.strays.changed(found.key, None, found)
        self.strays.settle({"team": "vision"}, now_ms)


@pytest.mark.parametrize(
    "one",
    [
        pod(deletionTimestamp="now"),
        {**pod(), "status": {"phase": "Succeeded"}},
        {**pod(), "spec": {"containers": [{"name": "c"}]}},
        {**pod(), "spec": {**pod()["spec"], "schedulingGates": [{"name": "quotatree.io/place"}]}},
        pod(labels={"quotatree.io/job": "real"}),
        pod(annotations={"quotatree.io/run": "real.3"}),
        pod(namespace="elsewhere"),
    ],
    ids=["leaves", "over", "no GPU", "gated", "ours", "adopted", "of no workspace"],
)
def test_what_is_no_stray(one: dict[str, Any]):
    case = Case(SUSPEND)
    case.sees(one)
    assert (case.gpus, case.events.words, case.cluster.done) == (0.0, [], [])


def test_a_stray_is_told_once_and_left_alone_by_default():
    case = Case()
    case.sees(pod(labels={"quotatree.io/job": "a-lie"}))
    case.sees(now_ms=10 * RETRY_MS)
    (said,) = case.events.words
    assert said[0] == "Pod/p"
    assert "uses 2 GPUs" in said[1]
    assert "no quota counts it" in said[1]
    assert (case.gpus, case.cluster.done) == (2.0, [])
    found = pod_with_gpus(pod(), GPUS)
    assert found is not None
    case.strays.changed(found.key, found, None)
    case.sees()
    assert case.gpus == 0.0


def test_a_job_is_suspended_and_another_pod_deleted_and_tried_again_later():
    case = Case(SUSPEND)
    case.cluster.away = True
    case.sees(pod(), pod("owned", ownerReferences=[OWNER]))
    assert case.cluster.done == []
    case.cluster.away = False
    case.sees(now_ms=2)
    assert case.cluster.done == []
    case.sees(now_ms=1 + RETRY_MS)
    assert case.cluster.done == [
        "delete pods team/p u-p",
        "suspend jobs team/train u-job {'suspend': True}",
    ]
    assert [about for about, _ in case.events.words] == ["Pod/p", "Job/train"]
