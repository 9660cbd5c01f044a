"""Names of priorities, for the whole installation (W6)."""

from __future__ import annotations

from typing import Annotated

from starlette.responses import JSONResponse, Response

from quotatree.access.roles import Action
from quotatree.api.caller import Caller, needs
from quotatree.api.etags import done
from quotatree.api.models.answers import Done
from quotatree.api.models.priorities import PriorityNamesIn, PriorityNamesOut
from quotatree.api.route import problems, router
from quotatree.control.commands import values as do

routes = router("priorities")


@routes.get("/priorities", response_model=PriorityNamesOut)
async def list_priority_names(caller: Annotated[Caller, needs(None)]) -> Response:
    """The names that may be written for priorities; everybody who is signed in may know."""
    found: PriorityNamesOut = {"names": dict(caller.directory.priority_names)}
    return JSONResponse(found)


@routes.put("/priorities", response_model=Done, responses=problems(413, 415))
async def name_priorities(
    body: PriorityNamesIn, caller: Annotated[Caller, needs(Action.NAME_PRIORITIES)]
) -> Response:
    """Replace all names. What has been submitted or saved keeps its numbers."""
    return done(await caller.call(do.NamePriorities(actor=caller.user, names=body.names)))
