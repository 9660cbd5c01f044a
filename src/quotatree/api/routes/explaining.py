"""Why does it wait, who could take it, what was decided about it, and who took what from whom (X1, X2, X4, P13)?"""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Query
from pydantic import StringConstraints
from starlette.responses import JSONResponse, Response

from quotatree.access.check import PLATFORM, OnQuota, OnWorkspace, check, path_of, roles_on, visible_quotas
from quotatree.access.errors import NotFound
from quotatree.access.roles import Action, Role
from quotatree.api.caller import Caller, needs
from quotatree.api.estimates import estimate as start_estimate
from quotatree.api.models.decisions import DecidedPage, decision_out
from quotatree.api.models.explanations import ExplanationOut, explanation_out
from quotatree.api.models.exposures import Exposures, ManyExposures, exposure_out
from quotatree.api.models.fields import JOB_ID, Cursor, JobInPath, Limit, Moment, Names
from quotatree.api.models.ledger import LedgerDetail, LedgerPage, jobs_in, ledger_out, since_out
from quotatree.api.route import router
from quotatree.api.routes.jobs import positions_of, visible_job
from quotatree.codec import decode
from quotatree.control.eyes import parents
from quotatree.control.queries import explain, exposure, exposures
from quotatree.core import Refused
from quotatree.core.decisions import Decision
from quotatree.store import HistoryFilter, Store
from quotatree.store.rows import DecisionRow, JobRow

routes = router("explaining")
StepName = Literal[
    "FREE", "IDLE", "LOAN", "RETURN", "OWN", "DESCENDANTS", "SIBLINGS_ABOVE_MIN", "SIBLINGS"
]  # fmt: skip


@routes.get("/jobs/{job}/explanation", response_model=ExplanationOut)
async def explain_job(
    job: JobInPath,
    caller: Annotated[Caller, needs(Action.EXPLAIN_JOB)],
    estimate: Annotated[bool, Query(description="also when it will start; this takes seconds")] = False,
) -> Response:
    """Why an active job waits, what is ahead, what was tried and what would help; or who preempted it."""
    try:
        told = explanation_out(await caller.ask(explain(caller.user, job)))
        told["estimate"] = await start_estimate(caller, job) if estimate else None
        return JSONResponse(told)
    except NotFound:
        row = await visible_job(caller, Action.EXPLAIN_JOB, job)
        raise Refused(
            "job", job, "X1", f"is {row.phase} and over ({row.reason_code}); see its history"
        ) from None


@routes.get("/jobs/{job}/exposure", response_model=Exposures)
async def get_exposure(job: JobInPath, caller: Annotated[Caller, needs(Action.SEE_EXPOSURE)]) -> Response:
    """By whom, and under which rules, a running job could be taken (X4)."""
    try:
        found = await caller.ask(exposure(caller.user, job))
    except NotFound:
        row = await visible_job(caller, Action.SEE_EXPOSURE, job)
        raise Refused("job", job, "X4", f"is {row.phase}, not running") from None
    said: Exposures = {"items": [exposure_out(one) for one in found]}
    return JSONResponse(said)


@routes.get("/exposures", response_model=ManyExposures)
async def list_exposures(
    caller: Annotated[Caller, needs(Action.SEE_EXPOSURE)],
    job: Annotated[
        list[Annotated[str, StringConstraints(pattern=JOB_ID)]], Query(min_length=1, max_length=100)
    ],
) -> Response:
    """By whom each of several running jobs could be taken (X4), such as those of one page of a list."""
    found = await caller.ask(exposures(caller.user, job))
    said: ManyExposures = {
        "items": [
            {"job": one, "items": [exposure_out(risk) for risk in risks]} for one, risks in found.items()
        ]
    }
    return JSONResponse(said)


