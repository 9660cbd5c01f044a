"""The edge put together: what is watched in the cluster, and one thread that deals with all of it while this server leads.

Informers only put what they see into inboxes. The thread goes round at most once in ROUND_SECONDS, so that what comes in a burst is
dealt with together and statuses and reasons are written a few times, not thousands of times. A part that fails is tried again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import structlog

from quotatree.control.errors import Unavailable
from quotatree.control.health import Mode
from quotatree.control.loop import Controller
from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted import BATCH_JOB, Adoptable, label, note
from quotatree.engines.kubernetes.adopted_view import QUOTA_LABEL
from quotatree.engines.kubernetes.client import Cluster
from quotatree.engines.kubernetes.errors import ClusterError
from quotatree.engines.kubernetes.informer import Informer
from quotatree.engines.kubernetes.kinds import NAMESPACES, PODS, Key, Object, key_of
from quotatree.engines.kubernetes.native import FIELD
from quotatree.engines.kubernetes.options import WARN
from quotatree.kubernetes_edge.accounts import workspace_of
from quotatree.kubernetes_edge.declarations import QUOTAS, WORKSPACES, Declarations
from quotatree.kubernetes_edge.job_stories import JobStories
from quotatree.kubernetes_edge.native_jobs import NativeJobs
from quotatree.kubernetes_edge.native_reading import Asked, asked_of
from quotatree.kubernetes_edge.object_events import ObjectEvents
from quotatree.kubernetes_edge.resources import Declared, declared_quota, declared_workspace
from quotatree.kubernetes_edge.strays import Strays, pod_with_gpus
from quotatree.store import Store

log = structlog.get_logger(__name__)

ROUND_SECONDS: Final = 0.1
"""Pause between two rounds while things happen."""
IDLE_SECONDS: Final = 1.0
LIST_SECONDS: Final = 30.0
LOOK_FOR_RESOURCES_MS: Final = 10_000
"""How often a cluster that does not know our resources is asked again."""


@dataclass(frozen=True, slots=True)
class EdgeSettings:
    """`sorts`: which kinds of objects are adopted. `resources`: whether quotas and workspaces are read from resources."""

    sorts: tuple[Adoptable, ...] = (BATCH_JOB,)
    resources: bool = True
    namespace_prefix: str = "quotatree-"
    gpu_names: tuple[str, ...] = ("nvidia.com/gpu", "amd.com/gpu")
    strays: str = WARN


class Edge:
    def __init__(
        self,
        controller: Controller,
        store: Store,
        cluster: Cluster,
        settings: EdgeSettings,
        *,
        clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._controller = controller
        self._clock = clock
        self._prefix = settings.namespace_prefix
        events = ObjectEvents(cluster, clock)
        sorts = {sort.name: sort for sort in settings.sorts}
        self._jobs = NativeJobs(
            controller, cluster, sorts, events, gpu_names=settings.gpu_names, was_submitted=partial(_was_submitted, store)
        )  # fmt: skip
        self._stories = JobStories(controller, store, events)
        self._declarations = Declarations(controller, cluster) if settings.resources else None
        self._strays = Strays(
            cluster, events, settings.sorts, act=settings.strays, count=controller.metrics.stray_gpus.set,
            was_job=lambda job: store.job(job) is not None,
        )  # fmt: skip
        self._pods = Informer(
            cluster, PODS, lambda pod: pod_with_gpus(pod, settings.gpu_names), self._strays.changed
        )
        self._namespaces = Informer(cluster, NAMESPACES, self._workspace, self._namespace_changed)
        self._objects: list[Informer[Asked]] = [
            Informer(
                cluster,
                sort.kind,
                partial(self._read, sort, settings.gpu_names),
                self._object_changed,
            )
            for sort in settings.sorts
        ]
        self._cluster = cluster
        self._resources: list[Informer[Declared]] = []
        self._look_for_resources_ms = 0
        self._leads = False
        self._something = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="kubernetes-edge", daemon=True)

    def start(self) -> None:
        for informer in self._informers():
            informer.start()
        self._unlisten = self._controller.listen(lambda _: self._something.set())
        self._thread.start()

    def stop(self) -> None:
        self._stopping = True
        self._something.set()
        if self._thread.is_alive():
            self._thread.join()
            self._unlisten()
        for informer in self._informers():
            informer.close()

    def _informers(self) -> Iterable[Informer[Any]]:
        return (self._namespaces, self._pods, *self._objects, *self._resources)

    # -- what the cluster tells, in threads of the informers ---------------------------------------------------------

    def _workspace(self, namespace: Object) -> tuple[str, str] | None:
        workspace = workspace_of(namespace, self._prefix)
        return (key_of(namespace).name, workspace) if workspace else None

    def _namespace_changed(self, key: Key, before: object, after: tuple[str, str] | None) -> None:
        del before
        workspaces = dict(self._jobs.workspaces)
        workspaces.pop(key.name, None)
        if after is not None:
            workspaces[after[0]] = after[1]
        self._jobs.workspaces = workspaces
        self._something.set()

    def _object_changed(self, key: Key, before: Asked | None, after: Asked | None) -> None:
        del key
        self._jobs.changed(before, after)
        self._something.set()

    def _read(self, sort: Adoptable, gpu_names: tuple[str, ...], thing: Object) -> Asked | None:
        """What an object asks for; None for one that has nothing to do with us, now or before."""
        ours = label(thing, QUOTA_LABEL) or note(thing, adopted.JOB) or note(thing, adopted.RUN)
        if not ours and not self._jobs.is_queued(thing["metadata"]["uid"]):
            return None
        return asked_of(sort, gpu_names, thing)

    def _resource_changed(self, key: Key, before: Declared | None, after: Declared | None) -> None:
        del key
        if self._declarations is not None:
            self._declarations.changed(before, after)
        self._something.set()

    # -- the thread --------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopping:
            self._something.wait(IDLE_SECONDS)
            self._something.clear()
            if not self._stopping:
                self.round()
                self._pause()

    def _pause(self) -> None:
        """Let what comes in a burst come together."""
        time.sleep(ROUND_SECONDS)

    def round(self) -> None:
        """Deal with everything that waits. Nothing is done while another server leads."""
        published = self._controller.published
        if published is None or self._controller.health.mode is not Mode.LEADING:
            self._leads = False
            return
        if not self._leads:
            if not self._attempt("begin", lambda: self._begin(published.last_event)):
                return
            self._leads = True
        now_ms = self._clock()
        declarations = self._declarations
        if declarations is not None and self._watches_resources(now_ms):
            self._attempt("resources", lambda: self._settle(declarations, now_ms))
            self._attempt("statuses", lambda: declarations.show(now_ms))
        self._attempt("native_jobs", lambda: self._jobs.settle(now_ms))
        self._attempt("strays", lambda: self._strays.settle(self._jobs.workspaces, now_ms))
        self._attempt("stories", lambda: self._stories.tell(self._jobs.queued(), now_ms))

    def _watches_resources(self, now_ms: int) -> bool:
        """Whether resources are watched; begins with it once the cluster knows them."""
        if self._resources or now_ms < self._look_for_resources_ms:
            return bool(self._resources)
        self._look_for_resources_ms = now_ms + LOOK_FOR_RESOURCES_MS
        try:
            for kind in (QUOTAS, WORKSPACES):
                self._cluster.page(kind)
        except ClusterError as error:
            log.info("resources_not_read", error=str(error))
            return False
        self._resources = [
            Informer(self._cluster, QUOTAS, declared_quota, self._resource_changed),
            Informer(self._cluster, WORKSPACES, declared_workspace, self._resource_changed),
        ]
        for informer in self._resources:
            informer.start()
        return True

    def _begin(self, seq: int) -> None:
        listed: list[Informer[Any]] = [self._namespaces, *self._objects]
        complete = all(informer.wait(LIST_SECONDS) for informer in listed)
        self._jobs.begin(complete)
        self._stories.begin(seq)
        if self._declarations is not None:
            self._declarations.begin()

    def _settle(self, declarations: Declarations, now_ms: int) -> None:
        if declarations.settle(now_ms):
            self._jobs.look_again()

    def _attempt(self, what: str, do: Callable[[], object]) -> bool:
        """Do it; return whether it went well. What fails is logged, and done again in a later round."""
        try:
            do()
        except (Unavailable, FutureTimeout) as error:
            log.info("edge_waits", what=what, error=str(error))
            return False
        except ClusterError as error:
            log.warning("edge_failed", what=what, error=str(error))
            return False
        except Exception:
            log.exception("edge_broke", what=what)
            return False
        return True


def _was_submitted(store: Store, job: str, uid: str) -> bool:
    row = store.job(job)
    said = None if row is None else row.card.program.get(FIELD)
    return isinstance(said, Mapping) and said.get("uid") == uid
