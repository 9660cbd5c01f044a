"""Who saw everything? A watch of all pods of ours, which notes the moment a promise is broken (A7).

A pod lives from its creation until it has ended or is gone. While it lives it has its GPUs on its node, bound or not.
"""

from __future__ import annotations

import json
import threading
from collections import Counter, defaultdict

import httpx2

from tests.kubernetes.api import Api, Denied, Thing
from tests.kubernetes.story import ENDED, JOB_LABEL, REPLICA_LABEL, RUN_LABEL, gpus_of, node_of

GPUS_OF_A_NODE = 8


class Witness:
    """`faults`: what was seen that must never be. `runs`: the runs of each job that had a pod, in order."""

    def __init__(self, api: Api) -> None:
        self.faults: list[str] = []
        self.runs: dict[str, list[int]] = defaultdict(list)
        self.seen = 0
        self._api = api
        self._living: dict[str, Thing] = {}
        self._over = False
        self._list()
        self._thread = threading.Thread(target=self._follow, name="witness", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over = True

    def _list(self) -> None:
        listed = self._api.get("/api/v1/pods", labelSelector=JOB_LABEL)
        self._version = listed["metadata"]["resourceVersion"]
        there = {pod["metadata"]["uid"] for pod in listed["items"]}
        for uid in [uid for uid in self._living if uid not in there]:
            del self._living[uid]
        for pod in listed["items"]:
            self._see("ADDED", pod)

    def _follow(self) -> None:
        while not self._over:
            try:
                with self._api.watching("/api/v1/pods", self._version, labelSelector=JOB_LABEL) as lines:
                    for line in lines:
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
        meta = pod["metadata"]
        job, run = meta["labels"][JOB_LABEL], meta["labels"][RUN_LABEL]
        if int(run) not in self.runs[job]:
            self.runs[job].append(int(run))
        if how == "DELETED" or pod["status"].get("phase") in ENDED:
            self._living.pop(meta["uid"], None)
            return
        new = meta["uid"] not in self._living
        self._living[meta["uid"]] = pod
        if new:
            self._judge(pod)

    def _judge(self, new: Thing) -> None:
        """Look what the new pod means for its job and its node."""
        labels = new["metadata"]["labels"]
        name = new["metadata"]["name"]
        mates = [
            pod for pod in self._living.values() if pod["metadata"]["labels"][JOB_LABEL] == labels[JOB_LABEL]
        ]
        runs = {pod["metadata"]["labels"][RUN_LABEL] for pod in mates}
        if len(runs) > 1:
            self.faults.append(f"{name}: job {labels[JOB_LABEL]} lives in the runs {sorted(runs)}")
        twins = Counter(pod["metadata"]["labels"][REPLICA_LABEL] for pod in mates)
        if twins[labels[REPLICA_LABEL]] > 1:
            self.faults.append(f"{name}: replica {labels[REPLICA_LABEL]} lives twice")
        node = node_of(new)
        used = sum(gpus_of(pod) for pod in self._living.values() if node_of(pod) == node)
        if used > GPUS_OF_A_NODE:
            self.faults.append(f"{name}: {used} GPUs of {node} are given out")
