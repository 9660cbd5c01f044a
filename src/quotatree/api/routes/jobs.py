"""Jobs: submit, list, look at, cancel, priority, hold and release, checkpoint,
resize, stop and start again (J5, W1-W5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from fastapi import Query
from pydantic import Field
from starlette.responses import JSONResponse, Response

from quotatree.access.check import OnJob, OnWorkspace, check, workspaces_with_visible_jobs
from quotatree.access.errors import NotFound
from quotatree.access.roles import Action
from quotatree.api.caller import Caller, needs
from quotatree.api.etags import Key, tagged
from quotatree.api.models.answers import Done
from quotatree.api.models.fields import Cursor, JobInPath, Limit, ModuleName, Moment, Names
from quotatree.api.models.job_views import JobOut, JobPage, job_out
from quotatree.api.models.jobs import (
    AutoscaleIn,
    BatchItem,
    JobIn,
    JobsIn,
    PriorityIn,
    ReplicasIn,
    ResizeIn,
    Submitted,
    SubmittedMany,
)
from quotatree.api.models.runs import Runs, run_out
from quotatree.api.problems import problem_kept
from quotatree.api.route import problems, router
from quotatree.control.commands import values as do
from quotatree.control.queries import Query as Asked
from quotatree.control.queries import reasons
from quotatree.control.world import World
from quotatree.core import JobId, QuotaId, Refused
from quotatree.store import BEGAN_TO_WAIT, JobFilter, JobSort, Store
from quotatree.store.rows import JobRow

routes = router("jobs")
SortName = Literal[
    "submitted", "-submitted", "priority", "-priority", "gpus", "-gpus", "name", "-name", "owner", "-owner",
    "quota", "-quota", "workspace", "-workspace", "module", "-module", "phase", "-phase", "started", "-started",
    "ended", "-ended", "waiting_since", "-waiting_since",
]  # fmt: skip
QUEUED: Final = ("Waiting", "Running")
"""Phases of jobs that may be in the queue of their quota: running ones for replicas that they miss, or for promotion (I1, P12)."""
SORTED_BY: Final = {
    "submitted": "submitted_ms", "priority": "priority", "gpus": "gpu_milli", "name": "name", "owner": "owner",
    "quota": "quota", "workspace": "workspace", "module": "module", "phase": "phase", "started": "started_ms",
    "ended": "ended_ms", "waiting_since": BEGAN_TO_WAIT,
}  # fmt: skip
PhaseName = Literal["Waiting", "Held", "Running", "Stopped", "OnHold", "Succeeded", "Failed", "Cancelled"]


@routes.post("/jobs", status_code=201, response_model=Submitted, responses=problems(409, 413, 415))
async def submit_job(
    body: JobIn, caller: Annotated[Caller, needs(Action.SUBMIT_JOB)], key: Key = None
) -> Response:
    """Queue a job. With an Idempotency-Key, a repeated request never makes two."""
    answer = await caller.call(body.command(caller.user, key))
    made: Submitted = {"id": answer.id, "repeated": answer.repeated}
    return tagged(made, None, 201, f"/api/v1/jobs/{answer.id}")


@routes.post("/jobs/batch", response_model=SubmittedMany, responses=problems(409, 413, 415))
async def submit_jobs(
    body: JobsIn, caller: Annotated[Caller, needs(Action.SUBMIT_JOB)], key: Key = None
) -> Response:
    """Queue up to 1000 jobs in one commit. Each has its own outcome, in the order given."""
    jobs = tuple(job.command(caller.user) for job in body.jobs)
    answer = await caller.call(do.SubmitJobs(actor=caller.user, key=key, jobs=jobs))
    items: list[BatchItem] = [
        {"id": item.id, "problem": None if item.problem is None else problem_kept(item.problem)}
        for item in answer.items
    ]
    many: SubmittedMany = {"items": items, "repeated": answer.repeated}
    return JSONResponse(many)


@routes.get("/jobs", response_model=JobPage)
async def list_jobs(
    caller: Annotated[Caller, needs(Action.SEE_JOB)],
    workspace: Names = None,
    quota: Names = None,
    owner: Names = None,
    name: Names = None,
    module: Annotated[list[ModuleName] | None, Query()] = None,
    phase: Annotated[list[PhaseName] | None, Query()] = None,
    priority: Annotated[
        list[Annotated[int, Field(ge=1, le=9)]] | None, Query(max_length=9, description="any of these")
    ] = None,
    part: Annotated[
        str | None, Query(pattern="^[-a-z0-9.]{1,63}$", description="a part of the name or of the id")
    ] = None,
    below: Annotated[bool, Query(description="of the quotas below those named, too")] = False,
    active: Annotated[bool | None, Query(description="not finished yet, or still leaving")] = None,
    submitted_from_ms: Moment = None,
    submitted_before_ms: Moment = None,
    positions: Annotated[bool, Query(description="with the place of each job that is in its queue")] = False,
    total: Annotated[bool, Query(description="with the number of jobs on all pages")] = False,
    sort: Annotated[SortName, Query(description="by what; with a minus, from large to small")] = "-submitted",
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """The jobs of one's workspaces, without another order newest first."""
    asked = JobFilter(
        workspaces=workspaces_of(caller, workspace),
        quotas=_texts(await caller.ask(_with_those_below(quota)) if below and quota else quota),
        owners=_texts(owner),
        names=_texts(name),
        modules=_texts(module),
        phases=_texts(phase),
        priorities=None if priority is None else tuple(sorted(set(priority))),
        part=part,
        active=active,
        submitted_from_ms=submitted_from_ms,
        submitted_before_ms=submitted_before_ms,
    )
    order = JobSort(SORTED_BY[sort.removeprefix("-")], not sort.startswith("-"))
    page = await caller.read(lambda store: store.jobs(asked, cursor, limit, order))
    reads, allowed = await caller.eyes(), caller.allowed()
    waiting = [row for row in page.items if row.phase == "Waiting"]
    queued = [row for row in page.items if row.phase in QUEUED] if positions else []
    places = await caller.ask(positions_of(queued)) if queued else {}
    why = await caller.ask(reasons([row.id for row in waiting])) if waiting else {}

    def told(store: Store) -> JobPage:
        endings, ran = endings_of(store, page.items), ran_before(store, page.items)
        items = [
            job_out(
                row,
                reads,
                allowed,
                position=places.get(row.id),
                ending=endings.get(row.id),
                waits_for=why.get(row.id),
                ran_before_ms=ran.get(row.id, 0),
            )
            for row in page.items
        ]
        return {
            "items": items,
            "next": page.next,
            "total": store.count_jobs(asked) if total else None,
        }

    return JSONResponse(await caller.read(told))


