"""Why does it wait, who could take it, what was decided about it, and who took what from whom (X1, X2, X4, P13)?"""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import JSONResponse, Response

from quotatree.access.check import PLATFORM, OnQuota, check, path_of, roles_on, visible_quotas
from quotatree.access.errors import NotFound
from quotatree.access.roles import Action, Role
from quotatree.api.caller import Caller, needs
from quotatree.api.models.decisions import (
    DecidedPage,
    ExplanationOut,
    Exposures,
    LedgerPage,
    decision_out,
    explanation_out,
    exposure_out,
    preemption_out,
)
from quotatree.api.models.fields import JOB_ID, Cursor, JobInPath, Limit, Moment, Names
from quotatree.api.route import router
from quotatree.api.routes.jobs import visible_job
from quotatree.codec import decode
from quotatree.control.queries import explain, exposure, parents
from quotatree.core import Refused
from quotatree.core.decisions import Decision, Preemption
from quotatree.store import HistoryFilter, Store
from quotatree.store.rows import DecisionRow

routes = router("explaining")


@routes.get("/jobs/{job}/explanation", response_model=ExplanationOut)
async def explain_job(job: JobInPath, caller: Annotated[Caller, needs(Action.EXPLAIN_JOB)]) -> Response:
    """Why an active job waits, what is ahead, what was tried and what would help; or who preempted it."""
    try:
        return JSONResponse(explanation_out(await caller.ask(explain(caller.user, job))))
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
    job: Annotated[str | None, Query(pattern=JOB_ID)] = None,
    from_ms: Moment = None,
    before_ms: Moment = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """The ledger: what jobs of these quotas took or lost, newest first. Without a quota, all whose figures one may read."""
    asked = HistoryFilter(quotas=await _quotas(caller, quota), job=job, from_ms=from_ms, before_ms=before_ms)
    reads = await caller.eyes()

    def question(store: Store) -> LedgerPage:
        page = store.preemptions(asked, cursor, limit)
        return {
            "items": [
                {
                    "seq": entry.preemption.seq,
                    "at_ms": entry.preemption.at_ms,
                    "preemption": preemption_out(reads.preemption(decode(Preemption, entry.preemption.body))),
                }
                for entry in page.items
            ],
            "next": page.next,
        }

    if job is not None:
        await visible_job(caller, Action.SEE_JOB, job)
    return JSONResponse(await caller.read(question))


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
