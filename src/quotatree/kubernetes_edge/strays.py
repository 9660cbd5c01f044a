"""Who uses GPUs in a namespace of a workspace without being queued? It is counted, told, and by a setting suspended or taken away.

Admission refuses such pods where the cluster can (`deploy/chart`); this is for clusters where it is off or too old, and for what was
there before. Pods outside the namespaces of workspaces are never looked at twice. What a pod says of itself is not believed: a
label of ours counts only if there is, or was, such a job.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, Protocol

import structlog

from quotatree.core import WHOLE_GPU
from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted import Adoptable, label, note
from quotatree.engines.kubernetes.adopted_view import OVER, run_of
from quotatree.engines.kubernetes.errors import ClusterError
from quotatree.engines.kubernetes.kinds import PODS, Key, Kind, Object, key_of
from quotatree.engines.kubernetes.options import WARN
from quotatree.engines.kubernetes.pod_request import WrongRequest, shape_of
from quotatree.kubernetes_edge.object_events import WARNING, Subject

log = structlog.get_logger(__name__)

REASON: Final = "NotQueued"
RETRY_MS: Final = 10_000


class Cluster(Protocol):
    """The part of `client.Cluster` that is needed here."""

    def merge(self, kind: Kind, namespace: str | None, name: str, patch: Object) -> Object: ...
    def delete(
        self, kind: Kind, namespace: str | None, name: str, *, uid: str | None = None, background: bool = True
    ) -> bool: ...


class Tell(Protocol):
    def tell(self, about: Subject, reason: str, text: str, kind: str = ...) -> None: ...


class Pod(NamedTuple):
    """A pod that asks for GPUs and runs, or would if kube-scheduler found a place. `owner` is its controller, if it has one."""

    key: Key
    uid: str
    gpu_milli: int
    node: str
    owner: Subject | None
    says: str
    """The job that it says it belongs to, or ""."""

    @property
    def gpus(self) -> str:
        return f"{self.gpu_milli / WHOLE_GPU:g} GPU{'s' if self.gpu_milli != WHOLE_GPU else ''}"


def pod_with_gpus(pod: Object, gpu_names: tuple[str, ...]) -> Pod | None:
    """The pod as far as it matters here; None for one without GPUs, one that is over or leaves, and one behind our gate."""
    meta, spec = pod["metadata"], pod.get("spec") or {}
    gated = {"name": adopted.GATE} in (spec.get("schedulingGates") or [])
    if gated or meta.get("deletionTimestamp") is not None or (pod.get("status") or {}).get("phase") in OVER:
        return None
    try:
        gpu_milli = shape_of(pod, gpu_names, {}).gpu_milli
    except WrongRequest:
        gpu_milli = WHOLE_GPU  # it asks for GPUs of two kinds
    if not gpu_milli:
        return None
    says = label(pod, adopted.JOB) or run_of(note(pod, adopted.RUN))[0]
    key = key_of(pod)
    return Pod(key, meta["uid"], gpu_milli, str(spec.get("nodeName") or ""), _owner(key, meta), says)


class Strays:
    """`changed` may be called from any thread, everything else from one."""

    def __init__(
        self,
        cluster: Cluster,
        events: Tell,
        sorts: Iterable[Adoptable],
        *,
        act: str,
        count: Callable[[float], None],
        was_job: Callable[[str], bool],
    ) -> None:
        """`act`: WARN or SUSPEND. `count` is told their GPUs. `was_job`: whether there is, or ever was, a job of this id."""
        self._cluster = cluster
        self._events = events
        self._sorts = {(sort.kind.api, sort.kind.name): sort for sort in sorts}
        self._acts = act != WARN
        self._was_job = was_job
        self._inbox: queue.SimpleQueue[tuple[Key, Pod | None]] = queue.SimpleQueue()
        self._pods: dict[Key, Pod] = {}
        self._told: dict[str, str] = {}  # by uid: the words
        self._due_ms: dict[str, int] = {}
        self._count = count

    def changed(self, key: Key, before: Pod | None, after: Pod | None) -> None:
        del before
        self._inbox.put((key, after))

    def settle(self, workspaces: Mapping[str, str], now_ms: int) -> None:
        """Count all strays of the namespaces that have a workspace, tell those that are new, and act on them."""
        while not self._inbox.empty():
            key, pod = self._inbox.get()
            if pod is None:
                self._pods.pop(key, None)
            else:
                self._pods[key] = pod
        found = [pod for pod in self._pods.values() if pod.key.namespace in workspaces and self._stray(pod)]
        self._count(sum(pod.gpu_milli for pod in found) / WHOLE_GPU)
        kept = {pod.uid for pod in found}
        self._told = {uid: said for uid, said in self._told.items() if uid in kept}
        self._due_ms = {uid: due for uid, due in self._due_ms.items() if uid in kept}
        for pod in found:
            self._tell(pod, workspaces[pod.key.namespace])
            if self._acts and self._due_ms.get(pod.uid, 0) <= now_ms:
                self._due_ms[pod.uid] = now_ms + RETRY_MS
                self._act(pod)

    def _stray(self, pod: Pod) -> bool:
        return not (pod.says and self._was_job(pod.says))

    def _tell(self, pod: Pod, workspace: str) -> None:
        where = f"on {pod.node}" if pod.node else "not placed yet"
        then = "it is suspended or deleted" if self._acts else "no quota counts it"
        text = (
            f"pod {pod.key.name} uses {pod.gpus} ({where}) of workspace {workspace} without a quota: {then}; "
            "make a Job with the label quotatree.io/quota and suspend: true"
        )
        if self._told.get(pod.uid) != text:
            self._told[pod.uid] = text
            log.warning("stray_pod", pod=str(pod.key), workspace=workspace, gpus=pod.gpu_milli / WHOLE_GPU)
            self._events.tell(pod.owner or Subject("v1", "Pod", pod.key, pod.uid), REASON, text, WARNING)

    def _act(self, pod: Pod) -> None:
        """Suspend the owner where it can be suspended; take any other pod away, with its grace."""
        owner = pod.owner
        sort = None if owner is None else self._sorts.get((owner.api, owner.kind))
        try:
            if owner is not None and sort is not None:
                change = {"metadata": {"uid": owner.uid}, **adopted.suspension(sort, True)}
                self._cluster.merge(sort.kind, owner.key.namespace, owner.key.name, change)
            else:
                self._cluster.delete(PODS, pod.key.namespace, pod.key.name, uid=pod.uid)
        except ClusterError as error:
            log.warning("stray_stays", pod=str(pod.key), error=str(error))


def _owner(key: Key, meta: Mapping[str, Any]) -> Subject | None:
    for one in meta.get("ownerReferences") or ():
        if one.get("controller"):
            return Subject(one["apiVersion"], one["kind"], Key(key.namespace, one["name"]), one["uid"])
    return None
