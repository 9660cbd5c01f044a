"""Which names does a shell offer? Those that the server knows for what is being typed: quickly, or
else none, and never a message.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import CompletionItem

from quotatree.cli import contexts

if TYPE_CHECKING:
    from quotatree.client import Client

DEADLINE_SECONDS: Final = 1.5
DEADLINE_VARIABLE: Final = "QUOTATREE_COMPLETION_SECONDS"
MOST_JOBS: Final = 300
LIVE_VERBS: Final = (
    "cancel",
    "hold",
    "release",
    "stop",
    "start",
    "restart",
    "checkpoint",
    "resize",
    "priority",
)
"""Commands to which a job that is over is nothing."""
NOUN_OF: Final = {
    "job": "job", "jobs": "job", "cancel": "job", "words": "job",
    "quota": "quota", "quotas": "quota", "source": "quota", "target": "quota", "parent": "quota", "delete": "quota",
    "workspace": "workspace", "workspaces": "workspace",
    "node": "node", "nodes": "node", "drain": "node",
    "pool": "pool",
    "user": "user", "owner": "user", "owners": "user",
    "context": "context",
}  # fmt: skip
"""What a parameter names, by its own name."""
_PLAIN: Final = re.compile(r"[\w.-]+")
"""A name that every shell takes as it is."""


class Named(click.ParamType[str]):
    """A text that names a thing of the server; as a type it checks nothing."""

    def __init__(self, noun: str | None) -> None:
        self.name = "text"
        self._noun = noun

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        noun = self._noun or _said(ctx)
        if noun not in NAMES:
            return []
        prefix = f"{noun}/" if incomplete.startswith(f"{noun}/") else ""
        begun = incomplete.removeprefix(prefix)
        return [
            CompletionItem(prefix + name, help=help_)
            for name, help_ in _in_time(lambda: NAMES[noun](ctx, begun))
            if name.startswith(begun) and _PLAIN.fullmatch(name)
        ]


def offer_names(command: click.Command, path: tuple[str, ...]) -> None:
    """Let the command, and those below it, offer names for what they take. `path`: how it is
    called.
    """
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            offer_names(below, (*path, name))
    for parameter in command.params:
        if isinstance(parameter.type, click.types.StringParamType):
            noun = _noun(path, str(parameter.name))
            if noun != "":
                parameter.type = Named(noun)


def _noun(path: tuple[str, ...], parameter: str) -> str | None:
    """The noun that a parameter names; None: that which is typed before it; "": none."""
    if path[0] in ("get", "describe") and parameter == "names":
        return None
    if path[0] == "delete" and parameter == "names":
        return path[-1]
    if (path[0] == "context" or path == ("logout",)) and parameter in ("name", "names"):
        return "context"
    if path[0] == "user" and path[-1] != "create" and parameter == "name":
        return "user"
    return NOUN_OF.get(parameter, "")


def _said(ctx: click.Context) -> str:
    from quotatree.cli.look.nouns import WORDS

    said = WORDS.get(str(ctx.params.get("noun")))
    return "" if said is None else "quota" if said.names_quotas else said.word


def _in_time(found: Callable[[], Iterable[tuple[str, str]]]) -> list[tuple[str, str]]:
    """What is found before the deadline; nothing if it takes longer or fails in any way."""
    names: list[tuple[str, str]] = []

    def look() -> None:
        try:
            names.extend(found())
        except BaseException:  # a message would stand in the middle of the line that you type
            names.clear()

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(_deadline_seconds())
    return [] if thread.is_alive() else names


def _deadline_seconds() -> float:
    try:
        return float(os.environ.get(DEADLINE_VARIABLE, DEADLINE_SECONDS))
    except ValueError:
        return DEADLINE_SECONDS


def _of_server(
    listed: Callable[[Client], Iterable[tuple[str, str]]],
) -> Callable[[click.Context, str], Iterable[tuple[str, str]]]:
    def ask(ctx: click.Context, begun: str) -> Iterable[tuple[str, str]]:
        del begun
        with _client(ctx) as client:
            return list(listed(client))

    return ask


def _client(ctx: click.Context) -> Client:
    from quotatree.client import Client

    said = ctx.params
    target = contexts.resolve(said.get("server"), said.get("token_file"), said.get("context"))
    return Client(target.url, target.token)


def _jobs(ctx: click.Context, begun: str) -> Iterable[tuple[str, str]]:
    """Names of jobs where they name one job, else ids; ids also where an id has been begun."""
    live = True if ctx.info_name in LIVE_VERBS else None
    with _client(ctx) as client:
        jobs: list[Any] = list(client.jobs.list(active=live, most=MOST_JOBS))
    names = [job["name"] for job in jobs]
    for job in jobs:
        id_, name = job["id"], job["name"]
        told = f"{job['phase']}, {job['quota']}"
        if (
            name
            and _PLAIN.fullmatch(name)
            and names.count(name) == 1
            and not (begun and id_.startswith(begun))
        ):
            yield name, f"{id_}, {told}"
        else:
            yield id_, f"{name}, {told}" if name else told


def _contexts(ctx: click.Context, begun: str) -> Iterable[tuple[str, str]]:
    del ctx, begun
    return [(name, one.url) for name, one in sorted(contexts.load().known.items())]


NAMES: Final[dict[str, Callable[[click.Context, str], Iterable[tuple[str, str]]]]] = {
    "job": _jobs,
    "quota": _of_server(lambda client: ((one["id"], one["description"]) for one in client.quotas.list())),
    "workspace": _of_server(
        lambda client: ((one["id"], one["description"]) for one in client.workspaces.list())
    ),
    "node": _of_server(lambda client: ((one["name"], one["state"]) for one in client.nodes.list())),
    "pool": _of_server(lambda client: ((one["name"], "") for one in client.pools.list())),
    "user": _of_server(lambda client: ((one["name"], one["display"]) for one in client.users.list())),
    "webhook": _of_server(lambda client: ((one["id"], "") for one in client.webhooks.list())),
    "context": _contexts,
}
