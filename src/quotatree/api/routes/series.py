"""A quota's figures over time, from what the server wrote down once a minute (Q7)."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query
from starlette.responses import JSONResponse, Response

from quotatree.access.check import OnQuota, check, path_of
from quotatree.access.roles import Action
from quotatree.api.caller import Caller, needs
from quotatree.api.models.fields import InPath, Moment
from quotatree.api.models.series import STEPS, QuotaSeries, StepName, series_out
from quotatree.api.problems import ApiError
from quotatree.api.route import router
from quotatree.control.eyes import parents
from quotatree.control.figure_history import KeptFigures

routes = router("quotas")
USUAL_MS: Final = 6 * 3_600_000
"""How far back it goes without `since`."""
MOST_POINTS: Final = 5_000
WANTED_POINTS: Final = 500


@routes.get("/quotas/{quota}/series", response_model=QuotaSeries)
async def get_series(
    quota: InPath,
    caller: Annotated[Caller, needs(Action.SEE_QUOTA)],
    since: Moment = None,
    until: Moment = None,
    step: Annotated[
        StepName | None,
        Query(description="without it, the finest with at most 500 points that is still kept"),
    ] = None,
) -> Response:
    """The figures of one quota over time: from `since` (6 hours ago) to `until` (now), by minute, hour or day."""
    tree = await caller.ask(lambda world, _: parents(world))
    check(caller.directory, caller.user, Action.SEE_QUOTA, OnQuota(path_of(quota, tree)))
    now_ms = caller.services.clock()
    until_ms = now_ms if until is None else until
    since_ms = max(0, until_ms - USUAL_MS) if since is None else since
    if since_ms >= until_ms:
        raise ApiError("Invalid", "query.since: must be before `until`, which is now if it is not given")
    chosen = step or fitting_step(since_ms, until_ms, now_ms, caller.services.figures)
    span = STEPS[chosen]
    if (until_ms - since_ms) // span > MOST_POINTS:
        raise ApiError(
            "Invalid", f"query.step: more than {MOST_POINTS} points: ask for longer steps, or a shorter time"
        )
    found = await caller.read(lambda store: store.samples(quota, span, span.start_of(since_ms), until_ms))
    return JSONResponse(series_out(quota, chosen, since_ms, until_ms, found))


def fitting_step(since_ms: int, until_ms: int, now_ms: int, keep: KeptFigures) -> StepName:
    """The finest step that gives at most WANTED_POINTS and reaches back to `since_ms`; else days."""
    for name, span in STEPS.items():
        if (until_ms - since_ms) // span <= WANTED_POINTS and since_ms >= keep.oldest(span, now_ms):
            return name
    return "day"
