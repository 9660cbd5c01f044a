"""Webhooks: who is told of events, besides those who ask. Secrets go in and never come out."""

from __future__ import annotations

from typing import Annotated, cast

from pydantic import Field, StringConstraints
from starlette.responses import JSONResponse, Response
from typing_extensions import TypedDict

from quotatree.access.check import PLATFORM, OnWorkspace, may
from quotatree.access.errors import NotFound
from quotatree.access.roles import Action
from quotatree.api.caller import Caller, needs
from quotatree.api.etags import IfMatch, changed, conflict, done, expected, tagged
from quotatree.api.models.answers import Done
from quotatree.api.models.fields import Body, InPath, Name
from quotatree.api.route import problems, router
from quotatree.control.commands import values as do
from quotatree.control.errors import Conflict
from quotatree.control.outbox import LastTry
from quotatree.control.queries import Query
from quotatree.control.world import World
from quotatree.store.rows import WebhookRow

routes = router("webhooks")


class WebhookChange(Body):
    """`kinds`: such as job.evicted; without any, all. Deliveries are signed with the secret."""

    url: Annotated[str, StringConstraints(max_length=2000, pattern="^https?://[!-~]+$")]
    secret: Annotated[str, StringConstraints(min_length=16, max_length=200)] = Field(repr=False)
    kinds: Annotated[
        list[Annotated[str, StringConstraints(pattern="^[a-z_.]{1,64}$")]], Field(max_length=50)
    ] = Field(default=[])
    workspace: Name | None = None


class WebhookIn(WebhookChange):
    id: Name


class LastTryOut(TypedDict):
    """The last try to deliver. `status` is what the receiver answered, null if it did not; `error` is "" if it took it."""

    at_ms: int
    status: int | None
    error: str


class WebhookOut(TypedDict):
    """Without a workspace it hears of everything. `last` is null if nothing was delivered since the server leads."""

    id: str
    workspace: str | None
    url: str
    kinds: list[str]
    active: bool
    last: LastTryOut | None
    version: int


class Webhooks(TypedDict):
    items: list[WebhookOut]


def webhooks_seen(actor: str) -> Query[list[WebhookRow]]:
    """The webhooks that the actor may manage; of others not even the name is shown."""

    def query(world: World, now_ms: int) -> list[WebhookRow]:
        del now_ms
        return [hook for _, hook in sorted(world.webhooks.items()) if manages(world, hook)]

    def manages(world: World, hook: WebhookRow) -> bool:
        if hook.workspace is None:
            return may(world.directory, actor, Action.OPERATE, PLATFORM)
        return may(world.directory, actor, Action.MANAGE_WEBHOOKS, OnWorkspace(hook.workspace))

    return query


def webhook_out(hook: WebhookRow, last: LastTry | None) -> WebhookOut:
    return {
        "id": hook.id,
        "workspace": hook.workspace,
        "url": hook.url,
        "kinds": list(hook.kinds),
        "active": hook.active,
        "last": None if last is None else cast(LastTryOut, last._asdict()),
        "version": hook.version,
    }


async def _found(caller: Caller, webhook: str) -> WebhookRow:
    for hook in await caller.ask(webhooks_seen(caller.user)):
        if hook.id == webhook:
            return hook
    raise NotFound("webhook", webhook)


def _put(caller: Caller, webhook: str, body: WebhookChange, if_match: int | None) -> do.PutWebhook:
    return do.PutWebhook(
        actor=caller.user,
        webhook=webhook,
        url=body.url,
        secret=body.secret,
        kinds=tuple(sorted(set(body.kinds))),
        workspace=body.workspace,
        if_match=if_match,
    )


@routes.get("/webhooks", response_model=Webhooks)
async def list_webhooks(caller: Annotated[Caller, needs(None)]) -> Response:
    """Those one may manage."""
    hooks = await caller.ask(webhooks_seen(caller.user))
    found: Webhooks = {"items": [webhook_out(hook, caller.services.last_try(hook)) for hook in hooks]}
    return JSONResponse(found)


@routes.post("/webhooks", status_code=201, response_model=Done, responses=problems(409, 413, 415))
async def create_webhook(
    body: WebhookIn, caller: Annotated[Caller, needs(Action.MANAGE_WEBHOOKS)]
) -> Response:
    """For one workspace, or for the platform, which needs the right operate."""
    try:
        answer = await caller.call(_put(caller, body.id, body, 0))
    except Conflict as error:
        raise conflict(error, None) from None
    return done(answer, 201, f"/api/v1/webhooks/{body.id}")


@routes.get("/webhooks/{webhook}", response_model=WebhookOut)
async def get_webhook(webhook: InPath, caller: Annotated[Caller, needs(None)]) -> Response:
    """One webhook, without its secret."""
    found = await _found(caller, webhook)
    return tagged(webhook_out(found, caller.services.last_try(found)), found.version)


@routes.put("/webhooks/{webhook}", response_model=Done, responses=problems(409, 412, 413, 415, 428))
async def replace_webhook(
    webhook: InPath,
    body: WebhookChange,
    caller: Annotated[Caller, needs(Action.MANAGE_WEBHOOKS)],
    if_match: IfMatch = None,
) -> Response:
    """Replace all of it, the secret too."""
    version = expected(if_match, required=True)
    await _found(caller, webhook)
    return await changed(caller, _put(caller, webhook, body, version), if_match)


@routes.delete("/webhooks/{webhook}", response_model=Done)
async def delete_webhook(
    webhook: InPath, caller: Annotated[Caller, needs(Action.MANAGE_WEBHOOKS)]
) -> Response:
    """Nothing more is sent there."""
    await _found(caller, webhook)
    return await changed(caller, do.DropWebhook(actor=caller.user, webhook=webhook), None)
