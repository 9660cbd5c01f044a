"""The command `quotatree`. Commands are imported only when they are called, so that `--help` answers at once."""

from __future__ import annotations

from importlib import import_module
from typing import Final

import click

from quotatree import __version__

# name: (module, one line for --help). The function in the module has the name of the command.
COMMANDS: Final = {
    "plan": (
        "quotatree.cli.plan",
        "Print what is decided when a scenario file is played, with reasons and costs.",
    ),
    "explain": ("quotatree.cli.explain", "Say why a job waits, or who took its place."),
    "preview": (
        "quotatree.cli.preview",
        "Say what a submission, a scaling or a policy would do, without doing it.",
    ),
    "check": ("quotatree.cli.check", "Run the expectations of scenario files."),
    "tree": ("quotatree.cli.tree", "Draw the quotas of a scenario file with what they use."),
    "simulate": (
        "quotatree.cli.simulate",
        "Replay a trace of jobs through policies and measure what comes of it.",
    ),
    "demo": ("quotatree.cli.demo", "Play the 128-GPU example: a service arrives, victims go and come back."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and loads one when it is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name][0]), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="quotatree")
def main() -> None:
    """Shares a GPU cluster between teams by a tree of quotas, and takes GPUs back by policy, saying why.

    Exit status: 0 if all is well, 1 if an expectation failed, 2 if the input is bad.
    """
