"""What others use of a node: their pods, what forgotten runs left there, and pods that only say they are ours (R6, A7, W2)."""

from __future__ import annotations

from typing import Any

from quotatree.core import JobId
from quotatree.engines.base import NodeSeen, Report
from quotatree.engines.kubernetes.kinds import Key
from quotatree.engines.kubernetes.known import Known
from quotatree.engines.kubernetes.node_reading import node_view
from quotatree.engines.kubernetes.options import KubernetesOptions
from quotatree.engines.kubernetes.pod_reading import PodView, pod_view
from tests.engines.kubernetes.made import pod
from tests.engines.kubernetes.test_node_reading import node

OPTIONS = KubernetesOptions()
HERE, ELSEWHERE = Key("quotatree-vision", "p"), Key("quotatree-speech", "p")


class Scene:
    def __init__(self) -> None:
        self.known = Known(OPTIONS, lambda: 0)
        self.known.node_changed(None, node_view(node(), OPTIONS))

    def seen(self, key: Key, before: PodView | None, after: PodView | None) -> list[int]:
        """The foreign GPUs that are told of the node, in thousandths."""
        return gpus(self.known.pod_changed(key, before, after))


def gpus(told: list[Report]) -> list[int]:
    return [one.foreign.gpu_milli for one in told if isinstance(one, NodeSeen)]


def view(phase: str = "Running", uid: str = "") -> PodView:
    body: dict[str, Any] = pod(0, phase, uid=uid)
    limits = {"nvidia.com/gpu": "2"}
    body["spec"] |= {"nodeName": "gpu-1", "containers": [{"name": "main", "resources": {"limits": limits}}]}
    found = pod_view(body, OPTIONS.gpu_resources)
    assert found is not None
    return found


def test_what_a_forgotten_run_left_counts_until_it_is_gone():
    scene, left = Scene(), view()
    assert scene.seen(HERE, None, left) == []
    assert gpus(scene.known.forget(JobId("dlc-abc"), 1)) == [2000]
    assert gpus(scene.known.forget(JobId("dlc-abc"), 1)) == [], "once"
    assert scene.seen(HERE, left, None) == [0]


def test_a_pod_that_only_says_it_is_ours_counts_as_foreign_and_reports_nothing():
    scene, real, forged = Scene(), view(), view(uid="forged")
    scene.known.pod_changed(HERE, None, real)
    assert scene.known.pod_changed(ELSEWHERE, None, forged) == [
        NodeSeen(node_view(node(), OPTIONS).spec, foreign=forged.use)
    ]
    assert scene.seen(ELSEWHERE, forged, view("Succeeded", "forged")) == [0]
    assert scene.seen(ELSEWHERE, view("Succeeded", "forged"), None) == []
    running, exits, _ = scene.known.observed()
    assert (len(running), exits) == (1, [])
