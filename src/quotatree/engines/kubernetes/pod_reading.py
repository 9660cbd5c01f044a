"""What does a pod of ours say about its replica: does it run, how did it end, can it be placed at all? Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, NamedTuple

from quotatree.core import ZERO, JobId, Resources
from quotatree.engines.kubernetes.kinds import Object
from quotatree.engines.kubernetes.options import DOMAIN
from quotatree.engines.kubernetes.pod_request import WrongRequest, shape_of

JOB: Final = f"{DOMAIN}/job"
RUN: Final = f"{DOMAIN}/run"
REPLICA: Final = f"{DOMAIN}/replica"
CORE: Final = f"{DOMAIN}/core-replicas"
MODULE: Final = f"{DOMAIN}/module"
CHECKPOINT: Final = f"{DOMAIN}/checkpoint"
RESTART: Final = f"{DOMAIN}/restart"
BESIDE: Final = f"{DOMAIN}/beside"
"""Annotation: the kinds of objects that a run has beside its pods, under one name."""

PENDING, RUNNING, SUCCEEDED, FAILED, LOST = "pending", "running", "succeeded", "failed", "lost"
NOT_ITS_FAULT: Final = frozenset(
    {
        "Evicted", "Preempting", "NodeShutdown", "Terminated", "NodeLost", "NodeAffinity", "UnexpectedAdmissionError",
        "OutOfcpu", "OutOfmemory", "OutOfpods", "Shutdown", "DeletionByTaintManager", "PreemptionByScheduler",
    }
)  # fmt: skip
"""Reasons of a failed pod that say nothing of its program: the kubelet or kube-scheduler took it away, or never let it in."""
CANNOT_START: Final = frozenset(
    {
        "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError", "CreateContainerError",
        "RunContainerError", "ErrImageNeverPull",
    }
)  # fmt: skip
LONGEST_DETAIL: Final = 500


class PodView(NamedTuple):
    """A replica as its pod says; `uid` tells two pods of one name apart."""

    job: JobId
    run: int
    replica: int
    core: int
    """How many replicas the core of its job has."""
    module: str
    uid: str
    node: str
    phase: str
    detail: str
    ready: bool
    leaving: bool
    """Whether it was deleted and is not gone yet."""
    blocked: str
    """Why it cannot start, while it waits: kube-scheduler's word, or that of the kubelet."""
    unplaced: bool
    """Whether it is kube-scheduler that keeps it waiting."""
    created_ms: int
    ended_ms: int
    """When its containers ended; 0 while one runs, or if nobody says."""
    checkpoint: str
    restart: str
    beside: str
    container: str
    """Its first container, whose output is that of the replica."""
    use: Resources
    """What it has of its node."""

    @property
    def over(self) -> bool:
        return self.phase in (SUCCEEDED, FAILED, LOST)

    @property
    def left(self) -> bool:
        """Whether it was told to go and holds nothing any more, though it may stay in the API for a finalizer.

        Its containers have ended, or it never had a node, and no pod that is told to go is given one.
        """
        return self.leaving and (self.over or not self.node)

    @property
    def key(self) -> tuple[JobId, int]:
        return self.job, self.run


def pod_view(pod: Object, gpu_resources: tuple[str, ...] = ()) -> PodView | None:
    """The replica that a pod stands for; None for a pod that this engine has not made."""
    meta, status = pod["metadata"], pod.get("status") or {}
    labels, notes = meta.get("labels") or {}, meta.get("annotations") or {}
    try:
        job, run, replica = JobId(labels[JOB]), int(labels[RUN]), int(labels[REPLICA])
    except (KeyError, ValueError):
        return None
    phase, detail = _phase(status)
    blocked, unplaced = _blocked(status) if phase == PENDING else ("", False)
    return PodView(
        job=job,
        run=run,
        replica=replica,
        core=int(labels.get(CORE, "1")),
        module=labels.get(MODULE, ""),
        uid=meta["uid"],
        node=(pod.get("spec") or {}).get("nodeName") or "",
        phase=phase,
        detail=detail[:LONGEST_DETAIL],
        ready=_true(status, "Ready"),
        leaving="deletionTimestamp" in meta,
        blocked=blocked[:LONGEST_DETAIL],
        unplaced=unplaced,
        created_ms=milliseconds(meta.get("creationTimestamp", "")) or 0,
        ended_ms=_ended_ms(status),
        checkpoint=notes.get(CHECKPOINT, ""),
        restart=notes.get(RESTART, ""),
        beside=notes.get(BESIDE, ""),
        container=((pod.get("spec") or {}).get("containers") or [{}])[0].get("name", ""),
        use=_use(pod, gpu_resources),
    )


def milliseconds(moment: str) -> int | None:
    """A time as Kubernetes writes it, in milliseconds since the epoch; None if it cannot be read."""
    try:
        found = datetime.fromisoformat(moment.replace("Z", "+00:00"))
    except ValueError:
        return None
    if found.tzinfo is None:
        return None
    return int(found.timestamp() * 1000)


def _use(pod: Object, gpu_resources: tuple[str, ...]) -> Resources:
    try:
        return Resources(*shape_of(pod, gpu_resources, {})[:3])
    except WrongRequest:
        return ZERO


def _phase(status: Object) -> tuple[str, str]:
    phase, reason, message = status.get("phase"), status.get("reason") or "", status.get("message") or ""
    if phase == "Succeeded":
        return SUCCEEDED, ""
    if phase == "Failed":
        disrupted = _condition(status, "DisruptionTarget")
        if disrupted is not None and disrupted.get("status") == "True":
            return LOST, disrupted.get("message") or disrupted.get("reason") or "taken away by the cluster"
        if reason in NOT_ITS_FAULT or reason.startswith("OutOf"):
            return LOST, f"{reason}: {message}".rstrip(": ")
        return FAILED, _exit(status) or f"{reason}: {message}".strip(": ") or "the pod failed"
    if phase == "Running":
        return RUNNING, ""
    return PENDING, ""


def _exit(status: Object) -> str:
    """How the first container that failed ended."""
    for one in status.get("containerStatuses") or ():
        ended = (one.get("state") or {}).get("terminated") or {}
        if ended.get("exitCode"):
            why = ended.get("message") or ended.get("reason") or ""
            return f"exit code {ended['exitCode']}{f': {why}' if why and why != 'Error' else ''}"
    return ""


def _ended_ms(status: Object) -> int:
    ended = [
        (one.get("state") or {}).get("terminated") or {} for one in status.get("containerStatuses") or ()
    ]
    return (
        max((milliseconds(str(one.get("finishedAt", ""))) or 0 for one in ended), default=0)
        if all(ended)
        else 0
    )


def _blocked(status: Object) -> tuple[str, bool]:
    scheduled = _condition(status, "PodScheduled")
    if scheduled is not None and scheduled.get("status") == "False":
        return scheduled.get("message") or scheduled.get("reason") or "not scheduled", True
    for one in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        waiting = (one.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") in CANNOT_START:
            return f"{waiting['reason']}: {waiting.get('message') or ''}".rstrip(": "), False
    return "", False


def _true(status: Object, kind: str) -> bool:
    found = _condition(status, kind)
    return found is not None and found.get("status") == "True"


def _condition(status: Object, kind: str) -> dict[str, Any] | None:
    return next((one for one in status.get("conditions") or () if one.get("type") == kind), None)
