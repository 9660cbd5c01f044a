"""What is remembered of an adopted object and of its pods? Pure.

A place is written on a pod in the same change that lets it pass the gate, so that whoever comes later, also after a crash,
sees which replicas have a pod.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from quotatree.core import Resources, Shape
from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted import Adoptable, label, note
from quotatree.engines.kubernetes.adopted_plan import shape_asked
from quotatree.engines.kubernetes.kinds import Key, Object, key_of

OVER: Final = ("Succeeded", "Failed")
QUOTA_LABEL: Final = f"{adopted.DOMAIN}/quota"


class Spot(NamedTuple):
    """The place of one replica: the number of its pod template, and the node."""

    group: int
    node: str


@dataclass(frozen=True, slots=True)
class ObjectView:
    """An object of an adoptable kind as far as it matters for its run.

    `job`, `run` and `written` are what stands on it, which its owner can write as well: "", 0 and () for one that was never
    started. `groups`: for each of its pods the number of its template. `to_come`: how many pods it still makes at most; None:
    not known.
    """

    sort: str
    key: Key
    uid: str
    labelled: bool
    suspended: bool
    job: str
    run: int
    written: tuple[Spot, ...]
    groups: tuple[int, ...]
    to_come: int | None
    ended: tuple[bool, str] | None
    checkpoint: str
    deleting: bool


@dataclass(frozen=True, slots=True)
class PodView:
    """A pod that belongs to an object of an adoptable kind, or says so. `replica` is None until it has its place."""

    key: Key
    uid: str
    things: tuple[str, ...]
    """Uids of objects that it may belong to: by our label, or by its owner."""
    owners: tuple[str, ...]
    labelled: bool
    """Whether it has our label."""
    group: int
    run: str
    replica: int | None
    node: str
    phase: str
    gated: bool
    deleting: bool
    asks: Shape | None
    """What it asks for; None if that cannot be counted."""
    unplaced: str
    """Why kube-scheduler finds no node for it, or ""."""
    spec: str
    """What of its specification a place changes, as JSON: gates and affinity. "" once it has its place."""

    @property
    def alive(self) -> bool:
        """Whether it may still hold devices: told to go is not gone, but without a node it never gets one then."""
        return self.phase not in OVER and (bool(self.node) or not self.deleting)

    @property
    def use(self) -> Resources:
        return Resources(*self.asks[:3]) if self.asks is not None else Resources(0, 0, 0)


def object_view(sort: Adoptable, thing: Object) -> ObjectView:
    job, run = run_of(note(thing, adopted.RUN))
    return ObjectView(
        sort=sort.name,
        key=key_of(thing),
        uid=thing["metadata"]["uid"],
        labelled=bool(label(thing, QUOTA_LABEL)),
        suspended=adopted.is_suspended(sort, thing),
        job=job,
        run=run,
        written=_spots(note(thing, adopted.PLACES)),
        groups=groups_of(sort, thing),
        to_come=adopted.pods_to_come(sort, thing),
        ended=adopted.ending(sort, thing),
        checkpoint=note(thing, adopted.CHECKPOINT),
        deleting=thing["metadata"].get("deletionTimestamp") is not None,
    )


def unseen(sort: Adoptable, key: Key, uid: str) -> ObjectView:
    """An object of which nothing is known but that it is there: suspended, and never started."""
    return ObjectView(
        sort=sort.name,
        key=key,
        uid=uid,
        labelled=True,
        suspended=True,
        job="",
        run=0,
        written=(),
        groups=(),
        to_come=None,
        ended=None,
        checkpoint="",
        deleting=False,
    )


def groups_of(sort: Adoptable, thing: Object) -> tuple[int, ...]:
    """For each pod of the object the number of its template."""
    return tuple(n for n, one in enumerate(adopted.templates(sort, thing)) for _ in range(one.pods))


def pod_reader(
    kinds: Collection[tuple[str, str]], gpu_names: Iterable[str], known: Callable[[str], bool]
) -> Callable[[Object], PodView | None]:
    """A function that reads pods. `kinds`: API and kind of the objects; `known(uid)`: whether a pod was given a place."""
    names = tuple(gpu_names)

    def read(pod: Object) -> PodView | None:
        owners = tuple(
            str(one["uid"])
            for one in pod["metadata"].get("ownerReferences") or ()
            if (one.get("apiVersion"), one.get("kind")) in kinds
        )
        said = label(pod, adopted.OBJECT)
        if not said and not owners and not known(pod["metadata"]["uid"]):
            return None
        return _pod_view(pod, said, owners, names)

    return read


def _pod_view(pod: Object, said: str, owners: tuple[str, ...], gpu_names: tuple[str, ...]) -> PodView:
    group, replica = label(pod, adopted.GROUP), label(pod, adopted.REPLICA)
    spec = pod.get("spec") or {}
    gates = spec.get("schedulingGates") or []
    gated = {"name": adopted.GATE} in gates
    status = pod.get("status") or {}
    return PodView(
        key=key_of(pod),
        uid=pod["metadata"]["uid"],
        things=tuple(dict.fromkeys([*([said] if said else []), *owners])),
        owners=owners,
        labelled=bool(said),
        group=int(group) if group.isdecimal() else -1,
        run=note(pod, adopted.RUN),
        replica=int(replica) if replica.isdecimal() else None,
        node=str(spec.get("nodeName") or ""),
        phase=str(status.get("phase") or "Pending"),
        gated=gated,
        deleting=pod["metadata"].get("deletionTimestamp") is not None,
        asks=shape_asked(pod, gpu_names),
        unplaced="" if gated or spec.get("nodeName") else _unplaced(status, bool(gates)),
        spec=json.dumps([gates, spec.get("affinity")]) if gated else "",
    )


def run_name(job: str, run: int) -> str:
    return f"{job}.{run}"


def run_of(text: str) -> tuple[str, int]:
    """The job and the number of the run; "" and 0 for a text that is no name of a run."""
    job, _, run = text.rpartition(".")
    return (job, int(run)) if job and run.isdecimal() else ("", 0)


def places_text(spots: Sequence[Spot]) -> str:
    return ",".join(f"{spot.group}:{spot.node}" for spot in spots)


def placing(pod: PodView, run: str, replica: int, node: str) -> Object:
    """The merge patch that lets a gated pod pass, to this node and no other. Gates of others stay."""
    gates, affinity = json.loads(pod.spec)
    here = {"key": "metadata.name", "operator": "In", "values": [node]}
    node_affinity = dict((affinity or {}).get("nodeAffinity") or {})
    required = dict(node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {})
    terms = [_only(term, here) for term in required.get("nodeSelectorTerms") or [{}]]
    node_affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {**required, "nodeSelectorTerms": terms}
    return {
        "metadata": {
            "uid": pod.uid,
            "labels": {adopted.REPLICA: str(replica)},
            "annotations": {adopted.RUN: run},
        },
        "spec": {
            "schedulingGates": [gate for gate in gates or [] if gate != {"name": adopted.GATE}],
            "affinity": {**(affinity or {}), "nodeAffinity": node_affinity},
        },
    }


def _only(term: Mapping[str, Any], here: Mapping[str, Any]) -> dict[str, Any]:
    return {**term, "matchFields": [*(term.get("matchFields") or []), here]}


def _spots(text: str) -> tuple[Spot, ...]:
    found = []
    for one in text.split(",") if text else ():
        group, _, node = one.partition(":")
        if not group.isdecimal() or not node:
            return ()
        found.append(Spot(int(group), node))
    return tuple(found)


def _unplaced(status: Mapping[str, Any], gates: bool) -> str:
    """What kube-scheduler says; nothing of a gate that is open by now, which it has only not seen yet."""
    for one in status.get("conditions") or ():
        if one.get("type") == "PodScheduled" and one.get("status") == "False":
            if one.get("reason") == "SchedulingGated" and not gates:
                return ""
            return str(one.get("message") or one.get("reason") or "not scheduled")
    return ""
