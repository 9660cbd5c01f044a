"""Which nodes are there, and what do others use of each? Kept up to date by what informers tell. No I/O.

A node that is not ready may be back at once: after an outage of the control plane all nodes are not ready for some seconds, while
everything on them runs on. So at first nothing new is put on it, as if it were cordoned, and it counts as lost (R5) only when it
has not been ready for as long as the settings say. One that was deleted is lost at once, and gone for good only when nobody made
it again for as long as the settings say: a node that is reinstalled comes back under its name.
"""

from __future__ import annotations

from collections.abc import Callable

from quotatree.core import WHOLE_GPU, ZERO, Resources
from quotatree.engines.base import NodeSeen
from quotatree.engines.kubernetes.node_reading import ForeignPod, NodeView


class Inventory:
    def __init__(
        self, lost_ms: int = 0, clock_ms: Callable[[], int] = lambda: 0, *, gone_ms: int = 0
    ) -> None:
        """`lost_ms`: a node that was not ready for so long is lost. `gone_ms`: one that was deleted so long ago is gone for good.

        `clock_ms`: the time since the epoch.
        """
        self._lost_ms = lost_ms
        self._gone_ms = gone_ms
        self._clock_ms = clock_ms
        self._nodes: dict[str, NodeView] = {}
        self._deleted: dict[str, tuple[NodeView, int]] = {}  # and when; until they are gone for good
        self._foreign: dict[str, Resources] = {}
        self._pods: dict[str, int] = {}

    def node_changed(self, before: NodeView | None, after: NodeView | None) -> NodeSeen | None:
        """Take over a change of a node; return what to tell of it: of one that was deleted, that it is not ready."""
        if after is not None:
            self._deleted.pop(after.spec.name, None)
            self._nodes[after.spec.name] = after
            return self.seen(after.spec.name)
        if before is None or self._nodes.pop(before.spec.name, None) is None:
            return None
        self._deleted[before.spec.name] = before, self._clock_ms()
        return self.seen(before.spec.name)

    def pod_changed(self, before: ForeignPod | None, after: ForeignPod | None) -> list[NodeSeen]:
        """Take over a change of somebody else's pod; return what to tell of the nodes it was and is on."""
        touched: dict[str, None] = {}
        for pod, sign in ((before, -1), (after, 1)):
            if pod is not None:
                touched[pod.node] = None
                use = self._foreign.get(pod.node, ZERO).plus(pod.use.times(sign))
                self._pods[pod.node] = self._pods.get(pod.node, 0) + sign
                if self._pods[pod.node]:
                    self._foreign[pod.node] = use
                else:
                    del self._pods[pod.node]
                    self._foreign.pop(pod.node, None)
        if before is not None and after is not None and before._replace(uid=after.uid) == after:
            return []
        return [found for name in touched if (found := self.seen(name)) is not None]

    def seen(self, name: str) -> NodeSeen | None:
        """What is to be told of a node now; None for one that is not known, or that was told to be gone for good."""
        if name in self._deleted:
            return self._seen_deleted(name)
        view = self._nodes.get(name)
        if view is None:
            return None
        use = self._foreign.get(name, ZERO)
        unusable = replace_gpus(use, use.gpu_milli + view.unusable * WHOLE_GPU)
        if self.changes_in_ms(name):
            return NodeSeen(view.spec, True, True, unusable)
        return NodeSeen(view.spec, view.ready, view.cordoned, unusable)

    def _seen_deleted(self, name: str) -> NodeSeen:
        gone = self.changes_in_ms(name) == 0
        view, _ = self._deleted.pop(name) if gone else self._deleted[name]
        return NodeSeen(view.spec, ready=False, gone=gone)

    def changes_in_ms(self, name: str) -> int:
        """In how many milliseconds a node counts as lost that is not ready, or as gone that was deleted; 0 if that is so, or never."""
        if name in self._deleted:
            return max(0, min(self._gone_ms, self._deleted[name][1] + self._gone_ms - self._clock_ms()))
        view = self._nodes.get(name)
        if view is None or view.ready or view.unready_ms is None:
            return 0
        return max(0, min(self._lost_ms, view.unready_ms + self._lost_ms - self._clock_ms()))

    def all(self) -> tuple[NodeSeen, ...]:
        names = sorted({*self._nodes, *self._deleted})
        return tuple(found for name in names if (found := self.seen(name)) is not None)

    def ready(self, node: str) -> bool:
        """Whether a node is there and ready."""
        view = self._nodes.get(node)
        return view is not None and view.ready

    def gpu_resource(self, node: str) -> str | None:
        """What GPUs are called on a node; None if it is not there."""
        view = self._nodes.get(node)
        return None if view is None else view.resource


def replace_gpus(amount: Resources, gpu_milli: int) -> Resources:
    return Resources(gpu_milli, amount.cpu_milli, amount.memory_mib)
