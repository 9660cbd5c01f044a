"""What is missing for the run of an adopted object? One look compares what was ordered with what is there, and does one step.

A look may be repeated at any time, by another server too: what a run is stands on the object. The gate is opened for one pod
after the other, and a step whose answer got lost is seen when the cluster tells what is there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from quotatree.core import JobId
from quotatree.engines.base import Confirmed, Exited, Hindered, Left, Lost, Report
from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted import Adoptable
from quotatree.engines.kubernetes.adopted_runs import AdoptedRun, AdoptedRuns, exit_of
from quotatree.engines.kubernetes.adopted_view import (
    ObjectView,
    PodView,
    Spot,
    free_spots,
    object_view,
    places_text,
    placing,
)
from quotatree.engines.kubernetes.client import Cluster
from quotatree.engines.kubernetes.due_work import DueWork
from quotatree.engines.kubernetes.errors import Clash, ClusterError, Missing
from quotatree.engines.kubernetes.kinds import PODS, Object
from quotatree.engines.kubernetes.runs import hindrance

UNPLACED_SECONDS: Final = 20.0
"""How long kube-scheduler may find no node for a pod that we gave one, before its job counts as lost."""
WORKERS: Final = 4


class AdoptedWork:
    """`mark` says that there may be something to do for a job; threads of this do it, after `start`."""

    def __init__(
        self,
        cluster: Cluster,
        sorts: Mapping[str, Adoptable],
        known: AdoptedRuns,
        lock: threading.Lock,
        tell: Callable[[Report], None],
    ) -> None:
        """`lock` is held while `known` is looked at or changed, here and by whoever else has it."""
        self._cluster = cluster
        self._sorts = sorts
        self._known = known
        self._lock = lock
        self._report = tell
        self._due: DueWork[JobId] = DueWork("native", self._look, WORKERS)
        self.mark = self._due.mark
        self.start = self._due.start
        self.close = self._due.close
        self.look_once = self._due.look_once

    def _look(self, job: JobId) -> None:
        with self._lock:
            run = self._known.runs.get(job)
        if run is not None:
            self._settle(run)

    def _settle(self, run: AdoptedRun) -> None:
        """Do what is missing for this run, by what is there."""
        with self._lock:
            if run.over or self._known.runs.get(run.job) is not run:
                return
            view = self._known.objects.get(run.thing)
            pods = self._known.pods_of(run.thing)
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

    def _gone(self, run: AdoptedRun, living: list[PodView]) -> None:
        """The object was deleted: its pods go, and then nothing is left."""
        if living:
            return
        if run.stopping:
            self._finish(run, Left(run.job, run.run, run.all))
        else:
            self._finish(run, Lost(run.job, run.run, run.all, "the object was deleted"))

    def _ended(self, run: AdoptedRun, ended: tuple[bool, str], living: list[PodView]) -> None:
        if living:
            return
        if run.stopping and not ended[0]:
            self._finish(run, Left(run.job, run.run, run.all))
        else:
            self._finish(run, exit_of(run.job, run.run, ended))

    def _stop(self, run: AdoptedRun, view: ObjectView, living: list[PodView]) -> None:
        """Suspend the object and wait until no pod lives, those at the gate included: one may have passed unseen."""
        seen = not run.resumed or (view.job, view.run) == (run.job, run.run)
        if not seen or not view.suspended:
            self._suspend(run, view)
        if run.at_once:
            for pod in living:
                self._cluster.delete(PODS, pod.key.namespace, pod.key.name, grace_seconds=0, uid=pod.uid)
        if seen and not living:
            self._finish(run, Left(run.job, run.run, run.all))

    def _resume(self, run: AdoptedRun, view: ObjectView, living: list[PodView]) -> None:
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
                self._known.drop(run)
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

    def _suspend(self, run: AdoptedRun, view: ObjectView) -> None:
        self._merge(
            view, {"metadata": {"uid": run.thing}, **adopted.suspension(self._sorts[view.sort], True)}
        )

    def _suspended_by_hand(self, run: AdoptedRun, living: list[PodView]) -> None:
        if not living:
            self._finish(run, Lost(run.job, run.run, run.all, "the object was suspended by somebody else"))

    def _place(self, run: AdoptedRun, pods: list[PodView]) -> None:
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
        if run.hindered != waiting[0]:
            run.hindered = waiting[0]
            self._report(Hindered(run.job, run.run, hindrance(waiting[0], unplaced=True)))
        since = run.unplaced_since = run.unplaced_since or time.monotonic()
        left = since + UNPLACED_SECONDS - time.monotonic()
        if left > 0:
            self._due.mark(run.job, left)
            return
        view = self._known.objects.get(run.thing)
        if view is not None:
            self._suspend(run, view)
            self._finish(run, Lost(run.job, run.run, run.all, f"kube-scheduler: {waiting[0]}"))

    def _confirm(self, run: AdoptedRun, living: list[PodView]) -> None:
        new = {pod.replica for pod in living if pod.phase == "Running" and pod.replica is not None} - run.told
        if new:
            run.told |= new
            self._report(Confirmed(run.job, run.run, tuple(sorted(new))))

    def _finish(self, run: AdoptedRun, report: Report) -> None:
        with self._lock:
            run.over = True
            if not isinstance(report, Exited):
                self._known.drop(run)
        self._report(report)

    def _merge(self, view: ObjectView, patch: Object) -> None:
        sort = self._sorts[view.sort]
        self._cluster.merge(sort.kind, view.key.namespace, view.key.name, patch)
