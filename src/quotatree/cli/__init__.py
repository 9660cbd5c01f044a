"""The command `quotatree`. Commands are imported only when they are called, so that `--help`
answers at once.
"""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from typing import Any, Final

import click

from quotatree import __version__
from quotatree.cli.commands import COMMANDS, FUNCTIONS, HIDDEN, OTHER_WORDS, WITHOUT_SERVER
from quotatree.cli.safe_text import guard_output

INTERRUPTED: Final = 130

COMPLETING: Final = "_QUOTATREE_COMPLETE"
"""Variable by which the script of a shell asks for completions."""


class LazyGroup(click.Group):
    """A group that lists its commands by name and imports the module of one only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name) or HIDDEN.get(cmd_name)
        if entry is None:
            return None
        module = import_module(entry[0])
        command: click.Command = getattr(module, FUNCTIONS.get(cmd_name, cmd_name.replace("-", "_")))
        if COMPLETING in os.environ and cmd_name not in WITHOUT_SERVER:
            from quotatree.cli.completion_names import offer_names

            offer_names(command, (cmd_name,))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        args = [*OTHER_WORDS.get(args[0], (args[0],)), *args[1:]]
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]}?", ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and exit with INTERRUPTED on Ctrl-C, which click would call a failure: it
        is how a watch ends.
        """
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise SystemExit(INTERRUPTED) from None
        except ModuleNotFoundError as error:
            from quotatree.cli.extras import told
            from quotatree.cli.output import EXIT_FAILED, fail

            said = told(error)
            if said is None:
                raise
            fail(said, EXIT_FAILED)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from quotatree.cli.help_page import screen

        formatter.write(screen(ctx.info_name or "quotatree"))


def kubectl_plugin() -> None:
    """The same commands as `kubectl quotatree`, which kubectl finds by the program's name."""
    main(prog_name="kubectl quotatree")


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="quotatree")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Share a GPU cluster between teams by a tree of quotas; GPUs are taken back by policy, with
    the reason.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows ? for it
    guard_output()
