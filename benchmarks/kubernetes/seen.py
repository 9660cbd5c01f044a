"""When was each pod bound, and when was it told to go? A watch of all pods, from before the first to after the last."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.kubernetes.api import Api, Thing


@dataclass(slots=True)
class Fate:
    """What happened to one pod, by the clock of this process (`perf_counter`). None: not yet."""

    name: str
    gpus: int
    labels: dict[str, str]
    node: str | None = None
    bound: float | None = None
    told: float | None = None
    gone: float | None = None
    annotations: dict[str, str] = field(default_factory=dict)


class Pods:
    """Follows the pods of the whole cluster. `fates` is keyed by the pod's uid."""

    def __init__(self, api: Api) -> None:
        self.fates: dict[str, Fate] = {}
        self.changed = threading.Condition()
        self._api = api
        self._over = False
        listed = api.get("/api/v1/pods")
        for pod in listed["items"]:
            self._see("ADDED", pod)
        self._version = listed["metadata"]["resourceVersion"]
        self._thread = threading.Thread(target=self._follow, name="pods", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over = True

    def wait(self, asked: Any, what: str, seconds: float) -> None:
        """Wait until `asked(fates)` is true."""
        with self.changed:
            if not self.changed.wait_for(lambda: asked(self.fates), seconds):
                raise TimeoutError(f"after {seconds:.0f} s still not: {what}")

    def _follow(self) -> None:
        while not self._over:
            try:
                with self._api.watching("/api/v1/pods", self._version) as lines:
                    for line in lines:
                        self._hear(json.loads(line))
                        if self._over:
                            return
            except httpx2.HTTPError:
                time.sleep(0.2)

    def _hear(self, event: Thing) -> None:
        if event["type"] == "ERROR":
            raise RuntimeError(f"the watch broke: {event['object'].get('message')}")
        self._version = event["object"]["metadata"]["resourceVersion"]
        if event["type"] != "BOOKMARK":
            with self.changed:
                self._see(event["type"], event["object"])
                self.changed.notify_all()

    def _see(self, how: str, pod: Thing) -> None:
        now = time.perf_counter()
        meta = pod["metadata"]
        fate = self.fates.get(meta["uid"])
        if fate is None:
            labels = meta.get("labels") or {}
            fate = self.fates[meta["uid"]] = Fate(meta["name"], gpus_of(pod), labels)
        fate.annotations = meta.get("annotations") or {}
        if fate.bound is None and pod["spec"].get("nodeName"):
            fate.node, fate.bound = pod["spec"]["nodeName"], now
        if fate.told is None and meta.get("deletionTimestamp"):
            fate.told = now
        if how == "DELETED":
            fate.gone = now


def gpus_of(pod: Thing) -> int:
    limits = (one.get("resources", {}).get("limits", {}) for one in pod["spec"]["containers"])
    return sum(int(one.get("nvidia.com/gpu", 0)) for one in limits)
