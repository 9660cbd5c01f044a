"""How is an object that somebody else made run, stopped and followed? Its controller makes the pods; we say when and where.

    start ─> gate in the templates, run and places as annotations, resume ─> each pod that appears gets a place ─> Confirmed
    stop  ─> suspend: the controller deletes the pods, with their grace ─> none is left ─> Left
    end   ─> a condition of the object says so, and no pod lives ─> Exited

Orders and what the cluster tells only change what is known and mark an object; the work looks at it and does what is missing.
What is ours is known by uid and by order: labels and annotations can be written by others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from quotatree.core import JobId, JobSpec
from quotatree.engines.base import (
    Checkpointed,
    EngineUnavailable,
    Observed,
    Program,
    Report,
    StartOrder,
    StopOrder,
)
from quotatree.engines.kubernetes.adopted import Adoptable
from quotatree.engines.kubernetes.adopted_plan import REQUEST
from quotatree.engines.kubernetes.adopted_runs import AdoptedRun, AdoptedRuns
from quotatree.engines.kubernetes.adopted_view import (
    ObjectView,
    PodView,
    Spot,
    object_view,
    pod_reader,
    run_name,
    unseen,
)
from quotatree.engines.kubernetes.adopted_work import AdoptedWork
from quotatree.engines.kubernetes.client import Cluster
from quotatree.engines.kubernetes.informer import Informer
from quotatree.engines.kubernetes.kinds import PODS, Key
from quotatree.engines.kubernetes.node_reading import ForeignPod
from quotatree.engines.kubernetes.pod_reading import milliseconds

FIELD: Final = "object"
LIST_SECONDS: Final = 30.0
GPU_NAMES: Final = ("nvidia.com/gpu", "amd.com/gpu")


def is_adopted(program: Program) -> bool:
    return FIELD in program


class Native:
    """The part of an engine that deals with adopted objects; methods as those of `Engine`."""

    def __init__(
        self,
        cluster: Cluster,
        sorts: Iterable[Adoptable],
        gpu_names: tuple[str, ...] = GPU_NAMES,
        *,
        start_seconds: int = 600,
    ) -> None:
        self._cluster = cluster
        self._sorts = {sort.name: sort for sort in sorts}
        self._by_type = {(sort.kind.api, sort.kind.name): sort for sort in self._sorts.values()}
        self._report: Callable[[Report], None] = lambda _: None
        self._lock = threading.Lock()
        self._known = AdoptedRuns()
        self._informers: list[Informer[Any]] = [
            Informer(cluster, sort.kind, partial(object_view, sort), self._object_changed)
            for sort in self._sorts.values()
        ]
        self.read_pod = pod_reader(self._by_type, gpu_names, self.was_placed)
        self._informers.append(Informer(cluster, PODS, self.read_pod, self._pod_changed))
        self._work = AdoptedWork(
            cluster, self._sorts, gpu_names, self._known, self._lock, self._tell, start_seconds=start_seconds
        )

    # -- as an engine ----------------------------------------------------------------------------------------------

    def refuses(self, job: JobSpec, program: Program) -> str | None:
        """Why this object cannot be run, or None."""
        said = program[FIELD]
        wanted = ("apiVersion", "kind", "namespace", "name", "uid")
        if set(program) != {FIELD} or not isinstance(said, Mapping) or set(said) - {REQUEST} != set(wanted):
            return (
                f"the program of an adopted object is {{{FIELD}: {{{', '.join(wanted)}}}}} and nothing else"
            )
        if (said["apiVersion"], said["kind"]) not in self._by_type:
            known = ", ".join(sorted(self._sorts))
            return f"objects of kind {said['kind']} ({said['apiVersion']}) are not adopted here; adopted: {known}"
        if job.elastic:
            return "an adopted object runs whole: min_replicas, replicas and max_replicas must be the same"
        return None

    def open(
        self,
        report: Callable[[Report], None],
        count: Callable[[ForeignPod | None, ForeignPod | None], None] = lambda before, after: None,
    ) -> None:
        """`count(before, after)` is called with what pods use of a node that are ours by their labels and were not planned."""
        self._report = report
        self._work.count = count
        for informer in self._informers:
            informer.start()
        self._work.start()

    def has(self, job: JobId) -> bool:
        with self._lock:
            return job in self._known.runs

    def start(self, order: StartOrder) -> None:
        said = order.program[FIELD]
        with self._lock:
            known = self._known.runs.get(order.job)
            if known is None or known.run != order.run:
                run = self._ordered(order)
                if run.thing not in self._known.objects:  # made just now, and not seen yet
                    sort = self._by_type[said["apiVersion"], said["kind"]]
                    where = Key(said["namespace"], said["name"])
                    self._known.objects[run.thing] = unseen(sort, where, run.thing)
            self._work.mark(said["uid"])

    def _ordered(self, order: StartOrder) -> AdoptedRun:
        """Note the run of an order; with the lock."""
        said, replicas = order.program[FIELD], sorted(order.replicas)
        run = AdoptedRun(
            order.job,
            order.run,
            thing=said["uid"],
            namespace=said["namespace"],
            spots=tuple(Spot(0, one.node) for one in replicas),
            shapes=tuple(one.shape for one in replicas),
            request=said.get(REQUEST, ""),
        )
        self._known.begin(run)
        return run

    def recall(self, orders: Iterable[StartOrder]) -> None:
        """Note the runs that stood when this server began to lead. Whether they were begun stands on their objects."""
        self._wait()
        with self._lock:
            for order in orders:
                known = self._known.runs.get(order.job)
                if known is None or known.run != order.run:
                    self._found(self._ordered(order))
            self._known.recalled = True
            for thing in self._known.things():
                self._work.mark(thing)

    def _found(self, run: AdoptedRun) -> None:
        """Complete a run that an earlier server ordered; with the lock."""
        view = self._known.objects.get(run.thing)
        if view is None:
            return
        run.resumed = (view.job, view.run) == (run.job, run.run)
        written = tuple(spot.group for spot in view.written)
        for groups in (written, view.groups):
            if len(groups) == len(run.spots):
                run.has_groups(groups)
                return

    def stop(self, order: StopOrder) -> None:
        """Suspend the object. It runs whole, so whichever replicas are named, all of them go."""
        with self._lock:
            run = self._known.runs.get(order.job)
            if run is not None and run.run == order.run and not run.over:
                run.stopping = True
                run.at_once = order.grace_ms == 0
                self._work.mark(run.thing)

    def observe(self) -> Observed:
        """What runs of all that was ordered. Raises EngineUnavailable if the cluster cannot be listed now."""
        self._wait()
        with self._lock:
            return self._known.observed()

    def _wait(self) -> None:
        for informer in self._informers:
            if not informer.wait(LIST_SECONDS):
                raise EngineUnavailable(informer.error or "objects and pods are not listed yet")

    def forget(self, job: JobId, run: int) -> None:
        """The end of a run is written down: the object need not say any more that it ran."""
        with self._lock:
            known = self._known.runs.get(job)
            if known is not None and known.run == run and known.over:
                self._known.drop(known)

    def pod_of(self, job: JobId, run: int, replica: int) -> Key | None:
        """The pod of a replica, for its output; None if there is none."""
        with self._lock:
            known = self._known.runs.get(job)
            if known is None:
                return None
            name = run_name(job, run)
            pods = [
                pod for pod in self._known.pods_of(known.thing) if pod.run == name and pod.replica == replica
            ]
            return max(pods, key=lambda pod: (pod.alive, pod.key)).key if pods else None

    def was_placed(self, pod: str) -> bool:
        """Whether the pod of this uid was given a place here."""
        with self._lock:
            return self._known.was_placed(pod)

    def close(self) -> None:
        for informer in self._informers:
            informer.close()
        self._work.close()

    # -- what the cluster tells ------------------------------------------------------------------------------------

    def _object_changed(self, key: Key, before: ObjectView | None, after: ObjectView | None) -> None:
        del key
        with self._lock:
            self._mark(self._known.object_changed(before, after))
            run = None if after is None else self._known.run_of(after.uid)
        if before is None or after is None or run is None or after.checkpoint in ("", before.checkpoint):
            return
        self._tell(Checkpointed(run.job, run.run, milliseconds(after.checkpoint)))

    def _pod_changed(self, key: Key, before: PodView | None, after: PodView | None) -> None:
        del key
        with self._lock:
            things = self._known.pod_changed(before, after)
            self._mark(things)
            if before is not None and before.labelled:  # it may have been counted
                for thing in things:
                    self._work.mark(thing)

    def _tell(self, report: Report) -> None:
        self._report(report)

    def _mark(self, things: Iterable[str]) -> None:
        """Have these objects looked at, but for those that have nothing to do with us; with the lock."""
        for thing in things:
            if self._known.concerns(thing):
                self._work.mark(thing)
