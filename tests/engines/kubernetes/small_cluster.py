"""A cluster of objects in memory, for tests of one function: it keeps and merges, and has no controllers. Not Kubernetes."""

from __future__ import annotations

from copy import deepcopy
from itertools import count
from typing import Any

from quotatree.engines.kubernetes.errors import Clash, Missing
from quotatree.engines.kubernetes.kinds import Kind, Object

Place = tuple[str, str | None, str]


class SmallCluster:
    def __init__(self) -> None:
        self.things: dict[Place, Object] = {}
        self.sent: list[str] = []
        self.broken: Exception | None = None
        self.refuse: tuple[str, int, Exception] = ("", 0, AssertionError())
        """What is refused, after it was let pass so often, and with which answer."""
        self.stuck = False
        """Whether what is deleted stays, on its way."""
        self._versions = count(1)

    def put(self, kind: Kind, thing: Object) -> Object:
        meta = thing["metadata"]
        meta.setdefault("uid", f"uid-{meta['name']}")
        meta["resourceVersion"] = str(next(self._versions))
        self.things[kind.plural, meta.get("namespace"), meta["name"]] = thing
        return thing

    def get(self, kind: Kind, namespace: str | None, name: str) -> Object:
        self._sent(f"GET {kind.plural}/{name}")
        return deepcopy(self._thing(kind, namespace, name))

    def create(self, kind: Kind, namespace: str | None, body: Object, **_: Any) -> Object:
        self._sent(f"POST {kind.plural}")
        if (kind.plural, namespace, body["metadata"]["name"]) in self.things:
            raise Clash(409, "AlreadyExists", "there is one")
        return self.put(kind, deepcopy(body))

    def merge(
        self, kind: Kind, namespace: str | None, name: str, patch: Object, *, sub: str = "", **_: Any
    ) -> Object:
        self._sent(f"PATCH {kind.plural}/{name}{sub and '/' + sub}")
        thing = self._thing(kind, namespace, name)
        for field in ("uid", "resourceVersion"):
            said = patch.get("metadata", {}).get(field)
            if said is not None and said != thing["metadata"][field]:
                raise Clash(409, "Conflict", f"{field} is another")
        _merge(thing, patch)
        return self.put(kind, thing)

    def delete(self, kind: Kind, namespace: str | None, name: str, **_: Any) -> bool:
        self._sent(f"DELETE {kind.plural}/{name}")
        if self.stuck:
            thing = self.things.get((kind.plural, namespace, name), {"metadata": {}})
            thing["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            return True
        return self.things.pop((kind.plural, namespace, name), None) is not None

    def page(self, kind: Kind, namespace: str | None = None, **_: Any) -> Object:
        raise AssertionError("nobody watches in these tests")

    def _thing(self, kind: Kind, namespace: str | None, name: str) -> Object:
        found = self.things.get((kind.plural, namespace, name))
        if found is None:
            raise Missing(404, "NotFound", f"no {kind.name} {name}")
        return found

    def _sent(self, what: str) -> None:
        self.sent.append(what)
        if self.broken is not None:
            raise self.broken
        if what == self.refuse[0] and self.sent.count(what) > self.refuse[1]:
            raise self.refuse[2]


def _merge(thing: Object, patch: Object) -> None:
    for name, value in patch.items():
        if value is None:
            thing.pop(name, None)
        elif isinstance(value, dict):
            inside = thing.setdefault(name, {})
            _merge(inside, value)
        else:
            thing[name] = deepcopy(value)
