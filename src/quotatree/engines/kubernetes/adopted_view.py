"""What is remembered of an adopted object and of its pods, and which pod gets which place? Pure.

A place is written on a pod in the same change that lets it pass the gate, so that whoever comes later, also after a crash,
sees which replicas have a pod. The places of a run stand on the object, for the pods that its controller makes anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted import Adoptable, label, note
from quotatree.engines.kubernetes.kinds import Key, Object, key_of

OVER: Final = ("Succeeded", "Failed")


class Spot(NamedTuple):
    """The place of one replica: the number of its pod template, and the node."""

    group: int
    node: str


@dataclass(frozen=True, slots=True)
class ObjectView:
    """An object as far as it matters for its run. `job` and `run` are "" and 0 for one that was never started."""

    sort: str
    key: Key
    uid: str
    suspended: bool
    job: str
    run: int
    spots: tuple[Spot, ...]
    ended: tuple[bool, str] | None
    checkpoint: str
    deleting: bool


@dataclass(frozen=True, slots=True)
class PodView:
    """A pod of an adopted object. `replica` is None until it has its place."""

    key: Key
    uid: str
    thing: str
    group: int
    run: str
    replica: int | None
    phase: str
    gated: bool
    deleting: bool
    unplaced: str
    """Why kube-scheduler finds no node for it, or ""."""
    spec: str
    """What of its specification a place changes, as JSON: gates and affinity. "" once it has its place."""

    @property
    def alive(self) -> bool:
        """Whether it may still hold devices: told to go is not gone."""
        return self.phase not in OVER


def object_view(sort: Adoptable, thing: Object) -> ObjectView:
    job, run = run_of(note(thing, adopted.RUN))
    return ObjectView(
        sort=sort.name,
        key=key_of(thing),
        uid=thing["metadata"]["uid"],
        suspended=adopted.is_suspended(sort, thing),
        job=job,
        run=run,
        spots=_spots(note(thing, adopted.PLACES)),
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
        suspended=True,
        job="",
        run=0,
        spots=(),
        ended=None,
        checkpoint="",
        deleting=False,
    )


def pod_view(pod: Object) -> PodView | None:
    """The pod; None if it belongs to no adopted object, or its labels are not what we wrote."""
    thing, group, replica = label(pod, adopted.OBJECT), label(pod, adopted.GROUP), label(pod, adopted.REPLICA)
    if not thing or not group.isdecimal() or not (replica.isdecimal() or not replica):
        return None
    spec = pod.get("spec") or {}
    gated = {"name": adopted.GATE} in (spec.get("schedulingGates") or [])
    status = pod.get("status") or {}
    return PodView(
        key=key_of(pod),
        uid=pod["metadata"]["uid"],
        thing=thing,
        group=int(group),
        run=note(pod, adopted.RUN),
        replica=int(replica) if replica else None,
        phase=str(status.get("phase") or "Pending"),
        gated=gated,
        deleting=pod["metadata"].get("deletionTimestamp") is not None,
        unplaced="" if gated or spec.get("nodeName") else _unplaced(status),
        spec=json.dumps([spec.get("schedulingGates"), spec.get("affinity")]) if gated else "",
    )


def run_name(job: str, run: int) -> str:
    return f"{job}.{run}"


def run_of(text: str) -> tuple[str, int]:
    """The job and the number of the run; "" and 0 for a text that is no name of a run."""
    job, _, run = text.rpartition(".")
    return (job, int(run)) if job and run.isdecimal() else ("", 0)


def places_text(spots: Sequence[Spot]) -> str:
    return ",".join(f"{spot.group}:{spot.node}" for spot in spots)


def free_spots(
    pods: Iterable[PodView], run: str, spots: Sequence[Spot], sent: Mapping[str, int]
) -> list[tuple[PodView, int]]:
    """Which gated pods get which replicas of the run, in the order of their names. Who has a pod that lives gets no second.

    `sent`: the replicas of pods, by uid, whose place was sent already: how a pod is remembered may be late.
    """
    pods = sorted((pod for pod in pods if pod.alive), key=lambda pod: pod.key)
    taken = {pod.replica for pod in pods if pod.run == run and pod.replica is not None}
    taken |= {sent[pod.uid] for pod in pods if pod.uid in sent}
    found = []
    for pod in pods:
        if not pod.gated or pod.deleting or pod.uid in sent:
            continue
        free = [i for i, spot in enumerate(spots) if spot.group == pod.group and i not in taken]
        if free:
            taken.add(free[0])
            found.append((pod, free[0]))
    return found


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


def _unplaced(status: Mapping[str, Any]) -> str:
    for one in status.get("conditions") or ():
        if one.get("type") == "PodScheduled" and one.get("status") == "False":
            return str(one.get("message") or one.get("reason") or "not scheduled")
    return ""
