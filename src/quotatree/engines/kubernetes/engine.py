"""How do jobs run on a cluster? Every replica is a pod; the cluster's own words are turned into reports.

    orders ──> runs (what is wanted) ──> workers: make or delete what is missing ──> API server
    informers: nodes and pods ──> inventory, runs ──> reports

Orders only note what is wanted and mark their job; a worker compares that with the pods there are and does what is missing, so
any step may be repeated, after a crash by another server too. Pods that ended stay until `forget`: they are the memory of how a
run ended. A pod is never deleted by force: whoever is told that it is gone must be able to believe it.
"""

from __future__ import annotations

import base64
import secrets
import threading
import time
from collections.abc import Callable
from typing import Final

import structlog

from quotatree.core import JobId, JobSpec, Module
from quotatree.engines.base import (
    Capabilities,
    Endpoint,
    EngineUnavailable,
    Left,
    LogPiece,
    Lost,
    Observed,
    Place,
    Program,
    ReplicaOrder,
    Report,
    RestartOrder,
    StartOrder,
    StopOrder,
    lacks,
)
from quotatree.engines.kubernetes import pod_building as build
from quotatree.engines.kubernetes.adopted import KNOWN
from quotatree.engines.kubernetes.client import Cluster
from quotatree.engines.kubernetes.dry_run import DryRun
from quotatree.engines.kubernetes.errors import Clash, ClusterError, Denied, Missing
from quotatree.engines.kubernetes.informer import Informer
from quotatree.engines.kubernetes.inventory import Inventory
from quotatree.engines.kubernetes.kinds import (
    NAMESPACES,
    NODES,
    PODS,
    PRIORITY_CLASSES,
    SECRETS,
    SERVICES,
    VOLUME_CLAIMS,
    Key,
    Kind,
    Object,
)
from quotatree.engines.kubernetes.native import Native, is_adopted
from quotatree.engines.kubernetes.node_reading import ForeignPod, NodeView, foreign_pod, node_view
from quotatree.engines.kubernetes.options import KubernetesOptions
from quotatree.engines.kubernetes.output import read_log
from quotatree.engines.kubernetes.pod_reading import LOST, PENDING, PodView, pod_view
from quotatree.engines.kubernetes.program import BadProgram, parse
from quotatree.engines.kubernetes.runs import Run, Runs
from quotatree.engines.kubernetes.workers import Workers

log = structlog.get_logger(__name__)

LIST_SECONDS: Final = 60.0
WORKERS: Final = 8
PRIORITY: Final = 1_000
SHORTEST_GRACE_SECONDS: Final = 1
"""A grace of 0 would take the pod out of the API while its containers may still run."""
RESTART_LOOK_SECONDS: Final = 1.0
OCCUPIED_LOOK_SECONDS: Final = 0.3
LONGEST_SECONDS: Final = 10**9


