"""What is missing for the runs of a job, and who does it? One look makes or deletes what the pods there are do not show.

A look may be repeated at any time, after a crash by another server too: all names follow from job, run and replica. A pod is
never deleted by force: whoever is told that it is gone must be able to believe it.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Final

from quotatree.core import JobId
from quotatree.engines.base import Left, Lost, ReplicaOrder, Report, StartOrder
from quotatree.engines.kubernetes import pod_building as build
from quotatree.engines.kubernetes.client import Cluster
from quotatree.engines.kubernetes.due_work import DueWork
from quotatree.engines.kubernetes.errors import Clash, ClusterError, Missing
from quotatree.engines.kubernetes.kinds import PODS, SECRETS, SERVICES, VOLUME_CLAIMS, Key
from quotatree.engines.kubernetes.known import Known
from quotatree.engines.kubernetes.making import Maker
from quotatree.engines.kubernetes.options import KubernetesOptions
from quotatree.engines.kubernetes.pod_reading import FAILED, LOST, PENDING, SUCCEEDED, PodView, pod_view
from quotatree.engines.kubernetes.pod_request import WrongRequest
from quotatree.engines.kubernetes.program import parse
from quotatree.engines.kubernetes.runs import Run

WORKERS: Final = 16
SHORTEST_GRACE_SECONDS: Final = 1
"""A grace of 0 would take the pod out of the API while its containers may still run."""
RESTART_LOOK_SECONDS: Final = 1.0
OCCUPIED_LOOK_SECONDS: Final = 0.3
VANISHED_SECONDS: Final = 10.0
"""How long nothing is told of a replica that left before this server was told why: perhaps it was restarted."""
LONGEST_SECONDS: Final = 10**9


class PodWork:
    """`mark` says that there may be something to do for a job; threads of this do it, after `start`."""

    def __init__(
        self,
        cluster: Cluster,
        options: KubernetesOptions,
        known: Known,
        maker: Maker,
        tell: Callable[[Report], None],
    ) -> None:
        self._cluster = cluster
        self._options = options
        self._known = known
        self._maker = maker
        self._tell = tell
        self._due: DueWork[JobId] = DueWork("kubernetes", self._settle, WORKERS)
        self.mark = self._due.mark
        self.start = self._due.start
        self.close = self._due.close

    def _settle(self, job: JobId) -> None:
        """Do what is missing for the runs of a job: one look, which may be repeated at any time."""
        with self._known.lock:
            runs = self._known.runs.of_job(job)
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
                self._tell_vanished(run)

    def _start_replicas(self, run: Run) -> None:
        with self._known.lock:
            missing = [
                (number, *wanted)
                for number, wanted in sorted(run.wanted.items())
                if number not in run.created and (number not in run.pods or run.pods[number][1].phase == LOST)
            ]
            blocked = bool(missing) and self._known.occupied(run, {replica.node for _, _, replica in missing})
        if blocked:
            self._due.mark(run.job, OCCUPIED_LOOK_SECONDS)
            return
        for number, order, replica in missing:
            try:
                self._create(run, order, replica, first=number == missing[0][0])
            except ClusterError as error:
                if error.transient or isinstance(error, Missing | Clash):
                    raise
                with self._known.lock:
                    run.wanted.pop(number, None)
                self._tell(Lost(run.job, run.number, (number,), f"the cluster refused its pod: {error}"))
                continue
            with self._known.lock:
                run.created.add(number)

    def _create(self, run: Run, order: StartOrder, replica: ReplicaOrder, first: bool) -> None:
        program = parse(order.program, order.module)
        namespace = self._options.namespace(order.workspace)
        self._maker.namespace(namespace, order.workspace)
        try:
            if first:
                if build.needs_service(order):
                    self._maker.make(SERVICES, namespace, build.service(order, program))
                if build.needs_secret(order, program):
                    self._maker.make(
                        SECRETS, namespace, build.secret(order, program, secrets.token_urlsafe(24))
                    )
                if program.storage:
                    self._maker.make(
                        VOLUME_CLAIMS, namespace, build.volume_claim(order, program, self._options)
                    )
            resource = self._known.inventory.gpu_resource(replica.node) or self._options.gpu_resources[0]
            try:
                pod = build.pod(order, replica, program, self._options, resource, run.restart)
            except WrongRequest as wrong:  # of a job that an older version took
                raise ClusterError(422, "Invalid", str(wrong)) from wrong
            with self._known.lock:
                run.beside |= set(build.beside(order, program))
            try:
                self._cluster.create(PODS, namespace, pod)
            except Clash:
                self._settle_clash(namespace, pod["metadata"]["name"])
        except Missing:
            self._maker.namespace_gone(namespace)
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
        with self._known.lock:
            told = dict(run.stopping)
            pods = dict(run.pods)
            never = tuple(n for n in told if n not in pods and n not in run.created)
        for number, grace_ms in told.items():
            if number in pods:
                self._delete(run, *pods[number], grace_ms)
            elif number in run.created and run.namespace:
                name = build.pod_name(run.job, run.number, number)
                self._cluster.delete(PODS, run.namespace, name, grace_seconds=_seconds(grace_ms))
        with self._known.lock:
            left = self._known.runs.left(run)
            for number in never:
                run.stopping.pop(number, None)
        if never:
            left.append(Left(run.job, run.number, never))
        for report in left:
            self._tell(report)

    def _delete(self, run: Run, key: Key, view: PodView, grace_ms: int | None) -> None:
        """Delete a pod with a grace, None being the job's own that the pod carries; once, unless it is to go sooner."""
        seconds = None if grace_ms is None else _seconds(grace_ms)
        counted = LONGEST_SECONDS if seconds is None else seconds
        if run.deleted.get(view.uid, counted + 1) <= counted:
            return
        self._cluster.delete(PODS, key.namespace, key.name, grace_seconds=seconds, uid=view.uid)
        with self._known.lock:
            run.deleted[view.uid] = counted

    def _give_up_blocked(self, run: Run) -> None:
        """Take back pods that kube-scheduler or the kubelet will not start; their jobs are queued again, with a pause.

        A run that never began since kube-scheduler has another mind is given up: victims may have left for it, and none is
        to leave a second time (P7).
        """
        now = time.monotonic()
        with self._known.lock:
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
                self._due.mark(run.job, limit - (now - since) + 0.1)
                continue
            who = "kube-scheduler did not place it" if view.unplaced else "it could not be started"
            why = f"{who} within {limit} s: {view.blocked}"
            with self._known.lock:
                run.why[view.replica] = why
                if view.unplaced and not run.begun:
                    run.give_up(why)
                    self._due.mark(run.job)
                    return
            self._delete(run, key, view, 0)

    def _restart_one(self, run: Run) -> None:
        """Replace the next replica of a service that is to be restarted, once all the others are ready."""
        with self._known.lock:
            key = run.restart
            pods = [run.pods[number] for number in sorted(run.pods)]
        old = [(where, view) for where, view in pods if view.restart != key]
        if not key or not old:
            return
        self._due.mark(run.job, RESTART_LOOK_SECONDS)
        self._take_over(run, [(where, view) for where, view in old if view.leaving], key)
        if run.replacing or any(view.leaving for _, view in pods) or run.wanted.keys() - run.pods.keys():
            return
        if all(view.ready for _, view in pods if view.restart == key):
            where, view = old[0]
            again = build.again(self._cluster.get(PODS, where.namespace, where.name), key)
            with self._known.lock:
                run.replacing[view.replica] = again
            self._delete(run, where, view, None)

    def _tell_vanished(self, run: Run) -> None:
        """Tell of replicas that left before this server began that they are lost, unless a restart explains it in time."""
        with self._known.lock:
            since = {
                replica: run.vanished_since.setdefault(replica, time.monotonic()) for replica in run.vanished
            }
            if not since:
                run.vanished_since.clear()
                return
            left = min(since.values()) + VANISHED_SECONDS - time.monotonic()
            told = self._known.runs.lost_for_good(run) if left <= 0 else []
        if left > 0:
            self._due.mark(run.job, left)
        for report in told:
            self._tell(report)

    def _take_over(self, run: Run, leaving: list[tuple[Key, PodView]], key: str) -> None:
        """Go on with replicas that a server before this one began to replace: their pods still leave."""
        for where, view in leaving:
            if view.replica in run.replacing or view.replica in run.stopping:
                continue
            again = build.again(self._cluster.get(PODS, where.namespace, where.name), key)
            with self._known.lock:
                run.replacing[view.replica] = again

    def _make_again(self, run: Run) -> None:
        """Make the pods of a rolling restart whose forerunners are gone."""
        with self._known.lock:
            due = [body for number, body in run.replacing.items() if number not in run.pods]
        for body in due:
            self._maker.make(PODS, run.namespace, body)

    def _kept_seconds(self, view: PodView) -> float:
        """How long a pod is still to be kept because somebody may want to read what it printed."""
        if view.leaving or view.phase not in (SUCCEEDED, FAILED):
            return 0.0
        return self._options.output_seconds - (time.time() - view.ended_ms / 1000)

    def _clear(self, run: Run) -> None:
        """Take away what is left of a run whose end is written down; pods that ended stay for a while, for their output."""
        with self._known.lock:
            pods = list(run.pods.values())
        for key, view in pods:
            kept_seconds = self._kept_seconds(view)
            if kept_seconds > 0:
                self._due.mark(run.job, kept_seconds)
            elif not view.leaving:
                self._delete(run, key, view, 0 if view.over else None)
        for kind in (SERVICES, SECRETS):
            if kind.plural in run.beside:
                self._cluster.delete(kind, run.namespace, build.run_name(run.job, run.number))
        with self._known.lock:
            run.beside = frozenset()
            if not run.pods:
                self._known.runs.drop(run)


def _seconds(grace_ms: int) -> int:
    return max(SHORTEST_GRACE_SECONDS, -(-grace_ms // 1000))
