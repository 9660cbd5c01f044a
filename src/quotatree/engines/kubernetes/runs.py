"""What is known of each run: what was ordered, which pods there are, and what follows from a change of one. No I/O.

Orders and pods come in any order and more than once. `Runs` keeps both and says what to report; the engine does what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from quotatree.core import JobId, Module
from quotatree.engines.base import (
    Checkpointed,
    Confirmed,
    Exited,
    Hindered,
    Left,
    Lost,
    Outcome,
    ReplicaOrder,
    Report,
    Running,
    StartOrder,
    StopOrder,
    Unfit,
)
from quotatree.engines.kubernetes.kinds import Key, Object
from quotatree.engines.kubernetes.pod_reading import (
    FAILED,
    LOST,
    PENDING,
    RUNNING,
    SUCCEEDED,
    PodView,
    milliseconds,
)

RunKey = tuple[JobId, int]


@dataclass(slots=True)
class Run:
    """One run. Replicas are numbers; a replica that left and comes back in one run begins anew."""

    job: JobId
    number: int
    wanted: dict[int, tuple[StartOrder, ReplicaOrder]] = field(default_factory=dict)
    stopping: dict[int, int] = field(default_factory=dict)
    """Replicas that were told to stop, and their grace in milliseconds."""
    created: set[int] = field(default_factory=set)
    """Replicas whose pod was made by this process."""
    deleted: dict[str, int] = field(default_factory=dict)
    """Pods that were deleted, by uid, with the shortest grace that was given."""
    blocked_since: dict[str, float] = field(default_factory=dict)
    why: dict[int, str] = field(default_factory=dict)
    """Why a replica was given up, to be told when it is gone."""
    pods: dict[int, tuple[Key, PodView]] = field(default_factory=dict)
    ending: Exited | Unfit | None = None
    """How it ended, or that it does not begin, once that is certain; told when nothing of it is left."""
    ended: bool = False
    forgotten: bool = False
    restart: str = ""
    """Key of its last rolling restart; empty without one. Pods that were not made in it, or after it, are to be replaced."""
    replacing: dict[int, Object] = field(default_factory=dict)
    """Pods to be made again once they are gone, by replica."""
    recalled: dict[int, tuple[StartOrder, ReplicaOrder]] = field(default_factory=dict)
    """How the replicas of a service stand that an earlier server ordered."""
    left_before: set[str] = field(default_factory=set)
    """Pods, by uid, that were leaving when this process first saw them: perhaps for a restart that it is told of later."""
    told_left: set[str] = field(default_factory=set)
    """Pods, by uid, of which it was told that they left, and which are still in the API."""
    vanished: dict[int, str] = field(default_factory=dict)
    """Replicas of which such a pod is gone while no restart was told, and what is to be said of them if none is."""
    vanished_since: dict[int, float] = field(default_factory=dict)
    namespace: str = ""
    """Where its pods are. A pod elsewhere that says it is one of them is somebody's who may not touch this run (W2)."""
    beside: frozenset[str] = frozenset()

    @property
    def living(self) -> list[tuple[Key, PodView]]:
        return [(key, view) for key, view in self.pods.values() if not view.over and not view.left]

    @property
    def begun(self) -> bool:
        """Whether as many replicas began as its core has."""
        views = [view for _, view in self.pods.values()]
        return bool(views) and sum(view.phase not in (PENDING, LOST) for view in views) >= views[0].core

    def give_up(self, why: str) -> None:
        """Note that it cannot begin: nothing more of it is made, and what there is goes."""
        self.wanted.clear()
        self.ending = Unfit(self.job, self.number, why)


