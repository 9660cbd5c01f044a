"""Which kinds of objects do we deal with, and at which address of the API does one stand? Plain values, no I/O."""

from __future__ import annotations

from typing import Any, Final, NamedTuple
from urllib.parse import quote

Object = dict[str, Any]
"""An object of the cluster as its JSON."""


class Kind(NamedTuple):
    """A kind of object: its API ("v1", "batch/v1"), the plural that stands in its path, and its name in manifests."""

    api: str
    plural: str
    name: str
    namespaced: bool = True

    def path(self, namespace: str | None = None, name: str | None = None, sub: str = "") -> str:
        """Path of one object, of a part of it (`sub`: "status", "log"), or of all (in one namespace, or everywhere)."""
        root = f"/apis/{self.api}" if "/" in self.api else f"/api/{self.api}"
        parts = [root]
        if namespace is not None and self.namespaced:
            parts.append(f"namespaces/{quote(namespace, safe='')}")
        parts.append(self.plural)
        if name is not None:
            parts.append(quote(name, safe=""))
        if sub:
            parts.append(sub)
        return "/".join(parts)


NAMESPACES: Final = Kind("v1", "namespaces", "Namespace", False)
NODES: Final = Kind("v1", "nodes", "Node", False)
PODS: Final = Kind("v1", "pods", "Pod")
SERVICES: Final = Kind("v1", "services", "Service")
SECRETS: Final = Kind("v1", "secrets", "Secret")
EVENTS: Final = Kind("v1", "events", "Event")
VOLUME_CLAIMS: Final = Kind("v1", "persistentvolumeclaims", "PersistentVolumeClaim")
PRIORITY_CLASSES: Final = Kind("scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", False)
JOBS: Final = Kind("batch/v1", "jobs", "Job")


class Key(NamedTuple):
    """Where an object stands: its namespace ("" for kinds without one) and its name."""

    namespace: str
    name: str


def key_of(thing: Object) -> Key:
    meta = thing["metadata"]
    return Key(meta.get("namespace", ""), meta["name"])
