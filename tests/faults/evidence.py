"""What the engine's own file says happened: which runs, when, on which devices. The server has no part in it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path


@dataclass
class Ran:
    """One run as the timer engine lived it."""

    job: str
    run: int
    began_ms: int
    ends_ms: int
    leaves_ms: int
    replicas: dict[int, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    gone_ms: dict[int, int] = field(default_factory=dict)

    def until_ms(self, replica: int) -> int:
        return min(self.ends_ms, self.gone_ms.get(replica, self.ends_ms))

    @property
    def over_ms(self) -> int:
        return max(self.until_ms(replica) for replica in self.replicas)

    @property
    def came_to_its_end(self) -> bool:
        return self.over_ms == self.ends_ms


def read(path: Path) -> tuple[dict[tuple[str, int], Ran], list[str]]:
    """All runs, and what is wrong with them by themselves: a replica started twice."""
    runs: dict[tuple[str, int], Ran] = {}
    faults = []
    for text in path.read_text().splitlines():
        if not text:
            continue
        line = json.loads(text)
        key = (line["job"], line["run"])
        if line["do"] == "start":
            program = line["program"]
            ends_ms = line["at_ms"] + round(program["seconds"] * 1000)
            leaves_ms = round(program["leaves_after"] * 1000)
            run = runs.setdefault(key, Ran(*key, line["at_ms"], ends_ms, leaves_ms))
            for replica, (node, devices) in zip(line["replicas"], line["places"], strict=True):
                if replica in run.replicas:
                    faults.append(f"{key} replica {replica} started twice")
                run.replicas[replica] = (node, tuple(devices))
        elif line["do"] == "stop" and key in runs:
            run = runs[key]
            gone_ms = line["at_ms"] + min(line["grace_ms"], run.leaves_ms)
            for replica in run.replicas if line["replicas"] is None else line["replicas"]:
                run.gone_ms[replica] = min(gone_ms, run.gone_ms.get(replica, gone_ms))
    return runs, faults


def overlaps(runs: dict[tuple[str, int], Ran]) -> list[str]:
    """Devices that two replicas had at the same time, and jobs of which two runs ran at the same time."""
    faults = []
    held: dict[tuple[str, int], list[tuple[int, int, str]]] = {}
    lived: dict[str, list[Ran]] = {}
    for run in runs.values():
        lived.setdefault(run.job, []).append(run)
        for replica, (node, devices) in run.replicas.items():
            for device in devices:
                span = (run.began_ms, run.until_ms(replica), f"{run.job} run {run.run}")
                held.setdefault((node, device), []).append(span)
    for where, spans in held.items():
        spans.sort()
        for (_, until_ms, one), (from_ms, _, other) in pairwise(spans):
            if from_ms < until_ms:
                faults.append(f"GPU {where} given to {one} and {other}")
    for of_job in lived.values():
        of_job.sort(key=lambda run: run.run)
        for first, second in pairwise(of_job):
            if second.began_ms < first.over_ms:
                faults.append(f"{first.job}: run {second.run} began before run {first.run} was over")
            if first.came_to_its_end:
                faults.append(f"{first.job}: run again after run {first.run} had come to its end")
    return faults