def _with_those_below(quotas: list[str]) -> Asked[list[str]]:
    def query(world: World, now_ms: int) -> list[str]:
        del now_ms
        known = [world.state.quotas[QuotaId(name)] for name in quotas if name in world.state.quotas]
        return [*quotas, *(below.id for top in known for below in top.subtree())]

    return query


def endings_of(store: Store, rows: Sequence[JobRow]) -> dict[str, str]:
    """What went wrong, by job, for those of the jobs that failed."""
    failed: dict[str, int] = {row.id: row.run for row in rows if row.phase == "Failed"}
    return store.endings(failed) if failed else {}


def ran_before(store: Store, rows: Sequence[JobRow]) -> dict[str, int]:
    """How long each of the jobs ran before it began to wait, or before its present run."""
    again: dict[str, int] = {row.id: row.waits_from_ms for row in rows if row.run > (0 if row.waits else 1)}
    return store.ran_before(again) if again else {}


def positions_of(rows: list[JobRow]) -> Asked[dict[JobId, int]]:
    """The place of each of these jobs in the queue of its quota; jobs that are not there are left out."""

    def query(world: World, now_ms: int) -> dict[JobId, int]:
        found: dict[JobId, int] = {}
        for quota in {row.quota for row in rows}:
            here = [world.state.jobs.get(row.id) for row in rows if row.quota == quota]
            wanted = [job for job in here if job is not None]  # a job may have ended since its row was read
            at, aging_ms = world.quota(quota), world.state.settings.aging_interval_ms
            found |= at.queue.positions_of(wanted, now_ms, aging_ms, at.spec.strategy)
        return found

    return query


