"""What is told on an object itself, where `kubectl describe` shows it? Events of Kubernetes; the same words twice are one, counted.

An event's name follows from what it says, so that a server that repeats itself after a crash counts up instead of telling twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

import structlog

from quotatree.engines.kubernetes.errors import Clash, ClusterError
from quotatree.engines.kubernetes.kinds import EVENTS, Key, Kind, Object
from quotatree.kubernetes_edge.status import moment

log = structlog.get_logger(__name__)

LONGEST: Final = 1_000
COMPONENT: Final = "quotatree"
NORMAL: Final = "Normal"
WARNING: Final = "Warning"


class Subject(NamedTuple):
    """The object that an event is about."""

    api: str
    kind: str
    key: Key
    uid: str


class Cluster(Protocol):
    """The part of `client.Cluster` that is needed here."""

    def create(self, kind: Kind, namespace: str | None, body: Object) -> Object: ...
    def merge(self, kind: Kind, namespace: str | None, name: str, patch: Object) -> Object: ...
    def get(self, kind: Kind, namespace: str | None, name: str) -> Object: ...


class ObjectEvents:
    def __init__(self, cluster: Cluster, clock: Callable[[], int]) -> None:
        self._cluster = cluster
        self._clock = clock

    def tell(self, about: Subject, reason: str, text: str, kind: str = NORMAL) -> None:
        """Tell it. What cannot be told is logged and left: an event is for people, and nothing hangs on it."""
        namespace = about.key.namespace or "default"
        name = _name(about, reason, text)
        now = moment(self._clock())
        body = {
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": {
                "apiVersion": about.api, "kind": about.kind, "namespace": about.key.namespace, "name": about.key.name,
                "uid": about.uid,
            },
            "reason": reason, "message": text[:LONGEST], "type": kind, "source": {"component": COMPONENT},
            "reportingComponent": COMPONENT, "firstTimestamp": now, "lastTimestamp": now, "count": 1,
        }  # fmt: skip
        try:
            try:
                self._cluster.create(EVENTS, namespace, body)
            except Clash:
                before = self._cluster.get(EVENTS, namespace, name)
                count = int(before.get("count") or 1) + 1
                self._cluster.merge(EVENTS, namespace, name, {"count": count, "lastTimestamp": now})
        except ClusterError as error:
            log.warning(
                "event_not_told",
                object=f"{about.kind} {namespace}/{about.key.name}",
                reason=reason,
                error=str(error),
            )


def _name(about: Subject, reason: str, text: str) -> str:
    digest = hashlib.sha256(f"{about.uid} {reason} {text}".encode()).hexdigest()[:16]
    return f"{about.key.name[:200]}.{digest}"
