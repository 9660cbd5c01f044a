"""How long does the server take for 15,000 short jobs that arrive in real time, and what does a job cost it?

Times are taken from the jobs as the server has written them; that none was lost is checked by reading every one of them
back. Processor seconds per job say more than the clock on a machine that is not quiet.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from statistics import mean
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from benchmarks.measure import Table, budgets, verdict
from benchmarks.server.floor import floor_seconds
from benchmarks.server.load import (
    CLASSES,
    GROUPS,
    POLICIES,
    QUOTAS_PER_GROUP,
    UNITS,
    WORKSPACE,
    Policy,
    capacity_seconds,
    jobs_in_all,
    quotas_of,
)
from benchmarks.server.serving import Served, served
from quotatree.client import Client
from quotatree.client.types import QuotaIn

LONGEST_SECONDS: Final = 600
LOOK_EVERY_SECONDS: Final = 0.5


class Seen(NamedTuple):
    """The measurements of one run. Latencies are sorted."""

    seconds: float
    latency_ms: list[float]
    commits: float
    server_cpu_seconds: float
    generator_cpu_seconds: float
    peak_mib: float
    wait_seconds: dict[str, float]
    evictions: int
    jobs_preempted: int


def baseline(database: str | None) -> list[Table]:
    policies = [run_policy(policy, database) for policy in POLICIES]
    limit = budgets()["server"]
    whole = Table(
        f"{jobs_in_all():,} jobs of Kueue's baseline generator, {_store(database)}",
        ("policy", "core alone s", "server s", "budget s", "", "submit p50 ms", "p99 ms", "commits/s", "server CPU s",
         "ms/job", "budget ms", " ", "generator CPU s", "memory MiB"),
        note=f"Capacity alone needs {capacity_seconds():.0f} s; the reference for Kueue on this load is 351-422 s. "
        "*Core alone* is the same load in virtual time: nothing takes time but the jobs. "
        f"All {jobs_in_all():,} jobs of every row have been read back and succeeded.",
    )  # fmt: skip
    for policy, seen in zip(POLICIES, policies, strict=True):
        each_ms = 1000 * seen.server_cpu_seconds / jobs_in_all()
        whole.add(
            policy.says, f"{floor_seconds(policy):.1f}", f"{seen.seconds:.1f}", limit["baseline_seconds"],
            verdict(seen.seconds, limit["baseline_seconds"]), f"{_at(seen.latency_ms, 50):.1f}",
            f"{_at(seen.latency_ms, 99):.1f}", f"{seen.commits / seen.seconds:.0f}", f"{seen.server_cpu_seconds:.1f}",
            f"{each_ms:.2f}", limit["cpu_ms_per_job"], verdict(each_ms, limit["cpu_ms_per_job"]),
            f"{seen.generator_cpu_seconds:.1f}", f"{seen.peak_mib:.0f}",
        )  # fmt: skip
    waits = Table(
        "The same runs: mean time from submit to first start, and what was taken",
        ("policy", *(f"{each.name} s" for each in CLASSES), "evictions", "jobs preempted"),
        note="Evictions count idle work taken back and every repetition; a preempted job is counted once.",
    )
    for policy, seen in zip(POLICIES, policies, strict=True):
        waited = [f"{seen.wait_seconds[each.name]:.2f}" for each in CLASSES]
        waits.add(policy.says, *waited, seen.evictions, seen.jobs_preempted)
    return [whole, waits]


def run_policy(policy: Policy, database: str | None) -> Seen:
    with served(database) as server, Client(server.url, server.token) as client:
        furnish(client, policy)
        before, cpu_before = server.metrics(), server.cpu_seconds()
        sent = _generate(server)
        _until_all_ended(client)
        cpu_after, after = server.cpu_seconds(), server.metrics()
        peak_mib = server.peak_mib()
        jobs = list(client.jobs.list())
        if sent["refused"]:
            raise SystemExit(f"{len(sent['refused'])} submits were refused, first {sent['refused'][0]}")
        _check(jobs)
    return Seen(
        (max(job["ended_ms"] or 0 for job in jobs) - min(job["submitted_ms"] for job in jobs)) / 1000,
        sorted(one for each in sent["latency_ms"].values() for one in each),
        _grown(before, after, "quotatree_commit_seconds_count"),
        cpu_after - cpu_before,
        sent["cpu_seconds"],
        peak_mib,
        {each.name: _mean_wait(jobs, each.name) for each in CLASSES},
        round(_grown(before, after, 'quotatree_decisions_total{kind="Evict"')),
        sum(1 for job in jobs if job["preempted"]),
    )


def furnish(client: Client, policy: Policy) -> None:
    """Create the nodes, the quotas and one workspace bound to all of them."""
    client.workspaces.create({"id": WORKSPACE, "owners": ["admin"]})
    for group in range(GROUPS):
        cpu = QUOTAS_PER_GROUP * UNITS
        client.nodes.join({"name": f"node-{group}", "pool": f"pool-{group}", "gpus": 0, "cpu": cpu})
        client.quotas.create({"id": f"group-{group}", "draws": {f"pool-{group}": {"cpu": cpu}}})
        for quota in quotas_of(group):
            made: QuotaIn = {
                "id": quota,
                "parent": f"group-{group}",
                "min": {"cpu": UNITS},
                "self_level": {"high": policy.high, "low": policy.low, "scope": "own"},
            }
            client.quotas.create(made)
            client.workspaces.bind(WORKSPACE, quota)


def _generate(server: Served) -> dict[str, Any]:
    """Run the generator and return what it printed, once the last job has been submitted."""
    where = urlsplit(server.url)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.server.generator", str(where.hostname), str(where.port)],
        input=server.token + "\n", stdout=subprocess.PIPE, text=True, check=True, timeout=LONGEST_SECONDS,
    )  # fmt: skip
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _until_all_ended(client: Client) -> None:
    until = time.monotonic() + LONGEST_SECONDS
    while next(client.jobs.list(active=True, most=1), None) is not None:
        if time.monotonic() > until:
            raise SystemExit("the jobs do not end")
        time.sleep(LOOK_EVERY_SECONDS)


def _check(jobs: list[Any]) -> None:
    """Exit with a message unless every submitted job is there once and has succeeded."""
    ended = [job for job in jobs if job["phase"] == "Succeeded"]
    for each in CLASSES:
        there = sum(1 for job in ended if job["name"] == each.name)
        wanted = each.jobs * GROUPS * QUOTAS_PER_GROUP
        if there != wanted:
            raise SystemExit(f"{there} of {wanted} {each.name} jobs have succeeded")
    if len(jobs) != jobs_in_all():
        raise SystemExit(f"{len(jobs)} jobs in the store, {jobs_in_all()} were submitted")


def _mean_wait(jobs: list[Any], name: str) -> float:
    return mean((job["first_started_ms"] - job["submitted_ms"]) / 1000 for job in jobs if job["name"] == name)


def _grown(before: dict[str, float], after: dict[str, float], prefix: str) -> float:
    """The growth of all counters with this prefix together."""
    return sum(value - before.get(name, 0.0) for name, value in after.items() if name.startswith(prefix))


def _at(ordered: list[float], percent: int) -> float:
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def _store(database: str | None) -> str:
    return (
        "SQLite" if database is None or "://" not in database else urlsplit(database).scheme.partition("+")[0]
    )
