"""What does the engine know of the cluster? Its nodes, its runs with their pods, and what forgotten runs still occupy. No I/O.

Informers tell changes, orders say what is wanted, and the work looks at both, in threads of their own: whoever looks at `runs` or
`inventory` for longer than one call holds `lock`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from quotatree.core import JobId
from quotatree.engines.base import Exited, NodeSeen, Report, Running
from quotatree.engines.kubernetes.inventory import Inventory
from quotatree.engines.kubernetes.kinds import Key
from quotatree.engines.kubernetes.node_reading import ForeignPod, NodeView
from quotatree.engines.kubernetes.options import KubernetesOptions
from quotatree.engines.kubernetes.pod_reading import PodView
from quotatree.engines.kubernetes.runs import Run, Runs

Pod = PodView | ForeignPod


class Known:
    def __init__(self, options: KubernetesOptions, clock_ms: Callable[[], int]) -> None:
        self.lock = threading.RLock()
        self.runs = Runs()
        self.inventory = Inventory(options.lost_seconds * 1000, clock_ms, gone_ms=options.gone_seconds * 1000)
        self._leftovers: dict[str, ForeignPod] = {}  # pods of forgotten runs that are not gone yet, by uid
        self._forged: dict[str, ForeignPod] = {}  # pods that say they are ours and are not, by uid

    def node_changed(self, before: NodeView | None, after: NodeView | None) -> NodeSeen | None:
        with self.lock:
            return self.inventory.node_changed(before, after)

    def pod_changed(self, key: Key, before: Pod | None, after: Pod | None) -> list[Report]:
        """Take over a change of a pod, ours or of others; return what is to be told of it."""
        ours = [one if isinstance(one, PodView) else None for one in (before, after)]
        others = [one if isinstance(one, ForeignPod) else None for one in (before, after)]
        told: list[Report] = []
        with self.lock:
            if any(others):
                told += self.inventory.pod_changed(*others)
            if any(ours):
                told += self.runs.pod_changed(key, *ours)
            mine, now = ours
            if mine is not None and (now is None or now.uid != mine.uid or now.over):
                left = self._leftovers.pop(mine.uid, None)
                told += self.inventory.pod_changed(left, None) if left is not None else ()
            told += self._count_forged(key, *ours)
        return told

    def _count_forged(self, key: Key, before: PodView | None, after: PodView | None) -> list[NodeSeen]:
        """Count what a pod has that is not believed to be ours as what others use."""
        old = None if before is None else self._forged.pop(before.uid, None)
        new = None
        if after is not None and after.node and not after.over and not self.runs.believes(key, after):
            new = self._forged[after.uid] = ForeignPod(after.uid, after.node, after.use)
        return self.inventory.pod_changed(old, new) if old is not None or new is not None else []

    def forget(self, job: JobId, run: int) -> list[Report]:
        """Forget a run. What still lives of it, on a node that was lost, has its GPUs until it is gone: they are told as foreign."""
        told: list[Report] = []
        with self.lock:
            for _, view in self.runs.forget(job, run).living:
                if view.node and view.uid not in self._leftovers:
                    left = self._leftovers[view.uid] = ForeignPod(view.uid, view.node, view.use)
                    told += self.inventory.pod_changed(None, left)
        return told

    def observed(self) -> tuple[list[Running], list[Exited], tuple[NodeSeen, ...]]:
        with self.lock:
            running, exits = self.runs.observed()
            return running, exits, self.inventory.all()

    def occupied(self, run: Run, nodes: set[str]) -> bool:
        """Return whether an earlier run of the job lives where it can be reached, or forgotten runs live on these nodes.

        After a node that seemed lost came back, pods of the run it took along are still there: nothing may run twice, and no
        GPU is given twice, so what comes next waits until they are gone (A7). A pod on a node that is lost is not waited for.
        """
        with self.lock:
            earlier = [
                view
                for other in self.runs.of_job(run.job)
                if other.number < run.number
                for _, view in other.living
            ]
            if any(not view.node or self.inventory.ready(view.node) for view in earlier):
                return True
            return any(left.node in nodes for left in self._leftovers.values())