@routes.get("/jobs/{job}/history", response_model=DecidedPage)
async def get_job_history(
    job: JobInPath,
    caller: Annotated[Caller, needs(Action.SEE_JOB)],
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Every decision about a job, newest first."""
    await visible_job(caller, Action.SEE_JOB, job)
    reads = await caller.eyes()

    def question(store: Store) -> DecidedPage:
        page = store.decisions(HistoryFilter(job=job), cursor, limit)
        return {
            "items": [
                {
                    "seq": row.seq,
                    "at_ms": row.at_ms,
                    "decision": decision_out(reads.decision(_decision(row))),
                }
                for row in page.items
            ],
            "next": page.next,
        }

    return JSONResponse(await caller.read(question))


@routes.get("/preemptions", response_model=LedgerPage)
async def list_preemptions(
    caller: Annotated[Caller, needs(Action.SEE_LEDGER)],
    quota: Names = None,
    workspace: Names = None,
    step: Annotated[list[StepName] | None, Query(description="the step of P4 that it was")] = None,
    job: Annotated[str | None, Query(pattern=JOB_ID)] = None,
    from_ms: Moment = None,
    before_ms: Moment = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """The ledger: what jobs of these quotas took or lost, newest first. Without a quota, all whose figures one may read.

    `workspace`: that took or lost something.
    """
    for name in workspace or ():
        check(caller.directory, caller.user, Action.SEE_WORKSPACE, OnWorkspace(name))
    asked = HistoryFilter(
        quotas=await _quotas(caller, quota),
        workspaces=None if workspace is None else tuple(sorted(set(workspace))),
        kinds=None if step is None else tuple(sorted(set(step))),
        job=job,
        from_ms=from_ms,
        before_ms=before_ms,
    )
    rows: dict[str, JobRow] = {}
    reads = await caller.eyes(rows)

    def question(store: Store) -> LedgerPage:
        page = store.preemptions(asked, cursor, limit)
        rows.update(store.jobs_by_id(sorted({one for entry in page.items for one, _ in jobs_in(entry)})))
        return {"items": [ledger_out(entry, rows, reads) for entry in page.items], "next": page.next}

    if job is not None:
        await visible_job(caller, Action.SEE_JOB, job)
    return JSONResponse(await caller.read(question))


@routes.get("/preemptions/{seq}", response_model=LedgerDetail)
async def get_preemption(
    seq: Annotated[int, Path(ge=1, lt=1 << 53)], caller: Annotated[Caller, needs(Action.SEE_LEDGER)]
) -> Response:
    """One entry of the ledger, and what became since of the jobs in it."""
    entry = await caller.read(lambda store: store.preemption(seq))
    seen = await _quotas(caller, None)
    concerned = set() if entry is None else {entry.preemption.quota, *(one.quota for one in entry.victims)}
    if entry is None or (seen is not None and concerned.isdisjoint(seen)):
        raise NotFound("preemption", str(seq))
    rows = await caller.read(lambda store: store.jobs_by_id([job for job, _ in jobs_in(entry)]))
    reads = await caller.eyes(rows)
    waiting = [row for row in rows.values() if row.phase == "Waiting"]
    places = await caller.ask(positions_of(waiting)) if waiting else {}

    def told(_: Store) -> LedgerDetail:
        return {
            **ledger_out(entry, rows, reads),
            "since": [
                since_out(rows[job], role, places.get(rows[job].id))
                for job, role in jobs_in(entry)
                if job in rows and reads.sees(job)
            ],
        }

    return JSONResponse(await caller.read(told))


def _decision(row: DecisionRow) -> Decision:
    found: Decision = decode(Decision, row.body)  # type: ignore[arg-type]  # a union, which is no type to mypy
    return found


async def _quotas(caller: Caller, asked: list[str] | None) -> tuple[str, ...] | None:
    """The quotas asked for, which must be visible; without any, all visible ones.

    None: all, also those that are deleted by now, for a platform admin who names none.
    """
    if asked is None and Role.PLATFORM_ADMIN in roles_on(caller.directory, caller.user, PLATFORM):
        return None
    tree = await caller.ask(lambda world, _: parents(world))
    for quota in asked or ():
        check(caller.directory, caller.user, Action.SEE_LEDGER, OnQuota(path_of(quota, tree)))
    found = visible_quotas(caller.directory, caller.user, tree) if asked is None else asked
    return tuple(sorted(set(found)))