class Runs:
    """All runs that are not forgotten, or of which pods are left."""

    def __init__(self) -> None:
        self._runs: dict[RunKey, Run] = {}
        self._of_job: dict[JobId, dict[int, Run]] = {}

    def of_job(self, job: JobId) -> list[Run]:
        return list(self._of_job.get(job, {}).values())

    def find(self, job: JobId, run: int) -> Run | None:
        return self._runs.get((job, run))

    def all(self) -> Iterator[Run]:
        return iter(list(self._runs.values()))

    def drop(self, run: Run) -> None:
        self._runs.pop((run.job, run.number), None)
        rest = self._of_job.get(run.job, {})
        rest.pop(run.number, None)
        if not rest:
            self._of_job.pop(run.job, None)

    def _get(self, job: JobId, number: int) -> Run:
        found = self._runs.get((job, number))
        if found is None:
            found = self._runs[job, number] = Run(job, number)
            self._of_job.setdefault(job, {})[number] = found
        return found

    # -- orders ----------------------------------------------------------------------------------------------------

    def start(self, order: StartOrder, namespace: str) -> None:
        run = self._get(order.job, order.run)
        run.namespace = namespace
        for replica in order.replicas:
            number = replica.replica
            if number not in run.pods or run.pods[number][1].phase == LOST or run.pods[number][1].left:
                run.stopping.pop(number, None)
                run.created.discard(number)
            if number not in run.stopping:
                run.wanted[number] = (order, replica)

    def recall(self, order: StartOrder) -> None:
        """Note how a service stands that an earlier server started."""
        self._get(order.job, order.run).recalled = {one.replica: (order, one) for one in order.replicas}

    def restart(self, job: JobId, number: int, key: str) -> None:
        """Note that all replicas are to be replaced; those that an earlier server took away for it are made again."""
        run = self.find(job, number)
        if run is None:
            return
        run.restart = key
        for replica in run.vanished:
            if replica in run.recalled:
                run.wanted[replica] = run.recalled[replica]
                run.created.discard(replica)
        run.vanished.clear()

    def lost_for_good(self, run: Run) -> list[Report]:
        """What is to be told of replicas whose pods left before anybody here was told why, since no restart came."""
        told: list[Report] = [
            Lost(run.job, run.number, (replica,), words) for replica, words in sorted(run.vanished.items())
        ]
        run.vanished.clear()
        return told

    def stop(self, order: StopOrder) -> Run:
        run = self._get(order.job, order.run)
        numbers = order.replicas if order.replicas is not None else tuple({*run.wanted, *run.pods})
        for number in numbers:
            run.stopping[number] = min(order.grace_ms, run.stopping.get(number, order.grace_ms))
            run.wanted.pop(number, None)
            run.replacing.pop(number, None)
            run.vanished.pop(number, None)
        return run

    def left(self, run: Run) -> list[Report]:
        """What is to be told of replicas that were told to stop, and whose pods hold nothing although they are not gone."""
        found = [(n, run.pods[n][1].uid) for n in run.stopping if n in run.pods and run.pods[n][1].left]
        new = [(number, uid) for number, uid in found if uid not in run.told_left]
        run.told_left.update(uid for _, uid in new)
        return [Left(run.job, run.number, (number,)) for number, _ in new]

    def forget(self, job: JobId, number: int) -> Run:
        run = self._get(job, number)
        run.forgotten = True
        run.wanted.clear()
        return run

    # -- pods ------------------------------------------------------------------------------------------------------

    def pod_changed(self, key: Key, before: PodView | None, after: PodView | None) -> list[Report]:
        """Take over a change of a pod; return what is to be told of it."""
        told: list[Report] = []
        before, after = (
            view if view is not None and self.believes(key, view) else None for view in (before, after)
        )
        if before is not None and (after is None or after.uid != before.uid):
            told += self._gone(before)
            before = None
        if after is not None:
            told += self._seen(key, before, after)
        return told

    def believes(self, key: Key, view: PodView) -> bool:
        """Whether a pod is the replica that it says it is, by where it stands."""
        run = self._runs.get((view.job, view.run))
        return run is None or run.namespace in ("", key.namespace)

    def _gone(self, view: PodView) -> list[Report]:
        run = self._get(view.job, view.run)
        known = run.pods.get(view.replica)
        if known is not None and known[1].uid == view.uid:
            del run.pods[view.replica]
        run.deleted.pop(view.uid, None)
        run.blocked_since.pop(view.uid, None)
        if view.uid in run.told_left:
            run.told_left.discard(view.uid)
            return self._ends(run)
        if view.replica in run.stopping:
            return [*self._ends(run), Left(view.job, view.run, (view.replica,))]
        if run.ending is not None or run.ended or run.forgotten:
            return self._ends(run)
        if view.phase == LOST or view.replica in run.replacing:
            return []
        if view.uid in run.left_before and view.restart != run.restart and view.replica in run.recalled:
            run.wanted[view.replica] = run.recalled[view.replica]  # its turn in the restart had come
            return []
        run.wanted.pop(view.replica, None)
        detail = run.why.pop(view.replica, "") or "its pod was deleted, and not by QuotaTree"
        if view.uid in run.left_before and not run.restart:
            run.vanished[view.replica] = detail
            return []
        return [Lost(view.job, view.run, (view.replica,), detail)]

    def _seen(self, key: Key, before: PodView | None, after: PodView) -> list[Report]:
        run = self._get(after.job, after.run)
        run.pods[after.replica] = (key, after)
        run.namespace = key.namespace
        if before is None and after.leaving and after.module == Module.EAS.value:
            run.left_before.add(after.uid)
        run.beside |= {name for name in after.beside.split(",") if name}
        if after.restart and after.restart == run.restart:
            run.replacing.pop(after.replica, None)
        told: list[Report] = []
        if after.blocked and (before is None or before.blocked != after.blocked):
            told.append(Hindered(after.job, after.run, hindrance(after.blocked, after.unplaced)))
        fresh = before is None or before.phase != after.phase
        if fresh and after.phase == RUNNING and after.replica not in run.stopping:
            told.append(Confirmed(after.job, after.run, (after.replica,)))
        if after.checkpoint and (before is None or before.checkpoint != after.checkpoint):
            told.append(Checkpointed(after.job, after.run, milliseconds(after.checkpoint)))
        goes_on = after.replica in run.stopping or after.replica in run.replacing
        if fresh and after.over and not goes_on and after.uid not in run.left_before:
            told += self._over(run, after)
        return told + (self._ends(run) if after.over else [])

    def _over(self, run: Run, view: PodView) -> list[Report]:
        """What the end of a pod, which nobody asked for, means for its run."""
        if run.ending is not None or run.ended or run.forgotten:
            return []
        if view.phase == LOST or view.module == Module.EAS.value:
            run.wanted.pop(view.replica, None)
            return [Lost(view.job, view.run, (view.replica,), view.detail or "its pod ended")]
        run.ending = outcome(run)
        return []

    def _ends(self, run: Run) -> list[Report]:
        """The end of the run, if it is certain and nothing of it is left."""
        if run.ending is None or run.ended or run.living:
            return []
        run.ended = True
        return [run.ending]

    def observed(self) -> tuple[list[Running], list[Exited]]:
        """What runs, and what ended and was not forgotten. A replica that finished before the others counts as running."""
        running, exits = [], []
        for run in self.all():
            if not run.pods:
                continue
            ended = run.ending or outcome(run)
            if ended is not None and not run.living and not run.stopping:
                exits += [ended] if isinstance(ended, Exited) else []
                continue
            there = sorted((n, view.restart) for n, (_, view) in run.pods.items() if view.phase != LOST)
            if there:
                numbers, restarts = zip(*there, strict=True)
                running.append(Running(run.job, run.number, numbers, restarts))
        return running, exits


def hindrance(words: str, unplaced: bool) -> str:
    """Why a pod does not start, and who says so."""
    return f"{'kube-scheduler' if unplaced else 'the kubelet'}: {words}"


def outcome(run: Run) -> Exited | None:
    """How a run ended by itself: with the first failure, or when its whole core has succeeded; None while neither is so."""
    views = [view for _, view in run.pods.values() if view.module != Module.EAS.value]
    for view in sorted(views, key=lambda one: one.replica):
        if view.phase == FAILED and not view.leaving and view.replica not in run.stopping:
            which = f"replica {view.replica}: " if view.core > 1 else ""
            return Exited(run.job, run.number, Outcome.FAILED, f"{which}{view.detail}")
    done = [view for view in views if view.phase == SUCCEEDED]
    if done and len(done) >= done[0].core:
        return Exited(run.job, run.number, Outcome.SUCCEEDED)
    return None
