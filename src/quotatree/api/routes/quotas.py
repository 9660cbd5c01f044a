"""Quotas: the tree, one, its figures, queue and history; create, change, scale, transfer, delete, return a loan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

from fastapi import Query
from starlette.responses import JSONResponse, Response

from quotatree.access.allowed import Allowed
from quotatree.access.check import OnQuota, check, visible_quotas
from quotatree.access.redaction import Reader
from quotatree.access.roles import Action
from quotatree.api.caller import Caller, needs
from quotatree.api.etags import IfMatch, Key, changed, conflict, done, expected, tagged
from quotatree.api.models.answers import Done
from quotatree.api.models.fields import Cursor, InPath, Limit, priority_name
from quotatree.api.models.pai import PaiOut, pai_out
from quotatree.api.models.policies import PoliciesIn, PoliciesOut, policies_out
from quotatree.api.models.quota_views import (
    Queue,
    QuotaOut,
    Quotas,
    UsageOut,
    masked,
    quota_out,
    quota_stub,
    usage_out,
)
from quotatree.api.models.quotas import QuotaChange, QuotaIn, ScaleIn, TransferIn, draws_of
from quotatree.api.route import problems, router
from quotatree.control.commands import values as do
from quotatree.control.errors import Conflict
from quotatree.control.eyes import eyes
from quotatree.control.queries import Query as Asked
from quotatree.control.queries import figures, queue
from quotatree.control.world import World
from quotatree.core import Quota, QuotaSpec, quota_report
from quotatree.core.events import ScaleMode
from quotatree.store.pages import make_cursor, open_place

routes = router("quotas")
TRIES = 5


class Versioned(NamedTuple):
    spec: QuotaSpec
    version: int


def quota_seen(actor: str, quota: str, allowed: Allowed) -> Asked[QuotaOut]:
    def query(world: World, now_ms: int) -> QuotaOut:
        del now_ms
        check(world.directory, actor, Action.SEE_QUOTA, OnQuota(world.path(quota)))
        reads = eyes(world, actor)
        return _shown(world, reads, world.quota(quota), allowed, _bound(world, reads))

    return query


def tree_seen(actor: str, allowed: Allowed) -> Asked[Quotas]:
    """The quotas that the actor sees, and those above them as stubs, so that a page can draw one tree."""

    def query(world: World, now_ms: int) -> Quotas:
        del now_ms
        reads = eyes(world, actor)
        seen = visible_quotas(world.directory, actor, reads.tree)
        bound = _bound(world, reads)
        found: Quotas = {"items": [], "ancestors": []}
        for root in world.state.roots:
            for quota in root.subtree():
                if quota.id in seen:
                    found["items"].append(_shown(world, reads, quota, allowed, bound))
                elif quota.id in reads.quotas:
                    found["ancestors"].append(quota_stub(quota.spec, quota_report(world.state, quota.id)))
        return found

    return query


def _bound(world: World, reads: Reader) -> dict[str, list[str]]:
    """The workspaces that are bound to each quota, as far as the reader may know them (W1, W2)."""
    found: dict[str, list[str]] = {}
    for name, workspace in sorted(world.directory.workspaces.items()):
        if reads.everything or name in reads.workspaces:
            for quota in workspace.quotas:
                found.setdefault(quota, []).append(name)
    return found


def _shown(
    world: World, reads: Reader, quota: Quota, allowed: Allowed, bound: Mapping[str, Sequence[str]]
) -> QuotaOut:
    report = masked(quota_report(world.state, quota.id), reads)
    version = world.version("quota", quota.id)
    actions = allowed.on_quota(tuple(above.id for above in quota.path))
    return quota_out(
        quota.spec, version, quota.shrinking, report, actions,
        workspaces=bound.get(quota.id, ()), names=world.directory.priority_names,
    )  # fmt: skip


def spec_seen(actor: str, quota: str) -> Asked[Versioned]:
    def query(world: World, now_ms: int) -> Versioned:
        del now_ms
        check(world.directory, actor, Action.SEE_QUOTA, OnQuota(world.path(quota)))
        return Versioned(world.quota(quota).spec, world.version("quota", quota))

    return query


@routes.get("/quotas", response_model=Quotas)
async def list_quotas(caller: Annotated[Caller, needs(Action.SEE_QUOTA)]) -> Response:
    """The part of the tree one may see, parents before children, with figures; what is above it as stubs."""
    return JSONResponse(await caller.ask(tree_seen(caller.user, caller.allowed())))


@routes.post("/quotas", status_code=201, response_model=Done, responses=problems(409, 413, 415))
async def create_quota(
    body: QuotaIn, caller: Annotated[Caller, needs(Action.CREATE_CHILD_QUOTA)], key: Key = None
) -> Response:
    """A root needs the right create-root-quota, a child create-child-quota on its parent."""
    answer = await caller.call(do.CreateQuota(actor=caller.user, key=key, spec=body.spec()))
    return done(answer, 201, f"/api/v1/quotas/{answer.id}")


@routes.get("/quotas/{quota}", response_model=QuotaOut)
async def get_quota(quota: InPath, caller: Annotated[Caller, needs(Action.SEE_QUOTA)]) -> Response:
    """One quota as it is declared, with its figures."""
    found = await caller.ask(quota_seen(caller.user, quota, caller.allowed()))
    return tagged(found, found["version"])


@routes.patch("/quotas/{quota}", response_model=Done, responses=problems(409, 412, 413, 415))
async def update_quota(
    quota: InPath,
    body: QuotaChange,
    caller: Annotated[Caller, needs(Action.UPDATE_QUOTA)],
    if_match: IfMatch = None,
) -> Response:
    """Change what is given and leave the rest; parent, draws and min stay (Q6)."""
    return await change(caller, quota, body.applied_to, if_match)


async def change(
    caller: Caller, quota: str, applied: Callable[[QuotaSpec], QuotaSpec], if_match: str | None
) -> Response:
    """Read a quota's spec, change it, write it back. Without If-Match, try again if it was changed in between."""
    wanted = expected(if_match)
    for _ in range(TRIES):
        found = await caller.ask(spec_seen(caller.user, quota))
        based_on = found.version if wanted is None else wanted
        command = do.UpdateQuota(actor=caller.user, spec=applied(found.spec), if_match=based_on)
        try:
            return done(await caller.call(command))
        except Conflict as error:
            lost = error
            if wanted is not None:
                break
    raise conflict(lost, if_match)


