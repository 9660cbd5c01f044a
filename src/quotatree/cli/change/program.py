"""What does a job run? The options of `submit` that make up its program, the same words of a file,
and the command after `--`.
"""

from __future__ import annotations

import functools
import os
import shlex
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from quotatree.cli.amounts_text import milliseconds
from quotatree.cli.documents import read_json
from quotatree.cli.number_option import NUMBER
from quotatree.cli.output import EXIT_BAD_INPUT, fail

F = TypeVar("F", bound=Callable[..., Any])
TABLES: Final = ("env", "secrets")
"""Fields of a program that options add to; the others they replace."""


def program_options(function: F) -> F:
    """Add the options of a program to a command, which gets as `program` only those that were
    given.
    """

    @functools.wraps(function)
    def run(*args: Any, **given: Any) -> Any:
        said = {name: given.pop(name) for name in FIELDS}
        return function(*args, program=_program(**said), **given)

    for option in reversed(OPTIONS):
        run = option(run)
    return run  # type: ignore[return-value]  # the caller passes `program` by these options, not by hand


OPTIONS: Final = (
    click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ARGS...]"),
    click.option("--env", multiple=True, metavar="NAME=VALUE", help="A variable of its environment; may be repeated."),
    click.option(
        "--secret", "secrets", multiple=True, metavar="NAME[=VALUE]",
        help="A variable that is never shown; without a value, your variable of that name.",
    ),
    click.option("--workdir", metavar="DIRECTORY", help="Run there. Without it, in a new, empty directory."),
    click.option("--retries", type=click.IntRange(0, 100), metavar="N", help="Run it again so often if it fails."),
    click.option("--max-time", metavar="TIME", help="The longest that a run may take, such as 12h."),
    click.option("--port", type=click.IntRange(1, 65535), metavar="N", help="The port it listens on. Without it, a free one."),
    click.option("--health", metavar="PATH", help="Of services: ready when this path answers, such as /healthz."),
    click.option("--seconds", type=NUMBER, metavar="N", help="For the timer engine: how long it runs."),
    click.option("--program", "as_json", metavar="JSON", help="What the engine runs, in its own words."),
)  # fmt: skip
FIELDS: Final = (
    "command", "env", "secrets", "workdir", "retries", "max_time", "port", "health", "seconds", "as_json",
)  # fmt: skip


OF_A_PROGRAM: Final = (
    "command", "env", "secret", "secrets", "workdir", "retries", "max_time", "port", "health", "seconds",
)  # fmt: skip
"""The words that a job file may use beside `program`, as the options are called."""
PROGRAM_FORM: Final = "must be a table, with tables in env and secrets, such as {command: [python, train.py]}"


def is_program(said: object) -> bool:
    """Whether options can be put over it; what stands in it is the engine's to judge."""
    return isinstance(said, dict) and all(isinstance(said.get(name) or {}, dict) for name in TABLES)


def with_program(job: dict[str, Any], program: dict[str, Any]) -> dict[str, Any]:
    """The job with the options put over the program of the file; variables and secrets are added to
    those of the file.
    """
    if not program:
        return job
    there = job.get("program") or {}
    tables = {
        name: {**(there.get(name) or {}), **(program.get(name) or {})}
        for name in TABLES
        if there.get(name) or program.get(name)
    }
    return {**job, "program": {**there, **program, **tables}}


def program_of(job: dict[str, Any], where: str) -> dict[str, Any]:
    """The program that a job of a file says by the words of options. A word of another form ends
    the command.
    """
    said = {name: job[name] for name in OF_A_PROGRAM if job.get(name) is not None}
    found: dict[str, Any] = {name: said[name] for name in ("retries", "port", "seconds") if name in said}
    if "command" in said:
        found["command"] = _words(said["command"], where)
    if "env" in said:
        found["env"] = _table(said["env"], where, "env", lambda text: _assignment("env", text))
    secrets = said.get("secrets", said.get("secret"))
    if secrets is not None:
        found["secrets"] = _table(secrets, where, "secrets", _secret)
    if "workdir" in said:
        found["workdir"] = os.path.abspath(str(said["workdir"]))
    if "max_time" in said:
        found["max_seconds"] = milliseconds(str(said["max_time"])) / 1000
    if "health" in said:
        found["health"] = said["health"] if isinstance(said["health"], dict) else {"path": said["health"]}
    return found


def _words(said: Any, where: str) -> list[str]:
    """The words of a command, which a file says as a list or as in a shell."""
    try:
        words = shlex.split(said) if isinstance(said, str) else said
    except ValueError as error:
        fail(f"{where}: command: {error}", EXIT_BAD_INPUT)
    if (
        not isinstance(words, list)
        or not words
        or not all(isinstance(word, str | int | float) for word in words)
    ):
        fail(f"{where}: command: must be words, such as [python, train.py]", EXIT_BAD_INPUT)
    return [str(word) for word in words]


def _table(said: Any, where: str, name: str, read: Callable[[str], tuple[str, str]]) -> dict[str, str]:
    """Names with texts, which a file says as a table or as the options do, in a list."""
    if isinstance(said, dict) and not any(isinstance(text, dict | list) for text in said.values()):
        return {key: str(text) for key, text in said.items()}
    texts = [said] if isinstance(said, str) else said
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        fail(f"{where}: {name}: must be a table, such as {{NAME: value}}", EXIT_BAD_INPUT)
    return dict(read(text) for text in texts)


def _program(
    *, command: tuple[str, ...], env: tuple[str, ...], secrets: tuple[str, ...], workdir: str | None,
    retries: int | None, max_time: str | None, port: int | None, health: str | None, seconds: float | None,
    as_json: str | None,
) -> dict[str, Any]:  # fmt: skip
    said: dict[str, Any] = {
        "command": list(command) or None,
        "env": dict(_assignment("env", text) for text in env) or None,
        "secrets": dict(_secret(text) for text in secrets) or None,
        "workdir": None if workdir is None else os.path.abspath(workdir),
        "retries": retries,
        "max_seconds": None if max_time is None else milliseconds(max_time) / 1000,
        "port": port,
        "health": None if health is None else {"path": health},
        "seconds": seconds,
    }
    given = {} if as_json is None else _json(as_json)
    if workdir is None and "workdir" not in given:
        _say_where(command)
    return {**given, **{name: value for name, value in said.items() if value is not None}}


def _say_where(command: tuple[str, ...]) -> None:
    """Say that files of the present directory are not where the job starts, if its command names
    one.
    """
    named = [word for word in command if word[:1] not in ("", "-", "/") and os.path.isfile(word)]
    if named:
        click.echo(
            f"note: {named[0]} is here, but the job starts in a new, empty directory: "
            "say --workdir . if the server is on this machine, or name the file by a path that is there",
            err=True,
        )


def _json(text: str) -> dict[str, Any]:
    found = read_json(text, "--program")
    if not is_program(found):
        fail(f"--program: {PROGRAM_FORM}", EXIT_BAD_INPUT)
    return dict(found)


def _assignment(option: str, text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        shown = text if option == "env" else name
        fail(f"--{option} {shown}: must be NAME=VALUE", EXIT_BAD_INPUT)
    return name, value


def _secret(text: str) -> tuple[str, str]:
    """Name and value of NAME=VALUE, or of NAME, whose value is then taken from the environment.

    Other users of the machine can see a value on the command line, but not one in the environment.
    """
    if "=" in text:
        return _assignment("secret", text)
    value = os.environ.get(text)
    if value is None:
        fail(f"--secret {text}: there is no variable {text} to take its value from", EXIT_BAD_INPUT)
    return text, value
