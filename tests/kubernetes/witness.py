"""Who saw everything? A watch of all pods of ours, which notes the moment a promise is broken (A7).

A pod lives from its creation until it has ended or is gone. While it lives it has its GPUs on its node, bound or not. A pod of an
object that was made with kubectl lives from the moment it has its place: before, a gate keeps it from any node.
"""

from __future__ import annotations

import json
import threading
from collections import Counter, defaultdict
from typing import NamedTuple

import httpx2

from tests.kubernetes.api import Api, Denied, Thing
from tests.kubernetes.story import ENDED, JOB_LABEL, REPLICA_LABEL, RUN_LABEL, gpus_of, node_of

GPUS_OF_A_NODE = 8
OBJECT_LABEL = "quotatree.io/object"


class Who(NamedTuple):
    """For which replica of which run of which job a pod stands."""

    job: str
    run: int
    replica: str


def made_by_us(pod: Thing) -> Who:
    labels = pod["metadata"]["labels"]
    return Who(labels[JOB_LABEL], int(labels[RUN_LABEL]), labels[REPLICA_LABEL])


def made_with_kubectl(pod: Thing) -> Who | None:
    """The replica that a pod of an adopted object was given; None before."""
    replica = pod["metadata"]["labels"].get(REPLICA_LABEL)
    name = (pod["metadata"].get("annotations") or {}).get(RUN_LABEL, "")
    job, _, run = name.rpartition(".")
    return Who(job, int(run), replica) if replica is not None else None


class Witness:
    """`faults`: what was seen that must never be. `runs`: the runs of each job that had a pod, in order."""

    def __init__(self, api: Api, *, native: bool = False) -> None:
        """`native`: of pods whose objects were made with kubectl, not of those that QuotaTree makes."""
        self._selector = OBJECT_LABEL if native else JOB_LABEL
        self._who = made_with_kubectl if native else made_by_us
        self.faults: list[str] = []
        self.runs: dict[str, list[int]] = defaultdict(list)
        self.seen = 0
        self._api = api
        self._living: dict[str, tuple[Who, Thing]] = {}
        self._over = False
        self._list()
        self._thread = threading.Thread(target=self._follow, name="witness", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over = True

    def _list(self) -> None:
        listed = self._api.get("/api/v1/pods", labelSelector=self._selector)
        self._version = listed["metadata"]["resourceVersion"]
        there = {pod["metadata"]["uid"] for pod in listed["items"]}
        for uid in [uid for uid in self._living if uid not in there]:
            del self._living[uid]
        for pod in listed["items"]:
            self._see("ADDED", pod)

    def _follow(self) -> None:
        while not self._over:
            try:
                with self._api.watching("/api/v1/pods", self._version, labelSelector=self._selector) as lines:
                    for line in lines:
                        if self._over:
                            return
                        event = json.loads(line)
                        if event["type"] == "ERROR":
                            self._list()
                            break
                        self._version = event["object"]["metadata"]["resourceVersion"]
                        if event["type"] != "BOOKMARK":
                            self._see(event["type"], event["object"])
            except (httpx2.HTTPError, Denied):
                threading.Event().wait(0.1)

    def _see(self, how: str, pod: Thing) -> None:
        self.seen += 1
        uid, who = pod["metadata"]["uid"], self._who(pod)
        if who is None:
            return
        if who.run not in self.runs[who.job]:
            self.runs[who.job].append(who.run)
        if how == "DELETED" or pod["status"].get("phase") in ENDED:
            self._living.pop(uid, None)
            return
        new = uid not in self._living
        self._living[uid] = (who, pod)
        if new:
            self._judge(who, pod)

    def _judge(self, who: Who, new: Thing) -> None:
        """Look what the new pod means for its job and its node."""
        name = new["metadata"]["name"]
        mates = [other for other, _ in self._living.values() if other.job == who.job]
        runs = {other.run for other in mates}
        if len(runs) > 1:
            self.faults.append(f"{name}: job {who.job} lives in the runs {sorted(runs)}")
        if Counter(other.replica for other in mates)[who.replica] > 1:
            self.faults.append(f"{name}: replica {who.replica} lives twice")
        node = node_of(new)
        used = sum(gpus_of(pod) for _, pod in self._living.values() if node_of(pod) == node)
        if node and used > GPUS_OF_A_NODE:
            self.faults.append(f"{name}: {used} GPUs of {node} are given out")