def workspaces_of(caller: Caller, asked: list[str] | None) -> tuple[str, ...] | None:
    """The workspaces asked for, which must be visible; without any, all whose jobs are visible.

    None: all, for a platform admin who names none.
    """
    if asked is not None:
        for name in asked:
            check(caller.directory, caller.user, Action.SEE_WORKSPACE, OnWorkspace(name))
        return tuple(sorted(set(asked)))
    if caller.directory.users[caller.user].platform_admin:
        return None
    return tuple(sorted(workspaces_with_visible_jobs(caller.directory, caller.user)))


def _texts(values: list[str] | list[ModuleName] | list[PhaseName] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(sorted(set(values)))


async def visible_job(caller: Caller, action: Action, job: str) -> JobRow:
    """The job from the store, which has finished jobs as well. Raises unless the caller may do the action."""
    row = await caller.read(lambda store: store.job(job))
    if row is None:
        raise NotFound("job", job)
    check(caller.directory, caller.user, action, OnJob(job, row.workspace, row.owner))
    return row


@routes.get("/jobs/{job}", response_model=JobOut)
async def get_job(
    job: JobInPath,
    caller: Annotated[Caller, needs(Action.SEE_JOB)],
    positions: Annotated[bool, Query(description="with its place in the queue, if it is there")] = False,
) -> Response:
    """One job, finished or not."""
    row = await visible_job(caller, Action.SEE_JOB, job)
    waits = row.phase == "Waiting"
    places = await caller.ask(positions_of([row])) if positions and row.phase in QUEUED else {}
    why = await caller.ask(reasons([row.id])) if waits else {}
    reads = await caller.eyes()

    def told(store: Store) -> JobOut:
        ending = endings_of(store, [row]).get(row.id)
        ran_ms = ran_before(store, [row]).get(row.id, 0)
        return job_out(
            row, reads, caller.allowed(),
            position=places.get(row.id), ending=ending, waits_for=why.get(row.id), ran_before_ms=ran_ms,
        )  # fmt: skip

    return JSONResponse(await caller.read(told))


@routes.get("/jobs/{job}/runs", response_model=Runs)
async def list_runs(job: JobInPath, caller: Annotated[Caller, needs(Action.SEE_JOB)]) -> Response:
    """Every run of a job, with where its replicas stood and how it ended."""
    await visible_job(caller, Action.SEE_JOB, job)

    def question(store: Store) -> Runs:
        places = store.placements(job)
        return {"items": [run_out(run, [p for p in places if p.run == run.run]) for run in store.runs(job)]}

    return JSONResponse(await caller.read(question))


async def _do(caller: Caller, command: do.JobCommand) -> Response:
    """Carry out a command on a job. Raises Refused, not NotFound, for a finished job that the caller may see."""
    try:
        answer = await caller.call(command)
    except NotFound:
        row = await visible_job(caller, Action.SEE_JOB, command.job)
        raise Refused("job", row.id, "J5", f"is {row.phase} and over") from None
    done: Done = {"id": answer.id, "version": None}
    if answer.notice:
        done["notice"] = answer.notice
    return JSONResponse(done)


@routes.post("/jobs/{job}/cancel", response_model=Done, responses=problems(409))
async def cancel_job(
    job: JobInPath, caller: Annotated[Caller, needs(Action.CANCEL_JOB)], key: Key = None
) -> Response:
    """End it. What runs gets notice and its grace period."""
    return await _do(caller, do.CancelJob(actor=caller.user, key=key, job=job))


@routes.put("/jobs/{job}/priority", response_model=Done)
async def set_priority(
    job: JobInPath, body: PriorityIn, caller: Annotated[Caller, needs(Action.SET_PRIORITY)]
) -> Response:
    """Works while the job waits (W5)."""
    return await _do(caller, do.SetPriority(actor=caller.user, job=job, priority=body.priority))


@routes.post("/jobs/{job}/hold", response_model=Done)
async def hold_job(job: JobInPath, caller: Annotated[Caller, needs(Action.HOLD_JOB)]) -> Response:
    """Take a waiting job out of the queue."""
    return await _do(caller, do.HoldJob(actor=caller.user, job=job))


@routes.post("/jobs/{job}/release", response_model=Done)
async def release_job(job: JobInPath, caller: Annotated[Caller, needs(Action.HOLD_JOB)]) -> Response:
    """Put it back, with the submit time it had."""
    return await _do(caller, do.ReleaseJob(actor=caller.user, job=job))


@routes.post("/jobs/{job}/checkpoint", response_model=Done)
async def checkpoint_job(job: JobInPath, caller: Annotated[Caller, needs(Action.CHECKPOINT_JOB)]) -> Response:
    """Say that a checkpoint was written: work before it is not lost when the job is evicted (P6)."""
    return await _do(caller, do.CheckpointJob(actor=caller.user, job=job))


@routes.put("/jobs/{job}/replicas", response_model=Done)
async def set_replicas(
    job: JobInPath, body: ReplicasIn, caller: Annotated[Caller, needs(Action.RESIZE_JOB)]
) -> Response:
    """Change how many replicas a job wants, insists on, and can use at most (P12)."""
    return await _do(caller, body.command(caller.user, job))


@routes.put("/jobs/{job}/autoscale", response_model=Done)
async def set_autoscale(
    job: JobInPath, body: AutoscaleIn, caller: Annotated[Caller, needs(Action.RESIZE_JOB)]
) -> Response:
    """Let the replicas of a service follow its demand within bounds (P16). What it wants outside of them is moved into them."""
    return await _do(caller, do.AutoscaleJob(actor=caller.user, job=job, autoscale=body.value()))


@routes.delete("/jobs/{job}/autoscale", response_model=Done)
async def drop_autoscale(job: JobInPath, caller: Annotated[Caller, needs(Action.RESIZE_JOB)]) -> Response:
    """Follow demand no more: `replicas` stays as it is now (P16)."""
    return await _do(caller, do.AutoscaleJob(actor=caller.user, job=job, autoscale=None))


@routes.put("/jobs/{job}/min-replicas", response_model=Done)
async def resize_job(
    job: JobInPath, body: ResizeIn, caller: Annotated[Caller, needs(Action.RESIZE_JOB)]
) -> Response:
    """Change how many replicas an elastic job insists on (P12)."""
    return await _do(caller, do.ResizeJob(actor=caller.user, job=job, min_replicas=body.min_replicas))


@routes.post("/jobs/{job}/stop", response_model=Done)
async def stop_job(job: JobInPath, caller: Annotated[Caller, needs(Action.STOP_JOB)]) -> Response:
    """Stop it so that it can be started again: notice, grace, and its directory is kept."""
    return await _do(caller, do.StopJob(actor=caller.user, job=job))


@routes.post("/jobs/{job}/start", response_model=Done)
async def start_job(job: JobInPath, caller: Annotated[Caller, needs(Action.RESTART_JOB)]) -> Response:
    """Queue a stopped job again."""
    return await _do(caller, do.ResubmitJob(actor=caller.user, job=job))


@routes.post("/jobs/{job}/restart", response_model=Done)
async def restart_job(job: JobInPath, caller: Annotated[Caller, needs(Action.RESTART_JOB)]) -> Response:
    """Replace the replicas of a running service one after another; a stopped job is started again."""
    row = await visible_job(caller, Action.RESTART_JOB, job)
    runs = row.phase == "Running"
    command = do.RestartService if runs else do.ResubmitJob
    return await _do(caller, command(actor=caller.user, job=job))