@routes.delete("/quotas/{quota}", response_model=Done, responses=problems(409, 412))
async def delete_quota(
    quota: InPath, caller: Annotated[Caller, needs(Action.DELETE_QUOTA)], if_match: IfMatch = None
) -> Response:
    """Refused while it has jobs, children or bound workspaces (Q6)."""
    command = do.DeleteQuota(actor=caller.user, quota=quota, if_match=expected(if_match))
    return await changed(caller, command, if_match)


@routes.post("/quotas/{quota}/scale", response_model=Done, responses=problems(409, 412, 413, 415))
async def scale_quota(
    quota: InPath,
    body: ScaleIn,
    caller: Annotated[Caller, needs(Action.SCALE_QUOTA)],
    if_match: IfMatch = None,
) -> Response:
    """Give a quota another min, or a root other draws (Q5)."""
    return await changed(caller, scale_command(caller, quota, body, if_match), if_match)


def scale_command(caller: Caller, quota: str, body: ScaleIn, if_match: str | None) -> do.ScaleQuota:
    return do.ScaleQuota(
        actor=caller.user,
        quota=quota,
        min=body.bounds(),
        draws=draws_of(body.draws),
        mode=body.scale_mode(),
        if_match=expected(if_match),
    )


@routes.post("/quota-transfers", response_model=Done, responses=problems(409, 412, 413, 415))
async def transfer_quota(
    body: TransferIn,
    caller: Annotated[Caller, needs(Action.SCALE_QUOTA)],
    if_match: IfMatch = None,
    key: Key = None,
) -> Response:
    """Move capacity between two children of one parent in one step (Q5). If-Match is of the source."""
    return await changed(caller, transfer_command(caller, body, if_match, key), if_match)


def transfer_command(
    caller: Caller, body: TransferIn, if_match: str | None, key: str | None
) -> do.TransferQuota:
    return do.TransferQuota(
        actor=caller.user,
        key=key,
        source=body.source,
        target=body.target,
        amount=body.amount.bounds(),
        mode=ScaleMode(body.mode),
        if_match=expected(if_match),
    )


@routes.post("/quotas/{quota}/return-loan", response_model=Done, responses=problems(409))
async def return_loan(
    quota: InPath, caller: Annotated[Caller, needs(Action.RETURN_LOAN)], key: Key = None
) -> Response:
    """Take the quota back to its min now (P15)."""
    return await changed(caller, do.ReturnLoan(actor=caller.user, key=key, quota=quota), None)


@routes.get("/quotas/{quota}/usage", response_model=UsageOut)
async def get_usage(quota: InPath, caller: Annotated[Caller, needs(Action.SEE_QUOTA)]) -> Response:
    """The figures of one quota (Q7)."""
    return JSONResponse(usage_out(await caller.ask(figures(caller.user, quota))))


@routes.get("/quotas/{quota}/queue", response_model=Queue)
async def get_queue(
    quota: InPath,
    caller: Annotated[Caller, needs(Action.SEE_QUOTA)],
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Who waits at this quota, first to last. Jobs that start meanwhile make those of later pages move up."""
    asked = ("queue", quota)
    after = 0 if cursor is None else open_place(cursor, asked)
    places = await caller.ask(queue(caller.user, quota, after, limit + 1))
    found: Queue = {
        "items": [
            {
                "position": p.position,
                "job": p.job,
                "priority": p.priority,
                "priority_name": priority_name(p.priority),
                "reason_code": p.reason_code,
            }
            for p in places[:limit]
        ],
        "next": make_cursor(asked, [after + limit]) if len(places) > limit else None,
    }
    return JSONResponse(found)


@routes.get("/quotas/{quota}/policies", response_model=PoliciesOut | PaiOut)
async def get_policies(
    quota: InPath,
    caller: Annotated[Caller, needs(Action.SEE_QUOTA)],
    spelling: Annotated[
        Literal["own", "pai"], Query(description="ours, or that of Alibaba Cloud PAI")
    ] = "own",
) -> Response:
    """Strategy, self-level and child-level policy (P1, P2, S1-S4)."""
    found = await caller.ask(spec_seen(caller.user, quota))
    return tagged(pai_out(found.spec) if spelling == "pai" else policies_out(found.spec), found.version)


@routes.put("/quotas/{quota}/policies", response_model=Done, responses=problems(409, 412, 413, 415, 428))
async def put_policies(
    quota: InPath,
    body: PoliciesIn,
    caller: Annotated[Caller, needs(Action.UPDATE_QUOTA)],
    if_match: IfMatch = None,
) -> Response:
    """Replace all three, in our spelling or in PAI's. Preview it to see whose running work becomes exposed (P2)."""
    expected(if_match, required=True)
    return await change(caller, quota, body.applied_to, if_match)
