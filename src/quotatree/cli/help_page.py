"""`quotatree --help` on one screen, and `quotatree help`: a group's commands, a command's options,
the exit status.
"""

from __future__ import annotations

from typing import Final

import click

from quotatree.cli.commands import COMMANDS, EVERY_DAY, EXIT_STATUS, GROUPS, HELP, HIDDEN
from quotatree.cli.output import EXIT_BAD_INPUT, fail

STATUS: Final = "exit-status"
TITLE: Final = "Share a GPU cluster by a tree of quotas. New here? {program} demo"


def screen(program: str) -> str:
    """What `--help` prints: at most 24 lines of 80 columns."""
    lines = [f"Usage: {program} COMMAND [ARGS]...", TITLE.format(program=program), "Every day:"]
    lines += _described(EVERY_DAY)
    lines.append(f"More, described by `{program} help GROUP`:")
    width = max(len(group) for group in GROUPS)
    lines += [f"  {group.ljust(width)}  {' '.join(names)}" for group, names in GROUPS.items()]
    lines.append(f"Options: -h --help, --version. Exit status: {program} help {STATUS}")
    return "\n".join(lines) + "\n"


def _described(commands: dict[str, tuple[str, str]]) -> list[str]:
    width = max(len(name) for name in commands)
    return [f"  {name.ljust(width)}  {line}" for name, (_, line) in commands.items()]


@click.command("help")
@click.argument("words", nargs=-1, metavar="[GROUP|COMMAND]...")
@click.pass_context
def help_page(context: click.Context, words: tuple[str, ...]) -> None:
    """Show all commands on one screen, the commands of GROUP, the options of COMMAND, or
    `exit-status`.
    """
    root = context.find_root()
    if not words:
        click.echo(root.get_help())
    elif words == (STATUS,):
        click.echo(EXIT_STATUS, nl=False)
    elif len(words) == 1 and words[0] in GROUPS:
        click.echo("\n".join(_described(GROUPS[words[0]])))
    elif words[0] in COMMANDS or words[0] in HIDDEN:
        root.command.main([*words, "--help"], prog_name=root.info_name, standalone_mode=False)
    else:
        there = ", ".join((*GROUPS, STATUS, *HELP))
        fail(f"no command or group {words[0]}; there are the groups {there}", EXIT_BAD_INPUT)
