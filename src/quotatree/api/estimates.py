"""When will it start? Asked of a process of its own, few at a time, so that neither the loop nor other requests wait for it."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from typing import Final, NamedTuple

import anyio.to_thread
import structlog

from quotatree.api.caller import Caller
from quotatree.api.estimate_worker import Work
from quotatree.api.models.explanations import EstimateOut
from quotatree.codec import encode
from quotatree.control.world import World
from quotatree.core import JobId, JobRecord, Module, Phase, Quota, Settings
from quotatree.store.estimating import Material

log = structlog.get_logger(__name__)
COMMAND: Final = (sys.executable, "-c", "from quotatree.api.estimate_worker import main; main()")
LONGEST_SECONDS: Final = 25.0
"""When a process is given up, its start and reading what is known included."""
WAITING: Final = (Phase.WAITING, Phase.HELD)


def cannot_tell(why: str) -> EstimateOut:
    return {"earliest_ms": None, "likely_ms": None, "latest_ms": None, "why": why, "rests_on": []}


async def estimate(caller: Caller, job: str) -> EstimateOut | None:
    """The estimate for a job that the caller may see; None if it does not wait."""

    def query(world: World, now_ms: int) -> Known | None:
        del now_ms
        found = world.state.jobs.get(JobId(job))
        waits = found is not None and found.phase in WAITING
        return known_of(world, found.quota) if found is not None and waits else None

    known = await caller.ask(query)
    if known is None:
        return None
    material = await caller.read(lambda store: store.material(known.quotas))
    if job not in material.owners:
        return cannot_tell("it is not stored yet, or over: ask again")
    return await _estimate(caller, known, material, job)


async def estimate_submission(caller: Caller, job: JobRecord) -> EstimateOut:
    """The estimate for a job that the caller would submit now."""
    known = await caller.ask(lambda world, _: known_of(world, world.quota(job.spec.quota)))
    material = await caller.read(lambda store: store.material(known.quotas))
    material = material._replace(
        jobs=(*material.jobs, json.dumps(encode(job))), owners={**material.owners, job.spec.id: caller.user}
    )
    return await _estimate(caller, known, material, job.spec.id)


class Known(NamedTuple):
    """What the loop knows for an estimate: the quotas of the tree, and the longest run by (workspace, quota, module)."""

    settings: Settings
    quotas: tuple[str, ...]
    longest_run_ms: dict[tuple[str, str, str], int]


def known_of(world: World, quota: Quota) -> Known:
    longest = {
        (workspace, bound, module.value): limit_ms
        for (workspace, bound), centre in world.directory.centres.items()
        for module in Module
        if (limit_ms := centre.longest_run(module)) is not None
    }
    return Known(world.state.settings, tuple(one.id for one in quota.root.subtree()), longest)


async def _estimate(caller: Caller, known: Known, material: Material, job: str) -> EstimateOut:
    if caller.services.estimators.available_tokens < 1:
        return cannot_tell("other estimates are being made: ask again in a moment")
    work = Work(material, job, caller.services.clock(), known.settings, known.longest_run_ms)
    return await anyio.to_thread.run_sync(played, work, limiter=caller.services.estimators)


def played(work: Work, command: tuple[str, ...] = COMMAND, seconds: float = LONGEST_SECONDS) -> EstimateOut:
    """The estimate, made in a process of its own, which this thread waits for."""
    try:
        done = subprocess.run(
            command, input=pickle.dumps(work), capture_output=True, timeout=seconds, check=True
        )
    except subprocess.TimeoutExpired:
        return cannot_tell("there is too much to play through in the time that an estimate may take")
    except (subprocess.CalledProcessError, OSError) as error:
        said = getattr(error, "stderr", None) or b""
        log.error("estimate_broke", job=work.job, error=str(error), said=said.decode(errors="replace")[-500:])
        return cannot_tell("the estimate broke; the server's log says how")
    found: EstimateOut = json.loads(done.stdout)
    return found
