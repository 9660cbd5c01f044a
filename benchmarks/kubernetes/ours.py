"""QuotaTree on the same cluster: a server in a process of its own, with the rights of the chart, and the same work."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.kubernetes.outcome import Outcome, Victim
from benchmarks.kubernetes.processors import Meter
from benchmarks.kubernetes.seen import Fate, Pods
from benchmarks.kubernetes.world import GRACE_SECONDS, Work, World
from benchmarks.server.serving import cpu_seconds
from quotatree.client import Client
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.manifests import NAMESPACE, granted
from tests.kubernetes.serving import Server
from tests.kubernetes.story import JOB_LABEL

BATCH = 500
LONGEST_SECONDS = 900.0
LOW, HIGH = 1, 9
HOUR_MS = 3_600_000
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:quotatree"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Pace:
    """How the cluster was filled: the rate of starts, and what they cost the API server."""

    jobs: int
    seconds: float
    requests: int
    memory_mib: int
    start_again_seconds: float = 0.0
    """From the start of a new process until it leads, with all these jobs running."""


def run(cluster: Cluster, world: World, scratch: Path, say: Say, *, knows_ages: bool) -> tuple[Outcome, Pace]:
    """Fill the cluster, let the important jobs come, and tell what happened."""
    who = "QuotaTree" if knows_ages else "QuotaTree, ages unknown"
    with _serving(cluster, world, scratch) as (server, pods):
        names, filled = _fill(cluster, server, world, pods, say)
        # A run that is confirmed only by the new process would begin anew there, and look as if it had nothing to lose.
        _until(lambda: _confirmed(server) == len(names), "all runs are confirmed")
        server.stop()
        _age(server, world, names, knows_ages=knows_ages)
        pace = replace(filled, start_again_seconds=_start_again(server, say))
        return _arrive(cluster, server, world, names, pods, who, say), pace


def fill(cluster: Cluster, world: World, scratch: Path, say: Say) -> Pace:
    """Fill the cluster, and let a new process take over."""
    with _serving(cluster, world, scratch) as (server, pods):
        _, filled = _fill(cluster, server, world, pods, say)
        server.stop()
        return replace(filled, start_again_seconds=_start_again(server, say))


@contextmanager
def _serving(cluster: Cluster, world: World, scratch: Path) -> Iterator[tuple[Server, Pods]]:
    server = Server(scratch / "server", granted(cluster), environment={"QUOTATREE_LOOP_LEASE": "15s"})
    pods = Pods(cluster.api)
    try:
        server.start()
        _furnish(server.client, world)
        yield server, pods
    finally:
        pods.close()
        server.stop()


def _start_again(server: Server, say: Say) -> float:
    """Start a new process; return after how many seconds it leads."""
    began = time.perf_counter()
    server.start()
    seconds = time.perf_counter() - began
    say(f"a new process leads after {seconds:.1f} s")
    return seconds


def _furnish(client: Client, world: World) -> None:
    _until(lambda: sum(node["gpus"] for node in client.nodes.list()) >= world.gpus, "all nodes are known")
    pool = client.pools.list()[0]["name"]
    root: Any = {
        "id": "all",
        "draws": {pool: {"gpus": world.gpus}},
        "self_level": {"high": "6-9", "low": "1-5", "modules": ["DLC"], "scope": "own"},
    }
    client.quotas.create(root)
    client.workspaces.create({"id": "bench"})
    client.workspaces.bind("bench", "all")


def _fill(
    cluster: Cluster, server: Server, world: World, pods: Pods, say: Say
) -> tuple[dict[str, str], Pace]:
    """Submit the work in its order; return the name of each job by its id, and what it took until all pods were bound."""
    began = time.perf_counter()
    names = _submit(server.client, world.low, LOW)
    pods.wait(lambda fates: _bound(fates.values(), names) == len(names), "all low jobs run", LONGEST_SECONDS)
    seconds = time.perf_counter() - began
    requests = len(cluster.asked_by(ACCOUNT))
    say(
        f"{len(names)} jobs have their nodes after {seconds:.0f} s, {requests / len(names):.1f} requests a job"
    )
    return names, Pace(len(names), seconds, requests, _memory_mib(server.pid))


def _submit(client: Client, works: Iterable[Work], priority: int) -> dict[str, str]:
    bodies: list[Any] = [
        {
            "name": work.name,
            "workspace": "bench",
            "quota": "all",
            "priority": priority,
            "grace": f"{GRACE_SECONDS}s",
            "groups": [{"gpus": work.gpus}],
            "program": {"image": "none"},
        }
        for work in works
    ]
    found: dict[str, str] = {}
    for first in range(0, len(bodies), BATCH):
        part = bodies[first : first + BATCH]
        made = client.jobs.submit_many(part)["items"]
        found |= {one["id"]: body["name"] for one, body in zip(made, part, strict=True) if one.get("id")}  # type: ignore[misc]
    assert len(found) == len(bodies), "some jobs were refused"
    return found


def _age(server: Server, world: World, names: dict[str, str], *, knows_ages: bool) -> None:
    """Let the jobs have run for two hours, and, where ages are known, have saved when they did.

    An hour is not waited for: the store is told so while no server runs.
    """
    ages = {work.name: work.checkpoint_age_seconds for work in world.low}
    now_ms = time.time_ns() // 1_000_000
    with sqlite3.connect(server.home / "data" / "quotatree.db") as store:
        for job, text in store.execute("SELECT id, record FROM jobs").fetchall():
            if job in names:
                record = json.loads(text)
                saved = now_ms - 1000 * ages[names[job]] if knows_ages else None
                record |= {"started_ms": now_ms - 2 * HOUR_MS, "checkpoint_ms": saved}
                record["core"][0 if isinstance(record["core"], list) else "started_ms"] = now_ms - 2 * HOUR_MS
                store.execute("UPDATE jobs SET record = ? WHERE id = ?", (json.dumps(record), job))


def _confirmed(server: Server) -> int:
    with sqlite3.connect(server.home / "data" / "quotatree.db") as store:
        found = store.execute("SELECT COUNT(*) FROM runs WHERE confirmed_ms IS NOT NULL AND ended_ms IS NULL")
        return int(found.fetchone()[0])


def _arrive(
    cluster: Cluster, server: Server, world: World, names: dict[str, str], pods: Pods, who: str, say: Say
) -> Outcome:
    parts = {name: part.cpu_seconds for name, part in cluster.parts.items()}
    meter = Meter({**parts, "quotatree": lambda: cpu_seconds(server.pid)})
    began = time.perf_counter()
    high = _submit(server.client, world.high, HIGH)
    say(f"{who}: {len(high)} important jobs came")
    pods.wait(lambda fates: _bound(fates.values(), high) == len(high), "all are bound", LONGEST_SECONDS)
    spent = meter.spent()
    fates = list(pods.fates.values())
    bound = tuple(fate.bound - began for fate in fates if _job(fate) in high and fate.bound is not None)
    victims = tuple(_victims(server, world, names, fates, began))
    return Outcome(who, bound, world.wanted_gpus, victims, spent)


def _victims(
    server: Server, world: World, names: dict[str, str], fates: list[Fate], began: float
) -> Iterator[Victim]:
    ages = {work.name: work.checkpoint_age_seconds for work in world.low}
    blamed = {
        victim["job"]: entry["preemption"]["preemptor"]
        for entry in server.client.preemptions.list()
        for victim in entry["preemption"]["victims"]
    }
    stands = {_job(fate): fate.node for fate in fates if fate.told is None}
    for fate in fates:
        job = _job(fate)
        if fate.told is not None and fate.told >= began and job in names:
            assert fate.node is not None
            preemptor = blamed.get(job)
            where = None if preemptor is None else stands.get(preemptor)
            yield Victim(
                names[job], fate.gpus, fate.told - began, ages[names[job]], fate.node, preemptor, where
            )


def _job(fate: Fate) -> str:
    return fate.labels.get(JOB_LABEL, "")


def _bound(fates: Iterable[Fate], jobs: dict[str, str]) -> int:
    return sum(fate.bound is not None and _job(fate) in jobs for fate in fates)


def _memory_mib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def _until(asked: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + LONGEST_SECONDS
    while not asked():
        if time.monotonic() > end:
            raise TimeoutError(f"still not: {what}")
        time.sleep(0.5)