class KubernetesEngine:
    def __init__(self, cluster: Cluster, options: KubernetesOptions) -> None:
        """Raises KeyError for a kind to be adopted that is not known."""
        self._cluster = cluster
        self._native = Native(cluster, [KNOWN[name] for name in options.adopted_kinds])
        self._options = options
        self._lock = threading.RLock()
        self._runs = Runs()
        self._inventory = Inventory(options.lost_seconds * 1000, lambda: time.time_ns() // 1_000_000)
        self._dry_run = DryRun(cluster, options, self._namespace)
        self._namespaces: set[str] = set()
        self._leftovers: dict[str, ForeignPod] = {}  # pods of forgotten runs that are not gone yet, by uid
        self._place = Place("", cluster.host)
        self._closing = threading.Event()
        self._report: Callable[[Report], None] | None = None
        self._workers = Workers(self._settle, WORKERS)
        self._nodes: Informer[NodeView] | None = None
        self._pods: Informer[PodView | ForeignPod] | None = None

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            "kubernetes", frozenset(Module), fractions=False, logs=True, endpoints=True, inventory=True
        )

    @property
    def place(self) -> Place:
        """The cluster: the uid of its namespace kube-system, so that any server of this cluster can take over."""
        return self._place

    def refuses(self, job: JobSpec, program: Program) -> str | None:
        why = lacks(self.capabilities, job)
        if why is None and is_adopted(program):
            return self._native.refuses(job, program)
        if why is not None:
            return f"{why}: its device plugin gives whole GPUs, and chooses which" if "share" in why else why
        try:
            read = parse(program, job.module)
        except BadProgram as bad:
            return str(bad)
        return self._dry_run.refuses(job, program, read)

    def open(self, report: Callable[[Report], None]) -> None:
        """Begin to follow nodes and pods. Raises EngineUnavailable until everything was listed once."""
        try:
            found = self._cluster.get(NAMESPACES, None, "kube-system")
            self._place = Place(str(found["metadata"]["uid"]), self._cluster.host)
            self._make_priority_class()
        except ClusterError as error:
            raise EngineUnavailable(str(error)) from error
        self._report = report
        if self._nodes is None or self._pods is None:
            self._nodes = Informer(
                self._cluster, NODES, lambda one: node_view(one, self._options), self._node_changed
            )
            self._pods = Informer(self._cluster, PODS, self._keep_pod, self._pod_changed)
            self._nodes.start()
            self._pods.start()
            self._workers.start()
            self._native.open(self._tell)
        self._listed()

    def start(self, order: StartOrder) -> None:
        if is_adopted(order.program):
            self._native.start(order)
            return
        with self._lock:
            self._runs.start(order)
        self._workers.mark(order.job)

    def stop(self, order: StopOrder) -> None:
        if self._native.has(order.job):
            self._native.stop(order)
            return
        with self._lock:
            self._runs.stop(order)
        self._workers.mark(order.job)

    def restart(self, order: RestartOrder) -> None:
        with self._lock:
            run = self._runs.find(order.job, order.run)
            if run is not None:
                run.restart = order.key
        self._workers.mark(order.job)

    def observe(self) -> Observed:
        self._listed()
        adopted = self._native.observe()
        with self._lock:
            running, exits = self._runs.observed()
            return Observed((*running, *adopted.running), (*exits, *adopted.exits), self._inventory.all())

    def forget(self, job: JobId, run: int) -> None:
        if self._native.has(job):
            self._native.forget(job, run)
            return
        told: list[Report] = []
        with self._lock:
            # What still lives of it, on a node that was lost, has its GPUs until it is gone, and nobody else counts them.
            for _, view in self._runs.forget(job, run).living:
                if view.node and view.uid not in self._leftovers:
                    left = self._leftovers[view.uid] = ForeignPod(view.uid, view.node, view.use)
                    told += self._inventory.pod_changed(None, left)
        for report in told:
            self._tell(report)
        self._workers.mark(job)

    def endpoint(self, job: JobId, run: int) -> Endpoint | None:
        """The Service of a notebook or service; a notebook's token stands in the Secret of its run."""
        with self._lock:
            found = self._runs.find(job, run)
            views = [view for _, view in found.pods.values()] if found is not None else []
            where = next(iter(found.pods.values()))[0].namespace if found is not None and found.pods else ""
        if not views or views[0].module == Module.DLC.value:
            return None
        name = build.run_name(job, run)
        try:
            port = self._cluster.get(SERVICES, where, name)["spec"]["ports"][0]["port"]
            token = ""
            if views[0].module == Module.DSW.value:
                token = _decoded(self._cluster.get(SECRETS, where, name), "QUOTATREE_TOKEN")
        except ClusterError:
            return None
        ready = sum(view.ready and not view.leaving for view in views)
        return Endpoint(f"http://{name}.{where}.svc:{port}", token, ready)

    def log(self, job: JobId, run: int, replica: int, offset: int, limit: int) -> LogPiece | None:
        adopted = self._native.pod_of(job, run, replica)
        if adopted is not None:
            return read_log(self._cluster, adopted, offset, limit, over=False)
        with self._lock:
            found = self._runs.find(job, run)
            known = found.pods.get(replica) if found is not None else None
        if known is None:
            return None
        where, view = known
        return read_log(self._cluster, where, offset, limit, over=view.over, container=view.container)

    def close(self) -> None:
        self._closing.set()
        with self._lock:
            self._report = None
        for informer in (self._nodes, self._pods):
            if informer is not None:
                informer.close()
        if self._nodes is not None:
            self._native.close()
            self._workers.close()
        self._cluster.close()

    # -- what the cluster says -------------------------------------------------------------------------------------

    def _listed(self) -> None:
        assert self._nodes is not None
        assert self._pods is not None
        for informer in (self._nodes, self._pods):
            if not informer.wait(LIST_SECONDS):
                raise EngineUnavailable(informer.error or "the cluster has not been listed yet")

    def _keep_pod(self, pod: Object) -> PodView | ForeignPod | None:
        return pod_view(pod, self._options.gpu_resources) or foreign_pod(pod, self._options)

    def _node_changed(self, key: Key, before: NodeView | None, after: NodeView | None) -> None:
        with self._lock:
            told = self._inventory.node_changed(before, after)
        if told is not None:
            self._tell(told)
        self._look_later(key.name)

    def _look_later(self, node: str) -> None:
        """Have a node that is not ready told as lost when it has been so for long enough."""
        with self._lock:
            waits_ms = self._inventory.lost_in_ms(node)
        if waits_ms and not self._closing.is_set():
            later = threading.Timer(waits_ms / 1000 + 0.05, self._node_overdue, [node])
            later.daemon = True
            later.start()

    def _node_overdue(self, node: str) -> None:
        with self._lock:
            told = self._inventory.seen(node)
        if told is not None and not self._closing.is_set():
            self._tell(told)
            self._look_later(node)

    def _pod_changed(
        self, key: Key, before: PodView | ForeignPod | None, after: PodView | ForeignPod | None
    ) -> None:
        ours = [one if isinstance(one, PodView) else None for one in (before, after)]
        others = [one if isinstance(one, ForeignPod) else None for one in (before, after)]
        told: list[Report] = []
        with self._lock:
            if any(others):
                told += self._inventory.pod_changed(*others)
            if any(ours):
                told += self._runs.pod_changed(key, *ours)
            mine, now = ours
            if mine is not None and (now is None or now.uid != mine.uid or now.over):
                left = self._leftovers.pop(mine.uid, None)
                told += self._inventory.pod_changed(left, None) if left is not None else ()
        for report in told:
            self._tell(report)
        view = ours[1] or ours[0]
        if view is not None:
            self._workers.mark(view.job)

    def _tell(self, report: Report) -> None:
        with self._lock:
            tell = self._report
        if tell is not None:
            tell(report)

    # -- what is missing -------------------------------------------------------------------------------------------

    def _settle(self, job: JobId) -> None:
        """Do what is missing for the runs of a job: one look, which may be repeated at any time."""
        with self._lock:
            runs = self._runs.of_job(job)
        for run in runs:
            if run.forgotten:
                self._clear(run)
                continue
            self._stop_replicas(run)
            if run.ending is not None and not run.ended:
                for key, view in run.living:
                    self._delete(run, key, view, None)
            else:
                self._start_replicas(run)
                self._make_again(run)
                self._give_up_blocked(run)
                self._restart_one(run)

    def _start_replicas(self, run: Run) -> None:
        with self._lock:
            missing = [
                (number, *wanted)
                for number, wanted in sorted(run.wanted.items())
                if number not in run.created and (number not in run.pods or run.pods[number][1].phase == LOST)
            ]
            blocked = bool(missing) and self._still_occupied(run, {replica.node for _, _, replica in missing})
        if blocked:
            self._workers.mark(run.job, OCCUPIED_LOOK_SECONDS)
            return
        for number, order, replica in missing:
            try:
                self._create(run, order, replica, first=number == missing[0][0])
            except ClusterError as error:
                if error.transient or isinstance(error, Missing | Clash):
                    raise
                with self._lock:
                    run.wanted.pop(number, None)
                self._tell(Lost(run.job, run.number, (number,), f"the cluster refused its pod: {error}"))
                continue
            with self._lock:
                run.created.add(number)

    def _still_occupied(self, run: Run, nodes: set[str]) -> bool:
        """Return whether an earlier run of the job lives where it can be reached, or forgotten runs live on these nodes.

        After a node that seemed lost came back, pods of the run it took along are still there: nothing may run twice, and no
        GPU is given twice, so what comes next waits until they are gone (A7). A pod on a node that is lost is not waited for.
        """
        earlier = [
            view
            for other in self._runs.of_job(run.job)
            if other.number < run.number
            for _, view in other.living
        ]
        if any(not view.node or self._inventory.ready(view.node) for view in earlier):
            return True
        return any(left.node in nodes for left in self._leftovers.values())

    def _create(self, run: Run, order: StartOrder, replica: ReplicaOrder, first: bool) -> None:
        program = parse(order.program, order.module)
        namespace = self._options.namespace(order.workspace)
        self._namespace(namespace)
        try:
            if first:
                if build.needs_service(order):
                    self._make(SERVICES, namespace, build.service(order, program))
                if build.needs_secret(order, program):
                    self._make(SECRETS, namespace, build.secret(order, program, secrets.token_urlsafe(24)))
                if program.storage:
                    self._make(VOLUME_CLAIMS, namespace, build.volume_claim(order, program, self._options))
            resource = self._inventory.gpu_resource(replica.node) or self._options.gpu_resources[0]
            pod = build.pod(order, replica, program, self._options, resource)
            with self._lock:
                run.namespace = namespace
                run.beside |= set(build.beside(order, program))
            try:
                self._cluster.create(PODS, namespace, pod)
            except Clash:
                self._settle_clash(namespace, pod["metadata"]["name"])
        except Missing:
            self._namespaces.discard(namespace)  # somebody has deleted the namespace
            raise

    def _settle_clash(self, namespace: str, name: str) -> None:
        """A pod of that name is there: it is the one, unless it was lost before and its replica comes back in the same run."""
        found = self._cluster.get(PODS, namespace, name)
        view = pod_view(found)
        if view is not None and (view.phase == LOST or view.leaving):
            self._cluster.delete(
                PODS,
                namespace,
                name,
                grace_seconds=SHORTEST_GRACE_SECONDS if view.over else None,
                uid=view.uid,
            )
            raise Clash(409, "AlreadyExists", f"{namespace}/{name} has not gone yet")

    def _stop_replicas(self, run: Run) -> None:
        with self._lock:
            told = dict(run.stopping)
            pods = dict(run.pods)
            never = tuple(n for n in told if n not in pods and n not in run.created)
        for number, grace_ms in told.items():
            if number in pods:
                self._delete(run, *pods[number], grace_ms)
            elif number in run.created and run.namespace:
                name = build.pod_name(run.job, run.number, number)
                self._cluster.delete(PODS, run.namespace, name, grace_seconds=_seconds(grace_ms))
        if never:
            with self._lock:
                for number in never:
                    run.stopping.pop(number, None)
            self._tell(Left(run.job, run.number, never))

    def _delete(self, run: Run, key: Key, view: PodView, grace_ms: int | None) -> None:
        """Delete a pod with a grace, None being the job's own that the pod carries; once, unless it is to go sooner."""
        seconds = None if grace_ms is None else _seconds(grace_ms)
        counted = LONGEST_SECONDS if seconds is None else seconds
        if run.deleted.get(view.uid, counted + 1) <= counted:
            return
        self._cluster.delete(PODS, key.namespace, key.name, grace_seconds=seconds, uid=view.uid)
        with self._lock:
            run.deleted[view.uid] = counted

    def _give_up_blocked(self, run: Run) -> None:
        """Take back pods that kube-scheduler or the kubelet will not start; their jobs are queued again, with a pause."""
        now = time.monotonic()
        with self._lock:
            pods = [
                (key, view)
                for key, view in run.pods.values()
                if view.phase == PENDING
                and view.blocked
                and not view.leaving
                and view.replica not in run.stopping
            ]
        for key, view in pods:
            limit = self._options.bind_seconds if view.unplaced else self._options.start_seconds
            since = run.blocked_since.setdefault(view.uid, now)
            if now - since < limit:
                self._workers.mark(run.job, limit - (now - since) + 0.1)
                continue
            who = "kube-scheduler did not place it" if view.unplaced else "it could not be started"
            with self._lock:
                run.why[view.replica] = f"{who} within {limit} s: {view.blocked}"
            self._delete(run, key, view, 0)

    def _restart_one(self, run: Run) -> None:
        """Replace the next replica of a service that is to be restarted, once all the others are ready."""
        with self._lock:
            key = run.restart
            pods = [run.pods[number] for number in sorted(run.pods)]
        if not key:
            return
        old = [(where, view) for where, view in pods if view.restart != key]
        if not old:
            with self._lock:
                run.restart = ""
            return
        self._workers.mark(run.job, RESTART_LOOK_SECONDS)
        if run.replacing or any(view.leaving for _, view in pods):
            return
        if all(view.ready for _, view in pods if view.restart == key):
            where, view = old[0]
            again = build.again(self._cluster.get(PODS, where.namespace, where.name), key)
            with self._lock:
                run.replacing[view.replica] = again
            self._delete(run, where, view, None)

    def _make_again(self, run: Run) -> None:
        """Make the pods of a rolling restart whose forerunners are gone."""
        with self._lock:
            due = [body for number, body in run.replacing.items() if number not in run.pods]
        for body in due:
            self._make(PODS, run.namespace, body)

    def _clear(self, run: Run) -> None:
        """Take away what is left of a run whose end is written down."""
        with self._lock:
            pods = list(run.pods.values())
        for key, view in pods:
            if not view.leaving:
                self._delete(run, key, view, 0 if view.over else None)
        for kind in (SERVICES, SECRETS):
            if kind.plural in run.beside:
                self._cluster.delete(kind, run.namespace, build.run_name(run.job, run.number))
        with self._lock:
            run.beside = frozenset()
            if not run.pods:
                self._runs.drop(run)

    def _namespace(self, name: str) -> None:
        """Make a namespace unless it is there."""
        if name in self._namespaces:
            return
        self._make(NAMESPACES, None, {"metadata": {"name": name, "labels": {build.MANAGED: build.OURS}}})
        self._namespaces.add(name)

    def _make_priority_class(self) -> None:
        body: Object = {
            "metadata": {"name": self._options.priority_class, "labels": {build.MANAGED: build.OURS}},
            "value": PRIORITY,
            "preemptionPolicy": "Never",
            "description": "Jobs of QuotaTree, which decides itself who gives way to whom.",
        }
        try:
            self._make(PRIORITY_CLASSES, None, body)
        except Denied as denied:
            log.info("priority_class_not_made", error=str(denied))

    def _make(self, kind: Kind, namespace: str | None, body: Object) -> None:
        try:
            self._cluster.create(kind, namespace, body)
        except Clash:
            return


def _seconds(grace_ms: int) -> int:
    return max(SHORTEST_GRACE_SECONDS, -(-grace_ms // 1000))


def _decoded(secret: Object, name: str) -> str:
    return base64.b64decode((secret.get("data") or {}).get(name, "")).decode()
