"""What every command that talks to a server has in common: which server, and what its errors mean
for the exit status.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click

from quotatree.cli import contexts
from quotatree.cli.output import (
    EXIT_BAD_INPUT,
    EXIT_CONFLICT,
    EXIT_FAILED,
    EXIT_NO_RIGHTS,
    EXIT_NOT_FOUND,
    EXIT_UNAVAILABLE,
    fail,
)
from quotatree.cli.safe_text import one_line

if TYPE_CHECKING:
    from quotatree.client import Client
    from quotatree.client.errors import ClientError

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
PATIENCE_SECONDS = 1.0
_WAY = re.compile(r"^(query|path|changes\.\d+\.[a-z-]+(\.(to|job|quota)(?=\.))?)\.|groups\.0\.")
"""The part of a field's path in the request that means nothing to users, who gave options or a
file.
"""


TAKEN: Final = ("exists already", "the name is taken", "there is a user")
"""How the server says that a name is in use."""


@dataclass(frozen=True, slots=True)
class Remote:
    """The server that was asked for; nothing is connected yet."""

    server: str | None = None
    token_file: Path | None = None
    context: str | None = None

    def target(self) -> contexts.Target:
        try:
            return contexts.resolve(self.server, self.token_file, self.context)
        except contexts.BadContext as error:
            fail(str(error), EXIT_BAD_INPUT)

    @contextmanager
    def client(self) -> Iterator[Client]:
        """A client with the rights of the token's user. What goes wrong is told, and ends the
        command.
        """
        target = self.target()
        with errors_exit(), _client(target) as client:
            yield client


def _client(target: contexts.Target) -> Client:
    from quotatree.client import Client

    return Client(target.url, target.token)


def remote_options(function: F) -> F:
    """Add --server, --token-file and --context to a command, which gets them as `remote`."""

    @functools.wraps(function)
    def run(*args: Any, server: str | None, token_file: Path | None, context: str | None, **rest: Any) -> Any:
        return function(*args, remote=Remote(server, token_file, context), **rest)

    for option in (
        click.option("--context", metavar="NAME", help="Use the server of this login."),
        click.option(
            "--token-file",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Use the token in this file.",
        ),
        click.option("--server", metavar="URL", help="Ask this server."),
    ):
        run = option(run)
    return cast(F, run)  # it takes the three options instead of `remote`, which no type can say


def bare(name: str, noun: str) -> str:
    """The name without the noun that `-o name` prints before it: job/dlc-8k2m0qz4xa ->
    dlc-8k2m0qz4xa.
    """
    return name.removeprefix(f"{noun}/")


@contextmanager
def errors_exit() -> Iterator[None]:
    from quotatree.client.errors import ClientError

    try:
        yield
    except ClientError as error:
        fail(text_of(error), status_of(error))


@contextmanager
def hinted(said: tuple[str, ...], hint: str) -> Iterator[None]:
    """If the server refuses with one of these words, say what to do, too."""
    from quotatree.client.errors import ApiError

    try:
        yield
    except ApiError as error:
        if any(words in error.detail for words in said):
            fail(f"{text_of(error)}; {hint}", status_of(error))
        raise


def patiently(do: Callable[[], T]) -> T:
    """Call `do` until the server answers, and return its result: for commands that wait while a
    server is away.
    """
    from quotatree.client.errors import NotReachable, Unavailable

    while True:
        try:
            return do()
        except (NotReachable, Unavailable):
            time.sleep(PATIENCE_SECONDS)


def text_of(error: ClientError) -> str:
    """What went wrong, as one line, whatever others have written into it."""
    return one_line(_told(error))


def _told(error: ClientError) -> str:
    from quotatree.client import errors as e

    if isinstance(error, e.NotReachable):
        return f"no server answers at {error}; start one with `quotatree serve`, or say where it is with --server"
    if isinstance(error, e.Unauthenticated):
        return f"{error} (quotatree login)"
    if not isinstance(error, e.ApiError) or error.field is None:
        return str(error)
    value = f"{error.value:g}" if isinstance(error.value, float) else error.value
    sent = "" if value in (None, "") else f" {value}"
    if error.errors:
        first, *others = [(_WAY.sub("", field), message) for field, message in error.errors]
        return "; ".join([f"{first[0]}{sent}: {first[1]}", *(f"{where}: {what}" for where, what in others)])
    rule = f" [{error.rule}]" if error.rule else ""
    if str(error).startswith(f"{error.field}."):  # the message names the field, and the value is a table
        return f"{error}{rule}"
    return f"{error.field}{sent}: {error}{rule}"


def problem_text(problem: Mapping[str, Any]) -> str:
    """The text of a problem that the server reports for one of many items."""
    from quotatree.client.errors import error_of

    return text_of(error_of(int(problem.get("status", 0)), problem))


def status_of(error: ClientError) -> int:
    from quotatree.client import errors as e

    for kinds, status in (
        ((e.NotSent,), EXIT_BAD_INPUT),
        ((e.NotFound,), EXIT_NOT_FOUND),
        ((e.Unauthenticated, e.Forbidden, e.TooMany), EXIT_NO_RIGHTS),
        ((e.Conflict,), EXIT_CONFLICT),
        ((e.NotReachable, e.BadAnswer, e.Unavailable), EXIT_UNAVAILABLE),
    ):
        if isinstance(error, kinds):
            return status
    return EXIT_FAILED
