"""How do nodes come, die, return and go? kwok plays those that carry its label."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.kubernetes.api import Api, Thing, condition, names
from tests.kubernetes.processes import until

MANAGED_LABEL = "play.quotatree.io/alive"
MANAGED = f"{MANAGED_LABEL}=true"
NODES = "/api/v1/nodes"
CREATING_THREADS = 16


class Nodes:
    def __init__(self, api: Api) -> None:
        self._api = api

    def add(
        self,
        count: int,
        gpus: int = 8,
        *,
        prefix: str = "node",
        resource: str = "nvidia.com/gpu",
        labels: dict[str, str] | None = None,
        wait: bool = True,
    ) -> list[str]:
        """Make so many nodes and return their names when all are Ready. Names begin with the prefix and count from 0."""
        made = [f"{prefix}-{number}" for number in range(count)]
        with ThreadPoolExecutor(CREATING_THREADS) as threads:
            bodies = (node(name, gpus, resource, labels or {}) for name in made)
            list(threads.map(lambda body: self._api.create(NODES, body), bodies))
        if wait:
            until(
                lambda: set(made) <= set(self.ready()),
                f"{count} nodes are Ready",
                60 + count / 5,
                0.05 + count / 500,
            )
        return made

    def ready(self) -> list[str]:
        return names(one for one in self._api.items(NODES) if condition(one, "Ready") == "True")

    def lose(self, name: str) -> None:
        """The machine is gone, as far as the cluster can see: returns when it is not Ready any more."""
        self._api.merge(f"{NODES}/{name}", {"metadata": {"labels": {MANAGED_LABEL: None}}})
        until(lambda: name not in self.ready(), f"{name} is not Ready any more")

    def bring_back(self, name: str) -> None:
        self._api.merge(f"{NODES}/{name}", {"metadata": {"labels": {MANAGED_LABEL: "true"}}})
        until(lambda: name in self.ready(), f"{name} is Ready again")

    def cordon(self, name: str, *, on: bool = True) -> None:
        self._api.merge(f"{NODES}/{name}", {"spec": {"unschedulable": on or None}})

    def remove(self, name: str) -> None:
        self._api.delete(f"{NODES}/{name}")


def node(name: str, gpus: int, resource: str, labels: dict[str, str]) -> Thing:
    """A node as a kubelet with a device plugin would make it."""
    amounts = {"cpu": "96", "memory": "1024Gi", "pods": "250", "ephemeral-storage": "1Ti"}
    if gpus:
        amounts[resource] = str(gpus)
    common = {
        MANAGED_LABEL: "true",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**common, **labels}},
        "status": {"allocatable": amounts, "capacity": amounts},
    }
