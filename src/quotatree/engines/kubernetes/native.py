"""How is an object that somebody else made run, stopped and followed? Its controller makes the pods; we say when and where.

    start ─> gate in the templates, run and places as annotations, resume ─> each pod that appears gets a place ─> Confirmed
    stop  ─> suspend: the controller deletes the pods, with their grace ─> none is left ─> Left
    end   ─> a condition of the object says so, and no pod lives ─> Exited

Every step looks at what is there and does what is missing, so any of them may be repeated, by another server too: what a run
is stands on the object. Orders and changes only mark a job; `_settle` works on one job at a time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from quotatree.core import JobId, JobSpec
from quotatree.engines.base import (
    Checkpointed,
    Confirmed,
    EngineUnavailable,
    Exited,
    Left,
    Lost,
    Observed,
    Outcome,
    Program,
    Report,
    Running,
    StartOrder,
    StopOrder,
)
from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted import Adoptable
from quotatree.engines.kubernetes.adopted_view import (
    ObjectView,
    PodView,
    Spot,
    free_spots,
    object_view,
    places_text,
    placing,
    pod_view,
    run_name,
    unseen,
)
from quotatree.engines.kubernetes.client import Cluster
from quotatree.engines.kubernetes.due_work import DueWork
from quotatree.engines.kubernetes.errors import Clash, ClusterError, Missing
from quotatree.engines.kubernetes.informer import Informer
from quotatree.engines.kubernetes.kinds import PODS, Key, Object
from quotatree.engines.kubernetes.pod_reading import milliseconds

QUOTA_LABEL: Final = f"{adopted.DOMAIN}/quota"
FIELD: Final = "object"
LIST_SECONDS: Final = 30.0
UNPLACED_SECONDS: Final = 20.0
"""How long kube-scheduler may find no node for a pod that we gave one, before its job counts as lost."""
WORKERS: Final = 4


@dataclass(slots=True)
class _Run:
    """One run that was ordered or found. `spots` by replica; `told`: replicas that were reported as running."""

    job: JobId
    run: int
    thing: str
    spots: tuple[Spot, ...]
    stopping: bool = False
    at_once: bool = False
    told: set[int] = field(default_factory=set)
    sent: dict[str, int] = field(default_factory=dict)
    """Replicas of pods, by uid, whose place was sent."""
    resumed: bool = False
    over: bool = False
    unplaced_since: float | None = None

    @property
    def name(self) -> str:
        return run_name(self.job, self.run)

    @property
    def all(self) -> tuple[int, ...]:
        return tuple(range(len(self.spots)))


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
        self._runs: dict[JobId, _Run] = {}
        self._objects: dict[str, ObjectView] = {}  # by uid
        self._pods: dict[str, dict[Key, PodView]] = {}  # by uid of their object
        self._jobs: dict[str, JobId] = {}  # by uid of the object
        self._informers: list[Informer[Any]] = [
            Informer(cluster, sort.kind, partial(object_view, sort), self._object_changed, labels=QUOTA_LABEL)
            for sort in self._sorts.values()
        ]
        self._informers.append(Informer(cluster, PODS, pod_view, self._pod_changed, labels=adopted.OBJECT))
        self._work = DueWork(self._look, WORKERS)

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
            return job in self._runs

    def start(self, order: StartOrder) -> None:
        said = order.program[FIELD]
        sort = self._by_type[said["apiVersion"], said["kind"]]
        with self._lock:
            known = self._runs.get(order.job)
            if known is not None and known.run == order.run:
                self._work.mark(order.job)
                return
            spots = tuple(Spot(-1, one.node) for one in sorted(order.replicas))
            run = _Run(order.job, order.run, said["uid"], spots)
            self._runs[order.job] = run
            self._jobs[run.thing] = order.job
            if run.thing not in self._objects:  # made just now, and not seen yet
                self._objects[run.thing] = unseen(sort, Key(said["namespace"], said["name"]), run.thing)
            self._work.mark(order.job)

    def stop(self, order: StopOrder) -> None:
        """Suspend the object. It runs whole, so whichever replicas are named, all of them go."""
        with self._lock:
            run = self._runs.get(order.job)
            if run is not None and run.run == order.run and not run.over:
                run.stopping = True
                run.at_once = order.grace_ms == 0
                self._work.mark(order.job)

    def observe(self) -> Observed:
        """What runs by the objects' own words. Raises EngineUnavailable if they cannot be listed now."""
        for informer in self._informers:
            if not informer.wait(LIST_SECONDS):
                raise EngineUnavailable(informer.error or "objects and pods are not listed yet")
        running, exits = [], []
        with self._lock:
            for view in self._objects.values():
                if not view.job:
                    continue
                living = [
                    pod
                    for pod in self._pods_of(view.uid)
                    if pod.alive and pod.run == run_name(view.job, view.run)
                ]
                if view.ended is not None and not living:
                    exits.append(_exit(JobId(view.job), view.run, view.ended))
                    continue
                run = self._found(view)
                seen = (
                    run.all
                    if not view.suspended
                    else tuple(sorted({p.replica for p in living if p.replica is not None}))
                )
                if seen:
                    running.append(Running(run.job, run.run, seen))
                    self._work.mark(run.job)
                else:
                    self._drop(run)
        return Observed(tuple(running), tuple(exits))

    def forget(self, job: JobId, run: int) -> None:
        """The end of a run is written down: the object need not say any more that it ran."""
        with self._lock:
            known = self._runs.get(job)
            if known is not None and known.run == run and known.over:
                self._drop(known)

    def pod_of(self, job: JobId, run: int, replica: int) -> Key | None:
        """The pod of a replica, for its output; None if there is none."""
        with self._lock:
            known = self._runs.get(job)
            if known is None:
                return None
            name = run_name(job, run)
            pods = [pod for pod in self._pods_of(known.thing) if pod.run == name and pod.replica == replica]
            return max(pods, key=lambda pod: (pod.alive, pod.key)).key if pods else None

    def close(self) -> None:
        for informer in self._informers:
            informer.close()
        self._work.close()

    # -- what the cluster tells ------------------------------------------------------------------------------------

    def _object_changed(self, key: Key, before: ObjectView | None, after: ObjectView | None) -> None:
        del key
        with self._lock:
            if before is not None and (after is None or after.uid != before.uid):
                self._objects.pop(before.uid, None)
                self._mark_object(before.uid)
            if after is not None:
                self._objects[after.uid] = after
                self._mark_object(after.uid)
        if (
            before is not None
            and after is not None
            and after.checkpoint not in ("", before.checkpoint)
            and after.job
        ):
            self._report(Checkpointed(JobId(after.job), after.run, milliseconds(after.checkpoint)))

    def _pod_changed(self, key: Key, before: PodView | None, after: PodView | None) -> None:
        with self._lock:
            for view in (before, after):
                if view is None:
                    continue
                pods = self._pods.setdefault(view.thing, {})
                pods.pop(key, None)
                if view is after:
                    pods[key] = after
                elif not pods:
                    del self._pods[view.thing]
                self._mark_object(view.thing)

    # -- the work --------------------------------------------------------------------------------------------------

    def _mark_object(self, uid: str) -> None:
        job = self._jobs.get(uid)
        if job is not None:
            self._work.mark(job)

    def _look(self, job: JobId) -> None:
        with self._lock:
            run = self._runs.get(job)
        if run is not None:
            self._settle(run)

    def _settle(self, run: _Run) -> None:
        """Do what is missing for this run, by what is there."""
        with self._lock:
            if run.over or self._runs.get(run.job) is not run:
                return
            view = self._objects.get(run.thing)
            pods = self._pods_of(run.thing)
        living = [pod for pod in pods if pod.alive]
        if view is None:
            self._gone(run, living)
        elif view.ended is not None and view.job in (run.job, ""):
            self._ended(run, view.ended, living)
        elif run.stopping:
            self._stop(run, view, living)
        elif (view.job, view.run) != (run.job, run.run):
            self._resume(run, view, living)
        elif view.suspended:
            self._suspended_by_hand(run, living)
        else:
            self._place(run, living)
            self._confirm(run, living)

    def _gone(self, run: _Run, living: list[PodView]) -> None:
        """The object was deleted: its pods go, and then nothing is left."""
        if living:
            return
        if run.stopping:
            self._finish(run, Left(run.job, run.run, run.all))
        else:
            self._finish(run, Lost(run.job, run.run, run.all, "the object was deleted"))

    def _ended(self, run: _Run, ended: tuple[bool, str], living: list[PodView]) -> None:
        if living:
            return
        if run.stopping and not ended[0]:
            self._finish(run, Left(run.job, run.run, run.all))
        else:
            self._finish(run, _exit(run.job, run.run, ended))

    def _stop(self, run: _Run, view: ObjectView, living: list[PodView]) -> None:
        """Suspend the object and wait until no pod lives, those at the gate included: one may have passed unseen."""
        seen = not run.resumed or (view.job, view.run) == (run.job, run.run)
        if not seen or not view.suspended:
            self._suspend(run, view)
        if run.at_once:
            for pod in living:
                self._cluster.delete(PODS, pod.key.namespace, pod.key.name, grace_seconds=0, uid=pod.uid)
        if seen and not living:
            self._finish(run, Left(run.job, run.run, run.all))

    def _resume(self, run: _Run, view: ObjectView, living: list[PodView]) -> None:
        """Write run and places on the object and resume it, in one change: it never runs without saying for whom.

        Pods of an earlier run are left only where a node was lost: they are told to go, and not waited for (R5).
        """
        for pod in living:
            if pod.run not in ("", run.name) and not pod.deleting:
                self._cluster.delete(PODS, pod.key.namespace, pod.key.name, uid=pod.uid)
        sort = self._sorts[view.sort]
        thing = self._cluster.get(sort.kind, view.key.namespace, view.key.name)
        if thing["metadata"]["uid"] != run.thing:
            raise Missing(404, "NotFound", "another object has its name now")
        before = object_view(sort, thing)
        if before.job == run.job and before.run > run.run:  # another server leads and has gone on
            with self._lock:
                self._drop(run)
            return
        groups = [
            number for number, one in enumerate(adopted.templates(sort, thing)) for _ in range(one.pods)
        ]
        if len(groups) != len(run.spots):
            why = f"the object now asks for {len(groups)} pods, not {len(run.spots)}"
            self._finish(run, Lost(run.job, run.run, run.all, why))
            return
        run.spots = tuple(Spot(group, spot.node) for group, spot in zip(groups, run.spots, strict=True))
        patch = adopted.adoption(sort, thing)
        notes = {adopted.JOB: run.job, adopted.RUN: run.name, adopted.PLACES: places_text(run.spots)}
        version = thing["metadata"]["resourceVersion"]
        adopted.merge(patch, {"metadata": {"annotations": notes, "resourceVersion": version}})
        adopted.merge(patch, adopted.suspension(sort, False))
        run.resumed = True  # before the answer, which may get lost
        self._merge(view, patch)

    def _suspend(self, run: _Run, view: ObjectView) -> None:
        self._merge(
            view, {"metadata": {"uid": run.thing}, **adopted.suspension(self._sorts[view.sort], True)}
        )

    def _suspended_by_hand(self, run: _Run, living: list[PodView]) -> None:
        if not living:
            self._finish(run, Lost(run.job, run.run, run.all, "the object was suspended by somebody else"))

    def _place(self, run: _Run, pods: list[PodView]) -> None:
        for pod, replica in free_spots(pods, run.name, run.spots, run.sent):
            run.sent[pod.uid] = replica  # before the answer, which may get lost
            patch = placing(pod, run.name, replica, run.spots[replica].node)
            try:
                self._cluster.merge(PODS, pod.key.namespace, pod.key.name, patch)
            except ClusterError as error:
                if error.transient:
                    raise
                del run.sent[pod.uid]  # refused: it is gone, or another; the next change tells
                if not isinstance(error, Missing | Clash):
                    raise
        waiting = [pod.unplaced for pod in pods if pod.unplaced and pod.run == run.name]
        if not waiting:
            run.unplaced_since = None
            return
        since = run.unplaced_since = run.unplaced_since or time.monotonic()
        left = since + UNPLACED_SECONDS - time.monotonic()
        if left > 0:
            self._work.mark(run.job, left)
            return
        view = self._objects.get(run.thing)
        if view is not None:
            self._merge(
                view, {"metadata": {"uid": run.thing}, **adopted.suspension(self._sorts[view.sort], True)}
            )
            self._finish(run, Lost(run.job, run.run, run.all, f"kube-scheduler: {waiting[0]}"))

    def _confirm(self, run: _Run, living: list[PodView]) -> None:
        new = {pod.replica for pod in living if pod.phase == "Running" and pod.replica is not None} - run.told
        if new:
            run.told |= new
            self._report(Confirmed(run.job, run.run, tuple(sorted(new))))

    def _finish(self, run: _Run, report: Report) -> None:
        with self._lock:
            run.over = True
            if not isinstance(report, Exited):
                self._drop(run)
        self._report(report)

    def _merge(self, view: ObjectView, patch: Object) -> None:
        sort = self._sorts[view.sort]
        self._cluster.merge(sort.kind, view.key.namespace, view.key.name, patch)

    # -- small questions; with the lock ----------------------------------------------------------------------------

    def _pods_of(self, uid: str) -> list[PodView]:
        return list(self._pods.get(uid, {}).values())

    def _found(self, view: ObjectView) -> _Run:
        """The run that an object says it is in, which another server may have started."""
        known = self._runs.get(JobId(view.job))
        if known is not None and known.run == view.run:
            return known
        run = _Run(JobId(view.job), view.run, view.uid, view.spots, stopping=view.suspended)
        self._runs[run.job] = run
        self._jobs[run.thing] = run.job
        return run

    def _drop(self, run: _Run) -> None:
        if self._runs.get(run.job) is run:
            del self._runs[run.job]
        if self._jobs.get(run.thing) == run.job:
            del self._jobs[run.thing]


def _exit(job: JobId, run: int, ended: tuple[bool, str]) -> Exited:
    well, words = ended
    return Exited(job, run, Outcome.SUCCEEDED if well else Outcome.FAILED, words)
