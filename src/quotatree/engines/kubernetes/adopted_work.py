"""What is missing for an adopted object? One look compares what was ordered with what is there, and does one step.

A look may be repeated at any time, by another server too: what a run is follows from its order. The gate is opened for one pod
after the other, and a step whose answer got lost is seen when the cluster tells what is there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from quotatree.engines.base import Confirmed, Exited, Hindered, Left, Lost, Report, Unfit, Unplanned
from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted import Adoptable
from quotatree.engines.kubernetes.adopted_places import Places, places_of
from quotatree.engines.kubernetes.adopted_plan import object_differs
from quotatree.engines.kubernetes.adopted_runs import AdoptedRun, AdoptedRuns, exit_of
from quotatree.engines.kubernetes.adopted_view import (
    ObjectView,
    PodView,
    groups_of,
    object_view,
    places_text,
    placing,
    run_of,
)
from quotatree.engines.kubernetes.client import Cluster
from quotatree.engines.kubernetes.due_work import DueWork
from quotatree.engines.kubernetes.errors import Clash, ClusterError, Missing
from quotatree.engines.kubernetes.kinds import PODS, Object
from quotatree.engines.kubernetes.node_reading import ForeignPod
from quotatree.engines.kubernetes.runs import hindrance

UNPLACED_SECONDS: Final = 20.0
"""How long kube-scheduler may find no node for a pod that we gave one, before its run ends."""
UNMADE_SECONDS: Final = 20.0
"""After how long it is told that the controller of an object makes no pods; the run ends after the setting `start_seconds`."""
OVERTAKEN_SECONDS: Final = 2.0
"""How long an object that says it is in a later run is left alone: another server leads, or it is put right."""
SHORTEST_GRACE_SECONDS: Final = 1
"""A grace of 0 would take the pod out of the API while its containers may still run."""
MOST_ODD: Final = 3
"""After so many pods that were not planned, from the object's own controller, the run ends."""
WORKERS: Final = 4


