"""How is something made in the cluster that may be there already? Making it twice makes one."""

from __future__ import annotations

from typing import Final

import structlog

from quotatree.engines.kubernetes import pod_building as build
from quotatree.engines.kubernetes.client import Cluster
from quotatree.engines.kubernetes.errors import Clash, Denied, Missing
from quotatree.engines.kubernetes.kinds import NAMESPACES, PRIORITY_CLASSES, Kind, Object

log = structlog.get_logger(__name__)

PRIORITY: Final = 1_000


class Maker:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._namespaces: set[str] = set()

    def make(self, kind: Kind, namespace: str | None, body: Object) -> None:
        """Make an object unless there is one of its name."""
        try:
            self._cluster.create(kind, namespace, body)
        except Clash:
            return

    def namespace(self, name: str, workspace: str) -> None:
        """Make the namespace of a workspace, which says whose it is."""
        if name not in self._namespaces:
            labels = {build.MANAGED: build.OURS, build.WORKSPACE: workspace}
            self.make(NAMESPACES, None, {"metadata": {"name": name, "labels": labels}})
            self._namespaces.add(name)

    def namespace_gone(self, name: str) -> None:
        """Somebody has deleted it: it is made anew when it is needed."""
        self._namespaces.discard(name)

    def priority_class(self, name: str) -> None:
        """Make the PriorityClass of our pods unless it is there; without the right to, say what pods would be refused for."""
        try:
            self._cluster.get(PRIORITY_CLASSES, None, name)
            return
        except (Missing, Denied):
            pass
        body: Object = {
            "metadata": {"name": name, "labels": {build.MANAGED: build.OURS}},
            "value": PRIORITY,
            "preemptionPolicy": "Never",
            "description": "Jobs of QuotaTree, which decides itself who gives way to whom.",
        }
        try:
            self.make(PRIORITY_CLASSES, None, body)
        except Denied as denied:
            log.warning("priority_class_not_made", name=name, error=str(denied))
