"""What is known of adopted objects: the objects and their pods as they are, and the run of each that was ordered or found. No I/O.

Not safe by itself: whoever uses it from several threads holds a lock of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from quotatree.core import JobId
from quotatree.engines.base import Exited, Observed, Outcome, Running
from quotatree.engines.kubernetes.adopted_view import ObjectView, PodView, Spot, run_name
from quotatree.engines.kubernetes.kinds import Key


@dataclass(slots=True)
class AdoptedRun:
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
    hindered: str = ""
    """Why kube-scheduler places a pod of it nowhere, as was told last."""

    @property
    def name(self) -> str:
        return run_name(self.job, self.run)

    @property
    def all(self) -> tuple[int, ...]:
        return tuple(range(len(self.spots)))


class AdoptedRuns:
    """`runs` by job; `objects` by their uid."""

    def __init__(self) -> None:
        self.runs: dict[JobId, AdoptedRun] = {}
        self.objects: dict[str, ObjectView] = {}
        self._pods: dict[str, dict[Key, PodView]] = {}  # by uid of their object
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

    def job_of(self, thing: str) -> JobId | None:
        """The job that runs as the object of this uid, if one does."""
        return self._jobs.get(thing)

    def pods_of(self, thing: str) -> list[PodView]:
        """Pods of the object of this uid: those beside it, for one elsewhere that says so is forged (W2)."""
        view = self.objects.get(thing)
        pods = self._pods.get(thing, {}).values()
        return [pod for pod in pods if view is None or pod.key.namespace == view.key.namespace]

    def object_changed(self, before: ObjectView | None, after: ObjectView | None) -> list[str]:
        """Take over a change; return the uids of the objects that it is about."""
        touched = []
        if before is not None and (after is None or after.uid != before.uid):
            self.objects.pop(before.uid, None)
            touched.append(before.uid)
        if after is not None:
            self.objects[after.uid] = after
            touched.append(after.uid)
        return touched

    def pod_changed(self, key: Key, before: PodView | None, after: PodView | None) -> list[str]:
        """Take over a change; return the uids of the objects whose pods it is about."""
        touched = []
        for view in (before, after):
            if view is None:
                continue
            pods = self._pods.setdefault(view.thing, {})
            pods.pop(key, None)
            if view is after:
                pods[key] = after
            elif not pods:
                del self._pods[view.thing]
            touched.append(view.thing)
        return touched

    def observed(self) -> Observed:
        """What runs by the objects' own words: each is noted as a run, which another server may have started."""
        found = [(view, self._living(view)) for view in self.objects.values() if view.job]
        exits = [
            exit_of(JobId(view.job), view.run, view.ended)
            for view, living in found
            if view.ended is not None and not living
        ]
        return Observed(tuple(self._running(found)), tuple(exits))

    def _living(self, view: ObjectView) -> list[PodView]:
        name = run_name(view.job, view.run)
        return [pod for pod in self.pods_of(view.uid) if pod.alive and pod.run == name]

    def _running(self, found: list[tuple[ObjectView, list[PodView]]]) -> Iterator[Running]:
        for view, living in found:
            if view.ended is not None and not living:
                continue
            run = self._found(view)
            seen = run.all
            if view.suspended:
                seen = tuple(sorted({pod.replica for pod in living if pod.replica is not None}))
            if seen:
                yield Running(run.job, run.run, seen)
            else:
                self.drop(run)

    def _found(self, view: ObjectView) -> AdoptedRun:
        """The run that an object says it is in, which another server may have started."""
        known = self.runs.get(JobId(view.job))
        if known is not None and known.run == view.run:
            return known
        run = AdoptedRun(JobId(view.job), view.run, view.uid, view.spots, stopping=view.suspended)
        self.begin(run)
        return run


def exit_of(job: JobId, run: int, ended: tuple[bool, str]) -> Exited:
    well, words = ended
    return Exited(job, run, Outcome.SUCCEEDED if well else Outcome.FAILED, words)