class AdoptedWork:
    """`mark` says that there may be something to do for an object, by its uid; threads of this do it, after `start`."""

    def __init__(
        self,
        cluster: Cluster,
        sorts: Mapping[str, Adoptable],
        gpu_names: tuple[str, ...],
        known: AdoptedRuns,
        lock: threading.Lock,
        tell: Callable[[Report], None],
        *,
        start_seconds: int,
    ) -> None:
        """`lock` is held while `known` is looked at or changed. `start_seconds`: how long the pods of a run may take to be made."""
        self._start_seconds = start_seconds
        self._cluster = cluster
        self._sorts = sorts
        self._gpu_names = gpu_names
        self._known = known
        self._lock = lock
        self._report = tell
        self._counted: dict[
            str, dict[str, ForeignPod]
        ] = {}  # pods that were not planned, by uid of their object
        self.count: Callable[[ForeignPod | None, ForeignPod | None], None] = lambda before, after: None
        """Called when a pod that was not planned is on a node, is no more, or has changed."""
        self._due: DueWork[str] = DueWork("adopted", self._look, WORKERS)
        self.mark = self._due.mark
        self.start = self._due.start
        self.close = self._due.close
        self.look_once = self._due.look_once

    def _look(self, thing: str) -> None:
        with self._lock:
            run = self._known.run_of(thing)
            view = self._known.objects.get(thing)
            pods = self._known.pods_of(thing)
            recalled = self._known.recalled
        places = places_of(run, pods)
        if recalled:
            self._count(thing, places.others)
        if run is not None and not run.over:
            self._settle(run, view, places, [pod for pod in pods if pod.alive])
        if recalled:
            self._clear(thing, run, view, places.others)

    def _settle(
        self, run: AdoptedRun, view: ObjectView | None, places: Places, living: list[PodView]
    ) -> None:
        """Do what is missing for this run, by what is there."""
        if view is not None and view.job == run.job and view.run > run.run:
            self._due.mark(run.thing, OVERTAKEN_SECONDS)
            return
        ended = run.ended if view is None else view.ended
        if ended is not None and (view is None or view.job in (run.job, "") or run.resumed):
            self._ended(run, ended, living)
        elif view is None:
            self._gone(run, living)
        elif run.stopping or run.unfit:
            self._stop(run, view, living)
        elif not run.resumed or (view.job, view.run) != (run.job, run.run):
            self._resume(run, view)
        elif view.suspended:
            self._suspended(run, living)
        else:
            self._place(run, view, places)
            self._confirm(run, places)
            self._wait_for_pods(run, view, places)

    # -- pods that were not planned ----------------------------------------------------------------------------------

    def _count(self, thing: str, others: list[PodView]) -> None:
        """Tell what pods use that were not planned. Those without our label are counted by whoever sees all pods."""
        now = {pod.uid: ForeignPod(pod.uid, pod.node, pod.use) for pod in others if pod.node and pod.labelled}
        with self._lock:
            before = self._counted.pop(thing, {})
            if now:
                self._counted[thing] = now
        for uid in {*before, *now}:
            if before.get(uid) != now.get(uid):
                self.count(before.get(uid), now.get(uid))

    def _clear(
        self, thing: str, run: AdoptedRun | None, view: ObjectView | None, others: list[PodView]
    ) -> None:
        """Tell pods to leave that were not planned. The object is asked first whether another server has gone on with it."""
        with self._lock:
            if not self._known.is_ours(thing):
                return
        others = [pod for pod in others if not pod.deleting]
        if not others or (view is not None and self._has_gone_on(run, view)):
            return
        for pod in others:
            self._tell_to_leave(run, pod, f"{pod.key.name}{f' on {pod.node}' if pod.node else ''}")

    def _tell_to_leave(self, run: AdoptedRun | None, pod: PodView, what: str) -> None:
        self._delete(pod)
        if run is not None and pod.uid not in run.odd:
            run.odd.add(pod.uid)
            self._report(Unplanned(run.job, run.run, what))

    def _has_gone_on(self, run: AdoptedRun | None, view: ObjectView) -> bool:
        """Whether the object runs for a run that is not known here; it is looked at again later."""
        sort = self._sorts[view.sort]
        try:
            thing = self._cluster.get(sort.kind, view.key.namespace, view.key.name)
        except Missing:
            return False
        if thing["metadata"]["uid"] != view.uid or adopted.is_suspended(sort, thing):
            return False
        if run is not None and run_of(adopted.note(thing, adopted.RUN)) == (run.job, run.run):
            return False
        self._due.mark(view.uid, OVERTAKEN_SECONDS)
        return True

    def _delete(self, pod: PodView, grace_seconds: int | None = None) -> None:
        """With the grace that the pod asks for, or this one."""
        namespace, name = pod.key
        self._cluster.delete(PODS, namespace, name, grace_seconds=grace_seconds, uid=pod.uid)

    # -- a run -------------------------------------------------------------------------------------------------------

    def _gone(self, run: AdoptedRun, living: list[PodView]) -> None:
        """The object was deleted. Its pods go too, also those that the one who deleted it left behind."""
        for pod in living:
            if not pod.deleting:
                self._delete(pod)
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
        """Suspend the object and wait until no pod lives, those at the gate included: one may have passed unseen.

        Its controller deletes its pods; those that it does not know any more are told to go here.
        """
        seen = not run.resumed or (view.job, view.run) == (run.job, run.run)
        if not seen or not view.suspended:
            self._suspend(run, view)
        for pod in living:
            if run.at_once:
                self._delete(pod, SHORTEST_GRACE_SECONDS)
            elif not pod.deleting and seen and view.suspended:
                self._delete(pod)
        begun = run.resumed or run.stopping
        if seen and (not living or not begun):
            left = Left(run.job, run.run, run.all)
            self._finish(run, left if run.stopping else Unfit(run.job, run.run, run.unfit, run.edited))

    def _resume(self, run: AdoptedRun, view: ObjectView) -> None:
        """Write run and places on the object and resume it, in one change: it never runs without saying for whom.

        Pods of an earlier run are left only where a node was lost: they are told to go, and not waited for (R5).
        """
        sort = self._sorts[view.sort]
        thing = self._cluster.get(sort.kind, view.key.namespace, view.key.name)
        if thing["metadata"]["uid"] != run.thing:
            raise Missing(404, "NotFound", "another object has its name now")
        before = object_view(sort, thing)
        if before.job == run.job and before.run > run.run:
            self._due.mark(run.thing, OVERTAKEN_SECONDS)
            return
        if not run.resumed:
            run.unfit = object_differs(sort, thing, run.shapes, run.request, self._gpu_names)
            if run.unfit:
                run.edited = True
                self._due.mark(run.thing)
                return
            run.has_groups(groups_of(sort, thing))
        patch = adopted.adoption(sort, thing)
        notes = {adopted.JOB: run.job, adopted.RUN: run.name, adopted.PLACES: places_text(run.spots)}
        version = thing["metadata"]["resourceVersion"]
        adopted.merge(patch, {"metadata": {"annotations": notes, "resourceVersion": version}})
        adopted.merge(patch, adopted.suspension(sort, False))
        run.resumed = True  # before the answer, which may get lost
        run.resumed_at = time.monotonic()
        self._merge(view, patch)

    def _suspend(self, run: AdoptedRun, view: ObjectView) -> None:
        self._merge(
            view, {"metadata": {"uid": run.thing}, **adopted.suspension(self._sorts[view.sort], True)}
        )

    def _suspended(self, run: AdoptedRun, living: list[PodView]) -> None:
        """The run is lost once all its pods are gone: by somebody else, or since one of them got no node."""
        if not living:
            words = run.given_up or "the object was suspended by somebody else"
            self._finish(run, Lost(run.job, run.run, run.all, words))

    def _place(self, run: AdoptedRun, view: ObjectView, places: Places) -> None:
        """Let pods pass that were planned, and take away those at the gate that ask for something else."""
        for pod, replica in places.free:
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
        for pod, why in places.odd:
            self._tell_to_leave(run, pod, f"{pod.key.name}: {why}")
            if len(run.odd) >= MOST_ODD and pod.owners:
                self._does_not_begin(run, why)
        self._wait_for_nodes(run, view, [pod for pod in places.planned.values() if pod.unplaced])

    def _wait_for_nodes(self, run: AdoptedRun, view: ObjectView, waiting: list[PodView]) -> None:
        """Give the run up when kube-scheduler does not let one of its pods have its node for too long.

        One that had begun is queued again. For one that had not, victims may have left: it takes none a second time (P7).
        """
        if not waiting:
            run.unplaced_since = None
            return
        words = hindrance(waiting[0].unplaced, unplaced=True)
        self._hinder(run, words)
        since = run.unplaced_since = run.unplaced_since or time.monotonic()
        left = since + UNPLACED_SECONDS - time.monotonic()
        if left > 0:
            self._due.mark(run.thing, left)
            return
        if run.told:
            run.given_up = words
            self._suspend(run, view)  # the rest of its pods leave with their grace, and count until they have
        else:
            self._does_not_begin(run, words)

    def _wait_for_pods(self, run: AdoptedRun, view: ObjectView, places: Places) -> None:
        """Give a run up whose pods are not made: a policy, a ResourceQuota or an account refuses them, or its controller is away.

        Only for a run that this process resumed: of another one, pods may have come and gone.
        """
        run.made.update(places.planned)
        wanted = len(run.spots) if view.to_come is None else min(len(run.spots), view.to_come)
        missing = wanted - len(run.made | run.told)
        if run.resumed_at is None or missing <= 0 or run.unfit:
            return
        waited = time.monotonic() - run.resumed_at
        if waited < UNMADE_SECONDS:
            self._due.mark(run.thing, UNMADE_SECONDS - waited)
            return
        words = f"its controller has made {wanted - missing} of {wanted} pods; `kubectl describe` of the object says why"
        self._hinder(run, words)
        if waited < self._start_seconds:
            self._due.mark(run.thing, self._start_seconds - waited)
        else:
            self._does_not_begin(run, words)

    def _hinder(self, run: AdoptedRun, words: str) -> None:
        if run.hindered != words:
            run.hindered = words
            self._report(Hindered(run.job, run.run, words))

    def _does_not_begin(self, run: AdoptedRun, words: str) -> None:
        run.unfit = words
        self._due.mark(run.thing)

    def _confirm(self, run: AdoptedRun, places: Places) -> None:
        new = {replica for replica, pod in places.planned.items() if pod.phase == "Running"} - run.told
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
