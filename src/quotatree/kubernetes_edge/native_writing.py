"""What is written on an object that was made with kubectl? The gate, a suspension, our annotations; each seen afresh first."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted import Adoptable
from quotatree.engines.kubernetes.errors import Clash, ClusterError
from quotatree.engines.kubernetes.kinds import Kind, Object
from quotatree.kubernetes_edge.native_edits import WrongAsk
from quotatree.kubernetes_edge.native_reading import Asked, asked_of

UNPROCESSABLE: Final = 422


class Cluster(Protocol):
    """The part of `client.Cluster` that is needed here."""

    def get(self, kind: Kind, namespace: str | None, name: str) -> Object: ...
    def merge(self, kind: Kind, namespace: str | None, name: str, patch: Object) -> Object: ...


class ObjectWriter:
    def __init__(self, cluster: Cluster, sorts: Mapping[str, Adoptable], gpu_names: tuple[str, ...]) -> None:
        self._cluster = cluster
        self._sorts = sorts
        self._gpu_names = gpu_names

    def gate(self, asked: Asked) -> None:
        """Put the gate and our labels into the pod templates, so that no pod runs anywhere before it has its place."""
        if asked.gated:
            return
        thing = self._get(asked)
        patch = adopted.adoption(self._sorts[asked.sort], thing)
        if not patch:
            return
        adopted.merge(patch, {"metadata": {"resourceVersion": thing["metadata"]["resourceVersion"]}})
        try:
            self._merge(asked, patch)
        except ClusterError as error:
            if error.status != UNPROCESSABLE:
                raise
            if (thing.get("status") or {}).get("startTime"):
                # It ran a moment ago; its template can be changed as soon as its controller has suspended it.
                raise Clash(409, "Conflict", "its controller has not suspended it yet") from None
            raise WrongAsk(
                "its pods cannot be given places any more: delete it, and make it anew with `suspend: true`"
            ) from None

    def suspend_unless(self, asked: Asked, may_run: Callable[[Asked], bool]) -> bool:
        """Suspend an object that runs although it may not; return whether it was. What is remembered of it may be late."""
        if asked.suspended:
            return False
        thing = self._get(asked)
        sort = self._sorts[asked.sort]
        fresh = asked_of(sort, self._gpu_names, thing)
        if fresh.suspended or fresh.ended or may_run(fresh):
            return False
        version = thing["metadata"]["resourceVersion"]
        self._merge(asked, {"metadata": {"resourceVersion": version}, **adopted.suspension(sort, True)})
        return True

    def annotate(self, asked: Asked, notes: Mapping[str, str | None]) -> None:
        self._merge(asked, {"metadata": {"uid": asked.uid, "annotations": dict(notes)}})

    def _get(self, asked: Asked) -> Object:
        return self._cluster.get(self._sorts[asked.sort].kind, asked.key.namespace, asked.key.name)

    def _merge(self, asked: Asked, patch: Object) -> None:
        self._cluster.merge(self._sorts[asked.sort].kind, asked.key.namespace, asked.key.name, patch)


def plain(text: str) -> str:
    """What the API server says of a change that it refuses, without the values of its program."""
    return re.sub(r"Invalid value: .*: ", "", text, flags=re.DOTALL)
