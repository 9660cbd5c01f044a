"""How is an object that somebody else made run, stopped and followed? Its controller makes the pods; we say when and where.

    start ─> gate in the templates, run and places as annotations, resume ─> each pod that appears gets a place ─> Confirmed
    stop  ─> suspend: the controller deletes the pods, with their grace ─> none is left ─> Left
    end   ─> a condition of the object says so, and no pod lives ─> Exited

Orders and what the cluster tells only change what is known and mark a job; the work looks at it and does what is missing.
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
from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted import Adoptable
from quotatree.engines.kubernetes.adopted_runs import AdoptedRun, AdoptedRuns
from quotatree.engines.kubernetes.adopted_view import (
    ObjectView,
    PodView,
    Spot,
    object_view,
    pod_view,
    run_name,
    unseen,
)
from quotatree.engines.kubernetes.adopted_work import AdoptedWork
from quotatree.engines.kubernetes.client import Cluster
from quotatree.engines.kubernetes.informer import Informer
from quotatree.engines.kubernetes.kinds import PODS, Key
from quotatree.engines.kubernetes.pod_reading import milliseconds

QUOTA_LABEL: Final = f"{adopted.DOMAIN}/quota"
FIELD: Final = "object"
LIST_SECONDS: Final = 30.0


def is_adopted(program: Program) -> bool:
    return FIELD in program


class Native:
    """The part of an engine that deals with adopted objects; methods as those of `Engine`."""

    def __init__(self, cluster: Cluster, sorts: Iterable[Adoptable]) -> None:
        self._cluster = cluster
        self._sorts = {sort.name: sort for sort in sorts}
        self._by_type = {(sort.kind.api, sort.kind.name): sort for sort in self._sorts.values()}
        self._report: Callable[[Report], None] = lambda _: None
        self._lock = threading.Lock()
        self._known = AdoptedRuns()
        self._informers: list[Informer[Any]] = [
            Informer(cluster, sort.kind, partial(object_view, sort), self._object_changed, labels=QUOTA_LABEL)
            for sort in self._sorts.values()
        ]
        self._informers.append(Informer(cluster, PODS, pod_view, self._pod_changed, labels=adopted.OBJECT))
        self._work = AdoptedWork(cluster, self._sorts, self._known, self._lock, self._tell)

    # -- as an engine ----------------------------------------------------------------------------------------------

    def refuses(self, job: JobSpec, program: Program) -> str | None:
        """Why this object cannot be run, or None."""
        said = program[FIELD]
        wanted = ("apiVersion", "kind", "namespace", "name", "uid")
        if set(program) != {FIELD} or not isinstance(said, Mapping) or set(said) != set(wanted):
            return (
                f"the program of an adopted object is {{{FIELD}: {{{', '.join(wanted)}}}}} and nothing else"
            )
        if (said["apiVersion"], said["kind"]) not in self._by_type:
            known = ", ".join(sorted(self._sorts))
            return f"objects of kind {said['kind']} ({said['apiVersion']}) are not adopted here; adopted: {known}"
        if job.elastic:
            return "an adopted object runs whole: min_replicas, replicas and max_replicas must be the same"
        return None

    def open(self, report: Callable[[Report], None]) -> None:
        self._report = report
        for informer in self._informers:
            informer.start()
        self._work.start()

    def has(self, job: JobId) -> bool:
        with self._lock:
            return job in self._known.runs

    def start(self, order: StartOrder) -> None:
        said = order.program[FIELD]
        sort = self._by_type[said["apiVersion"], said["kind"]]
        with self._lock:
            known = self._known.runs.get(order.job)
            if known is not None and known.run == order.run:
                self._work.mark(order.job)
                return
            spots = tuple(Spot(-1, one.node) for one in sorted(order.replicas))
            run = AdoptedRun(order.job, order.run, said["uid"], spots)
            self._known.begin(run)
            if run.thing not in self._known.objects:  # made just now, and not seen yet
                self._known.objects[run.thing] = unseen(sort, Key(said["namespace"], said["name"]), run.thing)
            self._work.mark(order.job)

    def stop(self, order: StopOrder) -> None:
        """Suspend the object. It runs whole, so whichever replicas are named, all of them go."""
        with self._lock:
            run = self._known.runs.get(order.job)
            if run is not None and run.run == order.run and not run.over:
                run.stopping = True
                run.at_once = order.grace_ms == 0
                self._work.mark(order.job)

    def observe(self) -> Observed:
        """What runs by the objects' own words. Raises EngineUnavailable if they cannot be listed now."""
        for informer in self._informers:
            if not informer.wait(LIST_SECONDS):
                raise EngineUnavailable(informer.error or "objects and pods are not listed yet")
        with self._lock:
            found = self._known.observed()
            for one in found.running:
                self._work.mark(one.job)
        return found

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

    def close(self) -> None:
        for informer in self._informers:
            informer.close()
        self._work.close()

    # -- what the cluster tells ------------------------------------------------------------------------------------

    def _object_changed(self, key: Key, before: ObjectView | None, after: ObjectView | None) -> None:
        del key
        with self._lock:
            self._mark(self._known.object_changed(before, after))
        if (
            before is not None
            and after is not None
            and after.checkpoint not in ("", before.checkpoint)
            and after.job
        ):
            self._tell(Checkpointed(JobId(after.job), after.run, milliseconds(after.checkpoint)))

    def _pod_changed(self, key: Key, before: PodView | None, after: PodView | None) -> None:
        with self._lock:
            self._mark(self._known.pod_changed(key, before, after))

    def _tell(self, report: Report) -> None:
        self._report(report)

    def _mark(self, things: Iterable[str]) -> None:
        """Have the jobs looked at that run as these objects; with the lock."""
        for thing in things:
            job = self._known.job_of(thing)
            if job is not None:
                self._work.mark(job)
