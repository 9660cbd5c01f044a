"""Would the cluster take this program, and does it ask for what was counted?

The cluster is asked by a server-side dry run at submit, remembered for a while, so that alike jobs ask once.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable
from typing import Final

from quotatree.core import JobSpec, Module
from quotatree.engines.base import Owner, Program, ReplicaOrder, StartOrder
from quotatree.engines.kubernetes import pod_building as build
from quotatree.engines.kubernetes.client import Cluster
from quotatree.engines.kubernetes.errors import ClusterError
from quotatree.engines.kubernetes.kinds import PODS, VOLUME_CLAIMS, Object
from quotatree.engines.kubernetes.options import KubernetesOptions
from quotatree.engines.kubernetes.pod_request import WrongRequest
from quotatree.engines.kubernetes.program import PodProgram

KEPT_SECONDS: Final = 60.0
MOST_KEPT: Final = 1_000
ANSWER_SECONDS: Final = 3.0
AWAY_SECONDS: Final = 10.0
SOME_NODE: Final = "some-node"


class DryRun:
    def __init__(
        self, cluster: Cluster, options: KubernetesOptions, namespace: Callable[[str, str], None]
    ) -> None:
        """`namespace` makes the namespace of a workspace unless it is there: what is in none cannot be checked."""
        self._cluster = cluster
        self._options = options
        self._namespace = namespace
        self._known: dict[str, tuple[float, str | None]] = {}
        self._lock = threading.Lock()
        self._away_until = 0.0

    def refuses(self, job: JobSpec, program: Program, read: PodProgram) -> str | None:
        """Why the pods of this job cannot be made: they ask for more than the job, or the words of the API server; or None.

        If the API server does not answer, it refuses nothing.
        """
        where = self._options.namespace(job.workspace)
        try:
            pods = _pods(job, program, read, self._options)
        except WrongRequest as wrong:
            return f"program.pod: {wrong}"
        if time.monotonic() < self._away_until:
            return None
        for pod in pods:
            digest = _digest(where, pod)
            with self._lock:
                at, said = self._known.get(digest, (0.0, None))
            if time.monotonic() - at > KEPT_SECONDS or not at:
                try:
                    said = self._ask(where, job, read, pod)
                except ClusterError as error:
                    if error.transient:
                        # What is wrong with it then comes out when it starts; the next ones must not wait for an answer too.
                        self._away_until = time.monotonic() + AWAY_SECONDS
                        return None
                    said = f"the cluster refuses it: {error}"
                self._keep(digest, said)
            if said is not None:
                return said
        return None

    def _ask(self, where: str, job: JobSpec, read: PodProgram, pod: Object) -> str | None:
        self._namespace(where, job.workspace)
        self._cluster.create(PODS, where, pod, dry_run=True, seconds=ANSWER_SECONDS)
        if job.module is Module.DSW and read.storage:
            claim = build.volume_claim(_order(job, {}, SOME_NODE, 0), read, self._options)
            claim["metadata"]["name"] = f"{claim['metadata']['name']}-dry-run"
            self._cluster.create(VOLUME_CLAIMS, where, claim, dry_run=True, seconds=ANSWER_SECONDS)
        return None

    def _keep(self, digest: str, said: str | None) -> None:
        with self._lock:
            if len(self._known) >= MOST_KEPT:
                self._known.clear()
            self._known[digest] = (time.monotonic(), said)


def _pods(job: JobSpec, program: Program, read: PodProgram, options: KubernetesOptions) -> list[Object]:
    """One pod for each group of replicas."""
    orders = [_order(job, program, SOME_NODE, number) for number in range(len(job.groups))]
    return [build.pod(one, one.replicas[0], read, options, options.gpu_resources[0]) for one in orders]


def _order(job: JobSpec, program: Program, node: str, group: int) -> StartOrder:
    replica = ReplicaOrder(group, node, (), job.groups[group].shape)
    return StartOrder(
        job=job.id, run=0, module=job.module, replicas=(replica,), program=program, grace_ms=job.grace_ms,
        workspace=job.workspace, owner=Owner(quota=job.quota, replicas=job.core_replicas),
    )  # fmt: skip


def _digest(where: str, pod: Object) -> str:
    """What a pod has in common with those of alike jobs, as a hash: all but its names."""
    text = json.dumps([where, pod["spec"]], sort_keys=True, default=str)
    name = pod["metadata"]["name"]
    return hashlib.sha256(text.replace(name.rsplit("-", 2)[0], "").encode()).hexdigest()
