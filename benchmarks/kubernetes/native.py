"""kube-scheduler by itself: bare pods of two PriorityClasses, and it preempts as it does in any cluster."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from benchmarks.kubernetes.outcome import Outcome, Victim
from benchmarks.kubernetes.processors import Meter
from benchmarks.kubernetes.seen import Fate, Pods, gpus_of
from benchmarks.kubernetes.world import GPUS_OF_A_NODE, GRACE_SECONDS, Work, World, filling
from tests.kubernetes.api import Thing, condition
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.processes import until

THREADS = 16
LONGEST_SECONDS = 600.0
PODS = "/api/v1/namespaces/default/pods"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
PREEMPTED = re.compile(r"Preempted by pod (\S+) on node (\S+)")

Say = Callable[[str], None]


def run(cluster: Cluster, world: World, say: Say) -> tuple[Outcome, World]:
    """Fill the cluster, let the important pods come, and tell what happened; and the world as it was really filled."""
    for name, value in (("low", 10), ("high", 1000)):
        cluster.api.create(CLASSES, {"metadata": {"name": name}, "value": value})
    pods = Pods(cluster.api)
    try:
        world = _fill(cluster, world, pods, say)
        meter = Meter({name: part.cpu_seconds for name, part in cluster.parts.items()})
        began = time.perf_counter()
        _create(cluster, world.high, "high")
        wanted = len(world.high)
        say(f"kube-scheduler: {wanted} important pods came")
        pods.wait(lambda fates: _bound(fates.values(), "high") == wanted, "all are bound", LONGEST_SECONDS)
        return _outcome(cluster, world, pods, began, meter.spent()), world
    finally:
        pods.close()


def _fill(cluster: Cluster, world: World, pods: Pods, say: Say) -> World:
    """Let kube-scheduler place what arrives; what finds no place goes away, and what is left free is filled up."""
    _create(cluster, world.low, "low")
    until(lambda: not _undecided(cluster), "every pod is placed or refused", LONGEST_SECONDS, 1.0)
    # From a list, not from the watch, which may be behind.
    placed = {pod["metadata"]["name"] for pod in cluster.api.items(PODS) if pod["spec"].get("nodeName")}
    for work in world.low:
        if work.name not in placed:
            cluster.api.delete(f"{PODS}/{work.name}", gracePeriodSeconds=0)
    low = [work for work in world.low if work.name in placed]
    more = filling(_free(cluster, world), len(world.low), seed=1)
    for work, node in more:  # kube-scheduler would put small ones where large ones must go
        body = _pod(work, "low")
        cluster.api.create(PODS, {**body, "spec": {**body["spec"], "nodeName": node}})
    total = len(low) + len(more)
    pods.wait(lambda fates: _bound(fates.values(), "low") == total, "the rest is placed", LONGEST_SECONDS)
    say(f"kube-scheduler: {total} pods fill {world.nodes} nodes ({len(more)} of them placed last)")
    return world.with_low([*low, *(work for work, _ in more)])


def _create(cluster: Cluster, works: Iterable[Work], priority: str) -> None:
    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(lambda work: cluster.api.create(PODS, _pod(work, priority)), works))


def _pod(work: Work, priority: str) -> Thing:
    limits = {"nvidia.com/gpu": str(work.gpus)}
    return {
        "metadata": {"name": work.name, "labels": {"bench": priority}},
        "spec": {
            "priorityClassName": priority,
            "terminationGracePeriodSeconds": GRACE_SECONDS,
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "none", "resources": {"limits": limits}}],
        },
    }


def _bound(fates: Iterable[Fate], priority: str) -> int:
    return sum(fate.bound is not None and fate.labels.get("bench") == priority for fate in fates)


def _undecided(cluster: Cluster) -> list[Thing]:
    pending = cluster.api.items(PODS, fieldSelector="status.phase=Pending")
    return [pod for pod in pending if condition(pod, "PodScheduled") == "Unknown"]


def _free(cluster: Cluster, world: World) -> dict[str, int]:
    """GPUs that nobody uses, of each node that has any."""
    free = {f"node-{number}": GPUS_OF_A_NODE for number in range(world.nodes)}
    for pod in cluster.api.items(PODS):
        if pod["spec"].get("nodeName"):
            free[pod["spec"]["nodeName"]] -= gpus_of(pod)
    return {node: left for node, left in free.items() if left}


def _outcome(cluster: Cluster, world: World, pods: Pods, began: float, spent: dict[str, float]) -> Outcome:
    by_uid = dict(pods.fates)
    ages = {work.name: work.checkpoint_age_seconds for work in world.low}
    blamed = _blamed(cluster)
    victims = []
    for fate in by_uid.values():
        if fate.told is not None and fate.told >= began:
            preemptor = by_uid.get(blamed.get(fate.name, ""))
            assert fate.node is not None
            victims.append(
                Victim(
                    fate.name,
                    fate.gpus,
                    fate.told - began,
                    ages[fate.name],
                    fate.node,
                    None if preemptor is None else preemptor.name,
                    None if preemptor is None else preemptor.node,
                )
            )
    bound = (fate.bound for fate in by_uid.values() if fate.labels.get("bench") == "high")
    seconds = tuple(one - began for one in bound if one is not None)
    return Outcome("kube-scheduler", seconds, world.wanted_gpus, tuple(victims), spent)


def _blamed(cluster: Cluster) -> dict[str, str]:
    """Name of each victim, and the uid of the pod it had to go for, as kube-scheduler's events tell."""
    events = cluster.api.items("/api/v1/namespaces/default/events", fieldSelector="reason=Preempted")
    found = (
        (event["involvedObject"]["name"], PREEMPTED.search(event.get("message", ""))) for event in events
    )
    return {name: match[1] for name, match in found if match is not None}
