"""`quotatree demo`: the 128-GPU example on a separate server, with real processes on virtual GPUs."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quotatree.cli.output import EXIT_BAD_INPUT, EXIT_FAILED, EXIT_INTERRUPTED, fail

if TYPE_CHECKING:
    from quotatree.cli.demo.stage import Stage
    from quotatree.cli.demo.telling import Teller


@click.command()
@click.option("--script", is_flag=True, help="Run through and exit: 0 only if everything expected was seen.")
@click.option(
    "--directory", type=click.Path(path_type=Path), metavar="DIR",
    help="Work in this new directory. Without it, in a temporary one. It is removed at the end.",
)  # fmt: skip
def demo(script: bool, directory: Path | None) -> None:
    """Show everything in a minute: 128 GPUs, three teams, a service that arrives, victims that come
    back.

    Starts a separate server on virtual GPUs, with small real processes as jobs. Then everything is
    left running, to be looked at in a browser and tried out, until Ctrl-C; nothing is left behind.
    Without a terminal it ends as with --script.
    """
    if directory is not None and os.path.exists(directory):
        fail(f"{directory}: is there already; name a directory that is not", EXIT_BAD_INPUT)
    if not sys.platform.startswith("linux"):
        fail("real processes are run on Linux only; `quotatree play` shows the same as a story", EXIT_FAILED)
    from quotatree.cli.demo.stage import StageFailed, own_directory, stage
    from quotatree.cli.demo.story import Story
    from quotatree.cli.demo.telling import Teller

    signal.signal(signal.SIGTERM, _interrupt)
    tell = Teller()
    try:
        with stage(directory or own_directory()) as opened:
            try:
                tell.say("starting a server on 128 virtual GPUs")
                opened.open()
                Story(opened, tell).play()
                _close(tell, opened, waits=not script and sys.stdout.isatty())
            except KeyboardInterrupt:
                click.echo("ending all jobs and the server", err=True)
                raise
    except StageFailed as error:
        fail(str(error), EXIT_FAILED)
    except KeyboardInterrupt:
        fail("all jobs and the server are ended, the directory is removed", EXIT_INTERRUPTED)
    if tell.missed:
        fail(f"{len(tell.missed)} of {tell.checks} expectations were not seen", EXIT_FAILED)


def _close(tell: Teller, opened: Stage, waits: bool) -> None:
    tell.say("")
    tell.say(f"{tell.checks - len(tell.missed)} of {tell.checks} expectations seen, in {tell.seconds:.0f} s.")
    if not waits:
        return
    tell.act("Everything is left running. In a browser, each link once, within 15 minutes")
    for line in links(opened):
        tell.command(line)
    tell.act("In another terminal")
    for line in hints(opened):
        tell.command(line)
    tell.say("")
    tell.say("Ctrl-C ends it all and removes what it made.")
    signal.pause()


def links(opened: Stage) -> list[str]:
    """Addresses that open the console as the admin, and as each of those who act."""
    return [f"{opened.url}{opened.client(user).logins.link()['path']}  # {user}" for user in opened.tokens]


def hints(opened: Stage) -> list[str]:
    """Lines to type in another terminal as bob, who trains; the tokens of the other users lie
    beside bob's.
    """
    there = shlex.quote(str(Path(sys.executable).parent))
    token = shlex.quote(str(opened.tokens["bob"]))
    return [
        f"export PATH={there}:$PATH",
        f"export QUOTATREE_URL={opened.url} QUOTATREE_WORKSPACE=workspace-b",
        f"export QUOTATREE_TOKEN=$(cat {token})",
        "quotatree get jobs                  # reasons, places in the queue",
        "quotatree tree",
        "quotatree get preemptions           # who took what, and what it cost",
        "quotatree logs -f sweep-a           # what a training prints",
        "quotatree submit --quota Quota1.1 --gpus 8 --name mine -- sleep 60",
        "quotatree explain mine              # why it waits, what would help",
        "quotatree console                   # another link to the console",
    ]


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt
