"""Which pods of a run have the place that was planned, which get one, and which were not planned at all? Pure.

At most one pod stands at each place, and it asks for what its replica was planned with. Labels and owners of a pod can be
written by others, so they only say what a pod claims to be.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from quotatree.engines.kubernetes.adopted_plan import shape_differs
from quotatree.engines.kubernetes.adopted_runs import AdoptedRun
from quotatree.engines.kubernetes.adopted_view import PodView


class Places(NamedTuple):
    """`planned`: by replica, the pod that stands at its place. `free`: pods at the gate that may pass, each as which replica.

    `others`: pods that live, are past the gate and were not planned. `odd`: pods at the gate that ask for something else, and
    in which way.
    """

    planned: dict[int, PodView]
    free: list[tuple[PodView, int]]
    others: list[PodView]
    odd: list[tuple[PodView, str]]


def places_of(run: AdoptedRun | None, pods: Iterable[PodView]) -> Places:
    """Sort the pods of an object by what they are to its run; without a run, none was planned."""
    living = sorted((pod for pod in pods if pod.alive), key=lambda pod: pod.key)
    found = Places({}, [], [], [])
    if run is None:
        found.others.extend(pod for pod in living if not pod.gated)
        return found
    for pod in sorted(living, key=lambda pod: (pod.uid not in run.sent, pod.key)):
        replica = run.sent.get(pod.uid, pod.replica)
        if replica is not None and replica not in found.planned and _stands(run, pod, replica):
            found.planned[replica] = pod
        elif not pod.gated:
            found.others.append(pod)
    at_the_gate = [pod for pod in living if pod.gated and not pod.deleting and pod.uid not in run.sent]
    taken = set(found.planned)
    for pod in sorted(at_the_gate, key=lambda pod: (run.thing not in pod.owners, pod.key)):
        _give(run, pod, taken, found)
    return found


def _stands(run: AdoptedRun, pod: PodView, replica: int) -> bool:
    """Whether a pod is the replica that it says it is: of this run, on its node, with what it was planned with."""
    if pod.uid not in run.sent and (pod.gated or pod.run != run.name):
        return False
    if not 0 <= replica < len(run.spots):
        return False
    return pod.node in ("", run.spots[replica].node) and not shape_differs(pod.asks, run.shapes[replica])


def _give(run: AdoptedRun, pod: PodView, taken: set[int], found: Places) -> None:
    """Let the pod have the first free place of its template. One that fits and finds none stays at the gate."""
    of_group = [replica for replica, spot in enumerate(run.spots) if spot.group == pod.group]
    wrong = {replica: shape_differs(pod.asks, run.shapes[replica]) for replica in of_group}
    free = [replica for replica in of_group if not wrong[replica] and replica not in taken]
    if free:
        taken.add(free[0])
        found.free.append((pod, free[0]))
    elif wrong and all(wrong.values()):
        found.odd.append((pod, wrong[of_group[0]]))
