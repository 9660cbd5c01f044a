"""What would plain best fit make of the same pods? A model of its own, not the core, to check the protocol against.

As in the FGD artifact: the node with the least CPU and GPU left, each as a part of the largest node; a fraction goes to the
fullest device that has room.
"""

from __future__ import annotations

from heapq import heappop, heappush

from quotatree.core import WHOLE_GPU, NodeSpec, Shape


class Machine:
    """A node and what is free on it."""

    def __init__(self, spec: NodeSpec) -> None:
        self.model, self.cpu_milli, self.memory_mib = spec.model, spec.cpu_milli, spec.memory_mib
        self.free = [WHOLE_GPU] * spec.gpus
        self.version = 0

    def fits(self, pod: Shape) -> bool:
        if pod.models and self.model not in pod.models:
            return False
        if pod.cpu_milli > self.cpu_milli or pod.memory_mib > self.memory_mib:
            return False
        if pod.gpu_milli >= WHOLE_GPU:
            return self.free.count(WHOLE_GPU) >= pod.whole_gpus
        return pod.gpu_milli == 0 or max(self.free) >= pod.gpu_milli

    def put(self, pod: Shape) -> None:
        self.cpu_milli -= pod.cpu_milli
        self.memory_mib -= pod.memory_mib
        for _ in range(pod.whole_gpus):
            self.free[self.free.index(WHOLE_GPU)] = 0
        if pod.fraction_milli:
            fullest = min(free for free in self.free if free >= pod.fraction_milli)
            self.free[self.free.index(fullest)] -= pod.fraction_milli
        self.version += 1


def best_fit_percent(nodes: list[NodeSpec], pods: list[Shape]) -> float:
    """The GPUs allocated after all pods have arrived, in percent of the cluster's."""
    machines = [Machine(spec) for spec in nodes]
    gpus = sum(spec.gpus for spec in nodes)
    cpu_weight = max(spec.gpus for spec in nodes) * WHOLE_GPU
    gpu_weight = max(spec.cpu_milli for spec in nodes)
    changed: list[int] = []
    heaps: dict[Shape, list[tuple[int, int, int]]] = {}
    read: dict[Shape, int] = {}
    placed_milli = 0
    for pod in pods:
        heap = heaps.setdefault(pod, [])
        news = changed[read[pod] :] if pod in read else range(len(machines))
        read[pod] = len(changed)
        for index in dict.fromkeys(news):
            machine = machines[index]
            if machine.fits(pod):
                left = machine.cpu_milli * cpu_weight + sum(machine.free) * gpu_weight
                heappush(heap, (left, index, machine.version))
        while heap and machines[heap[0][1]].version != heap[0][2]:
            heappop(heap)
        if heap:
            index = heap[0][1]
            machines[index].put(pod)
            changed.append(index)
            placed_milli += pod.gpu_milli
    return placed_milli / gpus / WHOLE_GPU * 100
