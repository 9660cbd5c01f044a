"""The command `quotatree`. Commands are imported only when they are called, so that `--help` answers at once."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from typing import Any, Final

import click

from quotatree import __version__
from quotatree.cli.safe_text import guard_output

INTERRUPTED: Final = 130

# name: (module, one line for --help). The function in the module has the name of the command.
SECTIONS: Final = {
    "Begin": {
        "demo": (
            "quotatree.cli.demo.command",
            "Show everything in a minute, with real processes on virtual GPUs.",
        ),
    },
    "Look": {
        "get": ("quotatree.cli.look.get", "List jobs, quotas, workspaces, nodes, users, events and more."),
        "describe": ("quotatree.cli.look.describe", "Tell everything about one of them."),
        "explain": ("quotatree.cli.look.explain", "Say why a job waits, or who took its place."),
        "queue": ("quotatree.cli.look.queue", "Show who waits, in order, and for what."),
        "users": ("quotatree.cli.look.users", "Show who uses quotas, and waits for how much."),
        "usage": ("quotatree.cli.look.usage", "Account for GPU-hours: used, and lost by preemption."),
        "tree": ("quotatree.cli.look.tree", "Draw the quotas with what they use."),
        "top": ("quotatree.cli.look.top", "Show use, queues and nodes, over and over."),
        "preemptions": ("quotatree.cli.look.ledger", "Show who took what from whom, and at which cost."),
        "events": ("quotatree.cli.look.ledger", "Show what happened, or happens."),
        "logs": ("quotatree.cli.look.logs", "Show what a job prints."),
        "open": ("quotatree.cli.change.job_verbs", "Print where a notebook or a service answers."),
        "rule": ("quotatree.cli.look.rule", "Print what a rule says, such as P5, or list all."),
    },
    "Change": {
        "submit": ("quotatree.cli.change.submit", "Queue jobs, by options or from a file."),
        "cancel": ("quotatree.cli.change.job_verbs", "End jobs."),
        "hold": ("quotatree.cli.change.job_verbs", "Take waiting jobs out of the queue."),
        "release": ("quotatree.cli.change.job_verbs", "Put held jobs back."),
        "stop": ("quotatree.cli.change.job_verbs", "Stop jobs so that they can be started again."),
        "start": ("quotatree.cli.change.job_verbs", "Queue stopped jobs again."),
        "restart": ("quotatree.cli.change.job_verbs", "Replace the replicas of services one by one."),
        "checkpoint": ("quotatree.cli.change.job_verbs", "Say that a job wrote a checkpoint."),
        "resize": ("quotatree.cli.change.resize", "Give a job more or fewer replicas."),
        "priority": ("quotatree.cli.change.job_verbs", "Give a waiting job another priority."),
        "preview": (
            "quotatree.cli.change.preview",
            "Say what a submission, a scaling or a policy would do, without doing it.",
        ),
        "apply": ("quotatree.cli.change.apply", "Make pools, nodes, quotas and workspaces what a file says."),
        "create": ("quotatree.cli.change.create", "Make a quota, workspace, member, user, pool or node."),
        "delete": ("quotatree.cli.change.delete", "Delete them, and webhooks."),
        "bind": ("quotatree.cli.change.binding", "Let a workspace use quotas."),
        "unbind": ("quotatree.cli.change.binding", "Take quotas from a workspace."),
        "centre": ("quotatree.cli.change.centre", "Show and set a workspace's rules in a quota."),
        "scale": ("quotatree.cli.change.quota_verbs", "Give a quota another size."),
        "transfer": ("quotatree.cli.change.quota_verbs", "Move capacity from one quota to its sibling."),
        "policy": ("quotatree.cli.change.policy", "Show, switch and set a quota's policies."),
        "priorities": ("quotatree.cli.change.priorities", "Show and set names for priorities."),
        "return-loan": ("quotatree.cli.change.quota_verbs", "Take a quota back to its min now."),
        "cordon": ("quotatree.cli.change.node_verbs", "Start nothing new on nodes."),
        "uncordon": ("quotatree.cli.change.node_verbs", "Use nodes again."),
        "drain": ("quotatree.cli.change.node_verbs", "Evict what runs on nodes, and start nothing new."),
    },
    "Sign in": {
        "login": ("quotatree.cli.sign_in.login", "Log in to a server and remember it."),
        "logout": ("quotatree.cli.sign_in.login", "Forget a login."),
        "context": ("quotatree.cli.sign_in.context", "List, switch and remove logins."),
        "whoami": ("quotatree.cli.sign_in.login", "Say who one is there, with which roles."),
        "console": ("quotatree.cli.sign_in.login", "Print an address that opens the console, signed in."),
        "token": ("quotatree.cli.sign_in.people", "Make and revoke tokens."),
        "user": ("quotatree.cli.sign_in.people", "Make users, set passwords."),
        "webhook": ("quotatree.cli.sign_in.webhook", "Have events sent somewhere."),
    },
    "Run a server": {
        "serve": ("quotatree.cli.run.serve", "Run the server."),
        "migrate": ("quotatree.cli.run.storing", "Bring the tables of a database up to date."),
        "backup": ("quotatree.cli.run.storing", "Write everything that is stored to a file."),
        "restore": ("quotatree.cli.run.storing", "Fill an empty database from a backup."),
        "crds": (
            "quotatree.cli.run.uninstall",
            "Print the custom resources of this version for kubectl apply.",
        ),
        "uninstall": (
            "quotatree.cli.run.uninstall",
            "Take everything of QuotaTree off a Kubernetes cluster.",
        ),
        "doctor": ("quotatree.cli.run.doctor", "Check configuration, server and data."),
        "snapshot": ("quotatree.cli.run.history_files", "Write the state of the cluster to a file."),
        "export": ("quotatree.cli.run.history_files", "Write the history as a trace for the simulator."),
    },
    "Try things out on files": {
        "plan": (
            "quotatree.cli.try_out.plan",
            "Print what is decided from a scenario or a snapshot, with reasons and costs.",
        ),
        "check": ("quotatree.cli.try_out.check", "Run the expectations of scenario files."),
        "simulate": (
            "quotatree.cli.try_out.simulate",
            "Replay a trace of jobs through policies and measure what comes of it.",
        ),
        "play": ("quotatree.cli.try_out.play", "Tell a scenario step by step."),
        "completion": ("quotatree.cli.completion", "Print the completion script of a shell."),
    },
}
NAMED: Final = {"open": "open_job"}  # a function must not be called like one of Python's own
COMPLETING: Final = "_QUOTATREE_COMPLETE"
"""Variable by which the script of a shell asks for completions."""
ASKING: Final = ("Look", "Change", "Sign in")
"""Sections of commands that talk to a server, and offer the names that it knows."""
SHORT: Final = {
    "ps": ("get", "jobs"),
    "policies": ("policy",),
    "contexts": ("context", "list"),
    **{
        noun: ("get", noun)
        for noun in ("jobs", "quotas", "workspaces", "nodes", "pools", "tokens", "webhooks")
    },
}
"""Other words for commands: what one types without thinking. They are not listed."""
COMMANDS: Final = {name: entry for section in SECTIONS.values() for name, entry in section.items()}


class LazyGroup(click.Group):
    """A group that lists its commands by name and imports the module of one only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(COMMANDS[cmd_name][0])
        command: click.Command = getattr(module, NAMED.get(cmd_name, cmd_name.replace("-", "_")))
        if COMPLETING in os.environ and any(cmd_name in SECTIONS[section] for section in ASKING):
            from quotatree.cli.completion_names import offer_names

            offer_names(command, (cmd_name,))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        args = [*SHORT.get(args[0], (args[0],)), *args[1:]]
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]}?", ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and exit with INTERRUPTED on Ctrl-C, which click would call a failure: it is how a watch ends."""
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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, line) for name, (_, line) in commands.items()])


def kubectl_plugin() -> None:
    """The same commands as `kubectl quotatree`, which kubectl finds by the program's name."""
    main(prog_name="kubectl quotatree")


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="quotatree")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Shares a GPU cluster between teams by a tree of quotas, and takes GPUs back by policy, saying why.

    Exit status: 0 all is well, 1 refused or failed, 2 bad usage or input, 3 not found, 4 no rights, 5 somebody else
    was faster, 6 the server or its store cannot be reached, 130 interrupted.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows ? for it
    guard_output()
