"""Who asks? A bearer of a token, or of a console session's key; and what a route may do on their behalf."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar, get_type_hints

import anyio.to_thread
from fastapi import Depends, Request

from quotatree.access.allowed import Allowed
from quotatree.access.check import check_token
from quotatree.access.directory import Directory
from quotatree.access.redaction import JobFacts, Reader, reader
from quotatree.access.roles import Action
from quotatree.access.values import SessionInfo, TokenInfo
from quotatree.api.services import Services
from quotatree.control.commands.values import Answer, Command
from quotatree.control.errors import Unavailable
from quotatree.control.eyes import eyes, parents
from quotatree.control.queries import Query
from quotatree.core import Refused
from quotatree.identity.errors import Unauthenticated
from quotatree.identity.sessions import PREFIX as SESSION_PREFIX
from quotatree.identity.sessions import authenticate_session, token_of
from quotatree.identity.tokens import authenticate_token
from quotatree.store import Store
from quotatree.store.rows import JobRow

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Caller:
    services: Services
    user: str
    directory: Directory
    """The directory as it was when the request came in."""
    token: TokenInfo | None = None
    """The token of the request, or the one that its session was opened with: it bounds what may be done."""
    session: SessionInfo | None = None

    def allowed(self) -> Allowed:
        """What the caller may do to each thing of an answer, by their roles and their token."""
        return Allowed(self.directory, self.user, self.token)

    async def call(self, command: Command) -> Answer:
        """Carry out a command. A refusal is raised without names that the caller may not know."""
        try:
            return await call(self.services, command)
        except Refused as refused:
            raise await self._masked(refused) from None

    async def ask(self, query: Query[T]) -> T:
        return await asyncio.wrap_future(self.services.controller.ask(query))

    async def read(self, question: Callable[[Store], T]) -> T:
        """Ask the store, in a thread since it may block."""
        return await read(self.services, question)

    async def eyes(self, rows: Mapping[str, JobRow] | None = None) -> Reader:
        """A Reader that hides what the caller may not read, for answers made from the store.

        Use it inside `read`, since it may ask the store; not for jobs that are among `rows` by then.
        """
        tree = await self.ask(lambda world, _: parents(world))
        known: dict[str, JobFacts | None] = {}

        def facts(job: str) -> JobFacts | None:
            if job not in known:
                row = rows[job] if rows is not None and job in rows else self.services.store.job(job)
                known[job] = (
                    None if row is None else JobFacts(row.workspace, row.quota, row.priority, row.gpu_milli)
                )
            return known[job]

        return reader(self.directory, self.user, tree, facts)

    async def _masked(self, refused: Refused) -> Refused:
        return await self.ask(lambda world, _: eyes(world, self.user).refusal(refused))


async def call(services: Services, command: Command) -> Answer:
    return await asyncio.wrap_future(services.controller.call(command))


async def read(services: Services, question: Callable[[Store], T]) -> T:
    return await anyio.to_thread.run_sync(question, services.store, limiter=services.readers)


def directory_of(services: Services) -> Directory:
    published = services.controller.published
    if published is None:
        raise Unavailable(services.controller.health.mode.value)
    return published.directory


def authenticate(request: Request) -> Caller:
    """The caller, by the token or the session's key in `Authorization`. Raises Unauthenticated.

    Nothing else of a request says who asks; above all no cookie: browsers send those to every port of a host.
    """
    services: Services = request.app.state.services
    directory = directory_of(services)
    now_ms = services.clock()
    header = request.headers.get("authorization")
    if header is None:
        raise Unauthenticated("a token is needed: Authorization: Bearer qt_…")
    scheme, _, text = header.partition(" ")
    if scheme.lower() != "bearer":
        raise Unauthenticated("only bearer tokens are accepted")
    text = text.strip()
    if text.startswith(SESSION_PREFIX):
        session = authenticate_session(directory, text, now_ms)
        return Caller(services, session.user, directory, token_of(directory, session), session)
    token = authenticate_token(directory, text, now_ms)
    return Caller(services, token.user, directory, token=token)


def needs(action: Action | None) -> Any:
    """Dependency that gives a route its caller, and raises unless their token covers the action.

    None: every signed-in caller passes, also by a read-only token.
    """

    async def found(request: Request) -> Caller:
        caller: Caller = request.state.caller
        if action is not None and caller.token is not None:
            check_token(caller.token, action)
        return caller

    _ACTIONS[found] = action
    return Depends(found)


_ACTIONS: Final[dict[Callable[..., Any], Action | None]] = {}


def action_of(endpoint: Callable[..., Any]) -> Action | None:
    """The action that a route names by `needs` in its signature. Raises TypeError for a route without `needs`."""
    for hint in get_type_hints(endpoint, include_extras=True).values():
        for extra in getattr(hint, "__metadata__", ()):
            dependency = getattr(extra, "dependency", None)
            if dependency in _ACTIONS:
                return _ACTIONS[dependency]
    raise TypeError(f"{endpoint.__name__} does not say which right it needs")
