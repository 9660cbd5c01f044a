"""What is known of adopted objects: the objects and their pods as they are, and the run of each that was ordered. No I/O.

A run is known from its order alone: what stands on an object or a pod says only whether the order was carried out. Not safe by
itself: whoever uses it from several threads holds a lock of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from quotatree.core import JobId, Shape
from quotatree.engines.base import Exited, Observed, Outcome, Running
from quotatree.engines.kubernetes.adopted_view import ObjectView, PodView, Spot, run_name


@dataclass(slots=True)
class AdoptedRun:
    """One run that was ordered. `spots` and `shapes` by replica; `told`: replicas that were reported as running."""

    job: JobId
    run: int
    thing: str
    namespace: str
    spots: tuple[Spot, ...]
    shapes: tuple[Shape, ...]
    request: str = ""
    stopping: bool = False
    at_once: bool = False
    told: set[int] = field(default_factory=set)
    sent: dict[str, int] = field(default_factory=dict)
    """Replicas of pods, by uid, whose place was sent."""
    resumed: bool = False
    over: bool = False
    ended: tuple[bool, str] | None = None
    """How the object ended, also when it is gone by now."""
    unfit: str = ""
    """Why the run cannot begin as it was planned."""
    edited: bool = False
    """Whether that is since its object asks for something else."""
    made: set[int] = field(default_factory=set)
    """Replicas that had a pod, as far as was seen since `resumed_at`."""
    resumed_at: float | None = None
    """When this process resumed the object; None: another one did."""
    odd: set[str] = field(default_factory=set)
    """Pods, by uid, that were told to leave since they were not planned."""
    unplaced_since: float | None = None
    given_up: str = ""
    """Why it was suspended although nobody ordered it: its other pods still leave."""
    hindered: str = ""
    """Why its pods do not begin, as was told last."""

    @property
    def name(self) -> str:
        return run_name(self.job, self.run)

    @property
    def all(self) -> tuple[int, ...]:
        return tuple(range(len(self.spots)))

    def has_groups(self, groups: tuple[int, ...]) -> None:
        """Note the pod template of each replica."""
        self.spots = tuple(Spot(group, spot.node) for group, spot in zip(groups, self.spots, strict=True))


class AdoptedRuns:
    """`runs` by job; `objects` by their uid."""

    def __init__(self) -> None:
        self.runs: dict[JobId, AdoptedRun] = {}
        self.objects: dict[str, ObjectView] = {}
        self.recalled = False
        """Whether all runs are known that stood when this server began to lead."""
        self._pods: dict[str, PodView] = {}  # by their uid
        self._of: dict[str, dict[str, None]] = {}  # uids of pods by uid of their object
        self._jobs: dict[str, JobId] = {}  # by uid of the object

    def begin(self, run: AdoptedRun) -> None:
        """Note a run that is to be; it takes the place of an earlier one of its job."""
        self.runs[run.job] = run
        self._jobs[run.thing] = run.job

    def drop(self, run: AdoptedRun) -> None:
        if self.runs.get(run.job) is run:
            del self.runs[run.job]
        if self._jobs.get(run.thing) == run.job:
            del self._jobs[run.thing]

    def run_of(self, thing: str) -> AdoptedRun | None:
        """The run of the object of this uid, if it has one."""
        job = self._jobs.get(thing)
        return None if job is None else self.runs.get(job)

    def things(self) -> list[str]:
        """Uids of all objects that concern us, and of those that pods say they belong to."""
        return [thing for thing in {*self.objects, *self._jobs, *self._of} if self.concerns(thing)]

    def concerns(self, thing: str) -> bool:
        """Whether there may be something to do: the object is ours, or pods have our label with its uid."""
        labelled = any(self._pods[uid].labelled for uid in self._of.get(thing, ()))
        return labelled or self.is_ours(thing)

    def is_ours(self, thing: str) -> bool:
        """Whether the object of this uid runs by order, or says that it wants to be queued."""
        view = self.objects.get(thing)
        return thing in self._jobs or (view is not None and view.labelled)

    def was_placed(self, pod: str) -> bool:
        """Whether the pod of this uid was given a place, whatever stands on it now."""
        known = self._pods.get(pod)
        return known is not None and known.replica is not None

    def pods_of(self, thing: str) -> list[PodView]:
        """Pods of the object of this uid: those beside it, for one elsewhere that says so is forged (W2)."""
        view, run = self.objects.get(thing), self.run_of(thing)
        where = run.namespace if run is not None else view.key.namespace if view is not None else None
        pods = [self._pods[uid] for uid in self._of.get(thing, {})]
        return [pod for pod in pods if where is None or pod.key.namespace == where]

    def object_changed(self, before: ObjectView | None, after: ObjectView | None) -> list[str]:
        """Take over a change; return the uids of the objects that it is about."""
        touched = []
        if before is not None and (after is None or after.uid != before.uid):
            self.objects.pop(before.uid, None)
            run = self.run_of(before.uid)
            if run is not None:
                run.ended = before.ended
            touched.append(before.uid)
        if after is not None:
            self.objects[after.uid] = after
            touched.append(after.uid)
        return touched

    def pod_changed(self, before: PodView | None, after: PodView | None) -> list[str]:
        """Take over a change; return the uids of the objects whose pods it is about."""
        touched: dict[str, None] = {}
        if before is not None and (after is None or after.uid != before.uid):
            gone = self._pods.pop(before.uid, before)
            for thing in gone.things:
                pods = self._of.get(thing, {})
                pods.pop(gone.uid, None)
                if not pods:
                    self._of.pop(thing, None)
                touched[thing] = None
        if after is not None:
            known = self._pods.get(after.uid)
            view = self._pods[after.uid] = after if known is None else _as_known(known, after)
            for thing in view.things:
                self._of.setdefault(thing, {})[view.uid] = None
                touched[thing] = None
        return list(touched)

    def observed(self) -> Observed:
        """What runs of all that was ordered, and what has ended."""
        exits: list[Exited] = []
        running: list[Running] = []
        for run in list(self.runs.values()):
            view = self.objects.get(run.thing)
            living = [pod for pod in self.pods_of(run.thing) if pod.alive and not pod.gated]
            ended = view.ended if view is not None else run.ended
            if ended is not None and not living:
                exits.append(exit_of(run.job, run.run, ended))
            else:
                running += self._running(run, view, living)
        return Observed(tuple(running), tuple(exits))

    def _running(self, run: AdoptedRun, view: ObjectView | None, living: list[PodView]) -> Iterator[Running]:
        begun = view is not None and (view.job, view.run) == (run.job, run.run)
        if begun and view is not None and not view.suspended:
            yield Running(run.job, run.run, run.all)
        elif living:
            seen = {pod.replica for pod in living if pod.replica is not None and pod.replica < len(run.spots)}
            yield Running(run.job, run.run, tuple(sorted(seen)) or run.all)


def _as_known(known: PodView, now: PodView) -> PodView:
    """A pod as it is now, but whose it is and which place it has as it once was: labels can be taken off, pods stay the same."""
    things = tuple(dict.fromkeys([*known.things, *now.things]))
    if known.replica is None:
        return replace(now, things=things)
    return replace(now, things=things, group=known.group, run=known.run, replica=known.replica)


def exit_of(job: JobId, run: int, ended: tuple[bool, str]) -> Exited:
    well, words = ended
    return Exited(job, run, Outcome.SUCCEEDED if well else Outcome.FAILED, words)
