"""How do jobs run on a cluster? Every replica is a pod; the cluster's own words are turned into reports.

    orders ──> known (what is wanted) ──> work: make or delete what is missing ──> API server
    informers: nodes and pods ──> known ──> reports

Orders only note what is wanted and mark their job; the work compares that with the pods there are and does what is missing. Pods
that ended stay until `forget`: they are the memory of how a run ended. Objects that somebody else made are `Native`'s.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Sequence
from typing import Final

import structlog

from quotatree.core import JobId, JobSpec, Module
from quotatree.engines.base import (
    Capabilities,
    Endpoint,
    EngineUnavailable,
    LogPiece,
    Observed,
    Place,
    Program,
    Report,
    RestartOrder,
    StartOrder,
    StopOrder,
    lacks,
)
from quotatree.engines.kubernetes import pod_building as build
from quotatree.engines.kubernetes.adopted import sorts_of
from quotatree.engines.kubernetes.client import Cluster
from quotatree.engines.kubernetes.dry_run import DryRun
from quotatree.engines.kubernetes.due_work import DueWork
from quotatree.engines.kubernetes.errors import ClusterError
from quotatree.engines.kubernetes.informer import Informer
from quotatree.engines.kubernetes.kinds import (
    NAMESPACES,
    NODES,
    PODS,
    SECRETS,
    SERVICES,
    Key,
    Object,
)
from quotatree.engines.kubernetes.known import Known, Pod
from quotatree.engines.kubernetes.making import Maker
from quotatree.engines.kubernetes.native import Native, is_adopted
from quotatree.engines.kubernetes.node_reading import ForeignPod, NodeView, foreign_pod, node_view
from quotatree.engines.kubernetes.options import KubernetesOptions
from quotatree.engines.kubernetes.output import read_log
from quotatree.engines.kubernetes.pod_reading import PodView, pod_view
from quotatree.engines.kubernetes.pod_work import PodWork
from quotatree.engines.kubernetes.program import BadProgram, parse

log = structlog.get_logger(__name__)

LIST_SECONDS: Final = 60.0


class KubernetesEngine:
    def __init__(self, cluster: Cluster, options: KubernetesOptions) -> None:
        """Raises KeyError for a kind to be adopted that is not known."""
        self._cluster = cluster
        sorts = sorts_of(options.adopted_kinds, options.other_kinds)
        self._native = Native(cluster, sorts, options.gpu_resources, start_seconds=options.start_seconds)
        self._options = options
        self._maker = Maker(cluster)
        self._known = Known(options, lambda: time.time_ns() // 1_000_000)
        self._dry_run = DryRun(cluster, options, self._maker.namespace)
        self._work = PodWork(cluster, options, self._known, self._maker, self._tell)
        self._place = Place("", cluster.host)
        self._overdue: DueWork[str] = DueWork("overdue-nodes", self._node_overdue, 1)
        self._report: Callable[[Report], None] | None = None
        self._nodes: Informer[NodeView] | None = None
        self._pods: Informer[Pod] | None = None

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
            self._maker.priority_class(self._options.priority_class)
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
            self._work.start()
            self._overdue.start()
            self._native.open(self._tell, self._unplanned_changed)
        self._listed()

    def start(self, order: StartOrder) -> None:
        if is_adopted(order.program):
            self._native.start(order)
            return
        with self._known.lock:
            self._known.runs.start(order, self._options.namespace(order.workspace))
        self._work.mark(order.job)

    def stop(self, order: StopOrder) -> None:
        if self._native.has(order.job):
            self._native.stop(order)
            return
        with self._known.lock:
            self._known.runs.stop(order)
        self._work.mark(order.job)

    def restart(self, order: RestartOrder) -> None:
        with self._known.lock:
            self._known.runs.restart(order.job, order.run, order.key)
        self._work.mark(order.job)

    def recall(self, orders: Sequence[StartOrder]) -> None:
        with self._known.lock:
            for order in orders:
                if order.module is Module.EAS and not is_adopted(order.program):
                    self._known.runs.recall(order)
        self._native.recall([order for order in orders if is_adopted(order.program)])

    def observe(self) -> Observed:
        self._listed()
        adopted = self._native.observe()
        running, exits, nodes = self._known.observed()
        return Observed((*running, *adopted.running), (*exits, *adopted.exits), nodes)

    def forget(self, job: JobId, run: int) -> None:
        if self._native.has(job):
            self._native.forget(job, run)
            return
        for report in self._known.forget(job, run):
            self._tell(report)
        self._work.mark(job)

    def endpoint(self, job: JobId, run: int) -> Endpoint | None:
        """The Service of a notebook or service; a notebook's token stands in the Secret of its run."""
        with self._known.lock:
            found = self._known.runs.find(job, run)
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
        with self._known.lock:
            found = self._known.runs.find(job, run)
            known = found.pods.get(replica) if found is not None else None
        if known is None:
            return None
        where, view = known
        return read_log(self._cluster, where, offset, limit, over=view.over, container=view.container)

    def close(self) -> None:
        with self._known.lock:
            self._report = None
        for informer in (self._nodes, self._pods):
            if informer is not None:
                informer.close()
        if self._nodes is not None:
            self._native.close()
            self._work.close()
            self._overdue.close()
        self._cluster.close()

    # -- what the cluster says -------------------------------------------------------------------------------------

    def _listed(self) -> None:
        assert self._nodes is not None
        assert self._pods is not None
        for informer in (self._nodes, self._pods):
            if not informer.wait(LIST_SECONDS):
                raise EngineUnavailable(informer.error or "the cluster has not been listed yet")

    def _keep_pod(self, pod: Object) -> Pod | None:
        mine = pod_view(pod, self._options.gpu_resources)
        if mine is not None or self._native.was_placed(pod["metadata"]["uid"]):
            return mine
        return foreign_pod(pod, self._options)

    def _unplanned_changed(self, before: ForeignPod | None, after: ForeignPod | None) -> None:
        """Count what pods have that say they belong to an adopted object and were not planned."""
        with self._known.lock:
            told = self._known.inventory.pod_changed(before, after)
        for one in told:
            self._tell(one)

    def _node_changed(self, key: Key, before: NodeView | None, after: NodeView | None) -> None:
        told = self._known.node_changed(before, after)
        if told is not None:
            self._tell(told)
        self._look_later(key.name)

    def _look_later(self, node: str) -> None:
        """Have a node told as lost, or as gone, when it has not been ready, or not been there, for long enough."""
        with self._known.lock:
            waits_ms = self._known.inventory.changes_in_ms(node)
        if waits_ms:
            self._overdue.mark(node, waits_ms / 1000 + 0.05)

    def _node_overdue(self, node: str) -> None:
        with self._known.lock:
            told = self._known.inventory.seen(node)
        if told is not None:
            self._tell(told)
            self._look_later(node)

    def _pod_changed(self, key: Key, before: Pod | None, after: Pod | None) -> None:
        for report in self._known.pod_changed(key, before, after):
            self._tell(report)
        view = after if isinstance(after, PodView) else before
        if isinstance(view, PodView):
            self._work.mark(view.job)

    def _tell(self, report: Report) -> None:
        with self._known.lock:
            tell = self._report
        if tell is not None:
            tell(report)


def _decoded(secret: Object, name: str) -> str:
    return base64.b64decode((secret.get("data") or {}).get(name, "")).decode()
