"""Which objects of a cluster can be ours although we did not make them, and where in them stands what we need? Pure.

A kind can be adopted if one field suspends it. What we change of an object is three things: that field; annotations that say
whose it is; and, while it never ran, its pod templates, which get labels and a scheduling gate. The gate keeps every pod from
kube-scheduler until it has its place, so that replicas land where they were planned, one by one, and so that an object that
is resumed behind our back occupies nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from math import prod
from typing import Any, Final, NamedTuple

from quotatree.engines.kubernetes.kinds import JOBS, Kind, Object

DOMAIN: Final = "quotatree.io"
GATE: Final = f"{DOMAIN}/place"
JOB: Final = f"{DOMAIN}/job"
"""Annotation of an object that is queued: the id of our job."""
RUN: Final = f"{DOMAIN}/run"
"""Annotation of an object that was started, and of its pods: our job and its run, as JOB.RUN."""
PLACES: Final = f"{DOMAIN}/places"
"""Annotation of an object that was started: the pod template and the node of each replica, as 0:node-a,0:node-b."""
CHECKPOINT: Final = f"{DOMAIN}/checkpoint"
"""Annotation that the job itself, or its owner, sets anew after every checkpoint (P6)."""
OBJECT: Final = f"{DOMAIN}/object"
"""Label of pods: the uid of the object they belong to, however many controllers stand between."""
GROUP: Final = f"{DOMAIN}/group"
"""Label of pods: the number of their pod template in the object."""
REPLICA: Final = f"{DOMAIN}/replica"
"""Label of pods that have their place."""


class Part(NamedTuple):
    """Where an object has pod templates: at each place that `at` leads to, whose `*` stands for every entry of a table or list.

    `counts` are multiplied to the number of pods, each 1 where it is not said; `at_most` bounds the first of them.
    """

    at: str
    template: str = "template"
    counts: tuple[str, ...] = ()
    at_most: str = ""


@dataclass(frozen=True, slots=True)
class Adoptable:
    """A kind that can be suspended. `ended`: the conditions, or values of `phase`, that mean success and failure."""

    kind: Kind
    suspend: str
    parts: tuple[Part, ...]
    succeeded: tuple[str, ...] = ("Succeeded", "Complete", "Completed")
    failed: tuple[str, ...] = ("Failed",)
    phase: str = ""
    """Where the status says in one word how it stands, for kinds without conditions."""

    @property
    def name(self) -> str:
        """Such as jobs.batch: the plural and the group, as `kubectl get` takes it."""
        return f"{self.kind.plural}.{self.kind.api.partition('/')[0]}"


def _kubeflow(plural: str, name: str, specs: str) -> Adoptable:
    part = Part(f"spec.{specs}.*", counts=("replicas",))
    return Adoptable(Kind("kubeflow.org/v1", plural, name), "spec.runPolicy.suspend", (part,))


BATCH_JOB: Final = Adoptable(
    JOBS, "spec.suspend", (Part("spec", counts=("parallelism",), at_most="completions"),)
)
KNOWN: Final = {
    one.name: one
    for one in (
        BATCH_JOB,
        _kubeflow("pytorchjobs", "PyTorchJob", "pytorchReplicaSpecs"),
        _kubeflow("tfjobs", "TFJob", "tfReplicaSpecs"),
        _kubeflow("xgboostjobs", "XGBoostJob", "xgbReplicaSpecs"),
        _kubeflow("paddlejobs", "PaddleJob", "paddleReplicaSpecs"),
        _kubeflow("jaxjobs", "JAXJob", "jaxReplicaSpecs"),
        Adoptable(
            Kind("kubeflow.org/v2beta1", "mpijobs", "MPIJob"),
            "spec.runPolicy.suspend",
            (Part("spec.mpiReplicaSpecs.*", counts=("replicas",)),),
        ),
        Adoptable(
            Kind("jobset.x-k8s.io/v1alpha2", "jobsets", "JobSet"),
            "spec.suspend",
            (Part("spec.replicatedJobs.*", "template.spec.template", ("template.spec.parallelism", "replicas"), "template.spec.completions"),),
        ),
        Adoptable(
            Kind("ray.io/v1", "rayjobs", "RayJob"),
            "spec.suspend",
            (
                Part("spec.rayClusterSpec.headGroupSpec"),
                Part("spec.rayClusterSpec.workerGroupSpecs.*", counts=("replicas", "numOfHosts")),
            ),
            succeeded=("Complete", "SUCCEEDED"),
            failed=("Failed", "FAILED"),
            phase="status.jobDeploymentStatus",
        ),
    )
}  # fmt: skip
"""Kinds whose form is known, by name. LeaderWorkerSet is not among them: it has no field that suspends it."""


def sorts_of(named: Iterable[str], others: Iterable[Adoptable]) -> tuple[Adoptable, ...]:
    """The kinds that are adopted: known ones by name, and others, which go before a known one of their name.

    Raises KeyError for a name that is not known.
    """
    declared = {one.name: one for one in others}
    return tuple({**{name: declared.get(name) or KNOWN[name] for name in named}, **declared}.values())


class Template(NamedTuple):
    """One pod template of an object, and how many pods it is for. `path` leads to it, list places as numbers."""

    path: tuple[str | int, ...]
    pods: int
    template: Object


def templates(sort: Adoptable, thing: Object) -> tuple[Template, ...]:
    """The pod templates of an object in a fixed order: tables by name, lists as they are. Those for no pod are left out."""
    found = [
        Template((*path, *part.template.split(".")), _pods(part, place), _at(place, part.template))
        for part in sort.parts
        for path, place in _places(thing, part.at)
    ]
    return tuple(one for one in found if one.pods > 0 and isinstance(one.template, dict))


def is_suspended(sort: Adoptable, thing: Object) -> bool:
    return _at(thing, sort.suspend) is True


def suspension(sort: Adoptable, suspended: bool) -> Object:
    """The merge patch that suspends an object, or resumes it."""
    return _nested(sort.suspend.split("."), suspended)


def ending(sort: Adoptable, thing: Object) -> tuple[bool, str] | None:
    """Whether the object came to its end well, and its words; None if it has not ended."""
    word = _at(thing, sort.phase) if sort.phase else None
    said = [(word, "")] if isinstance(word, str) else []
    conditions = _at(thing, "status.conditions") or []
    said += [(c.get("type"), _words(c)) for c in conditions if c.get("status") == "True"]
    for name, words in said:
        if name in sort.succeeded or name in sort.failed:
            return name in sort.succeeded, words
    return None


def pods_to_come(sort: Adoptable, thing: Object) -> int | None:
    """How many pods a Job still makes at most, of those that are not done; None if that is not known.

    One that was begun before, or is adopted half way, needs fewer than its parallelism in the end.
    """
    if sort.kind != JOBS:
        return None
    completions, succeeded = _count(thing, "spec.completions", 0), _count(thing, "status.succeeded", 0)
    if completions:
        return max(0, completions - succeeded)
    return 0 if succeeded else None  # without completions, the first success means that no more are made


def adoption(sort: Adoptable, thing: Object) -> Object:
    """The merge patch that puts labels and the gate into the pod templates of an object. {} if they are there.

    A merge patch replaces a list as a whole, so a template inside a list comes with everything that the list has.
    """
    patch: Object = {}
    after = deepcopy(thing)
    for number, one in enumerate(templates(sort, thing)):
        change = _gated(one.template, thing["metadata"]["uid"], number)
        if not change:
            continue
        merge(_at(after, one.path), change)
        lists = [place for place, step in enumerate(one.path) if isinstance(step, int)]
        until = one.path[: lists[0]] if lists else one.path
        merge(patch, _nested(until, _at(after, until) if lists else change))
    return patch


def merge(into: Object, change: Object) -> None:
    """Change an object in place, as a merge patch would."""
    for name, value in change.items():
        if isinstance(value, dict) and isinstance(into.get(name), dict):
            merge(into[name], value)
        else:
            into[name] = value


def note(thing: Object, name: str) -> str:
    """An annotation of the object, or ""."""
    return str((thing["metadata"].get("annotations") or {}).get(name) or "")


def label(thing: Object, name: str) -> str:
    return str((thing["metadata"].get("labels") or {}).get(name) or "")


def _gated(template: Object, uid: str, number: int) -> Object:
    labels = (template.get("metadata") or {}).get("labels") or {}
    wanted = {OBJECT: uid, GROUP: str(number)}
    gates = (template.get("spec") or {}).get("schedulingGates") or []
    change: Object = {}
    if any(labels.get(name) != value for name, value in wanted.items()):
        change["metadata"] = {"labels": wanted}
    if {"name": GATE} not in gates:
        change["spec"] = {"schedulingGates": [*gates, {"name": GATE}]}
    return change


def _places(thing: Object, at: str) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    found: list[tuple[tuple[str | int, ...], Any]] = [((), thing)]
    for step in at.split("."):
        found = [((*path, key), value) for path, place in found for key, value in _entries(place, step)]
    yield from found


def _entries(place: Any, step: str) -> list[tuple[str | int, Any]]:
    if step != "*":
        return [(step, place[step])] if isinstance(place, dict) and step in place else []
    if isinstance(place, list):
        return list(enumerate(place))
    return sorted(place.items()) if isinstance(place, dict) else []


def _pods(part: Part, place: Any) -> int:
    counts = [_count(place, path, 1) for path in part.counts]
    if counts and part.at_most:
        counts[0] = min(counts[0], _count(place, part.at_most, counts[0]))
    return prod(counts)


def _count(place: Any, path: str, usual: int) -> int:
    value = _at(place, path)
    return value if isinstance(value, int) and not isinstance(value, bool) else usual


def _at(thing: Any, path: str | tuple[str | int, ...]) -> Any:
    """What stands there; None if nothing does."""
    for step in path.split(".") if isinstance(path, str) else path:
        if isinstance(thing, list) and isinstance(step, int) and step < len(thing):
            thing = thing[step]
        elif isinstance(thing, dict):
            thing = thing.get(step)
        else:
            return None
    return thing


def _nested(path: Sequence[str | int], value: Any) -> Object:
    for step in reversed(path):
        value = {step: value}
    found: Object = value
    return found


def _words(condition: Mapping[str, Any]) -> str:
    return ": ".join(str(condition[name]) for name in ("reason", "message") if condition.get(name))
