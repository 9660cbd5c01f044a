"""Which commands are there, in which groups, and under which other words? `--help` prints them from
here.

A command is its module and one line. The function in the module has the name of the command.
"""

from __future__ import annotations

from typing import Final

EVERY_DAY: Final = {
    "login": ("quotatree.cli.sign_in.login", "Log in to a server and remember it."),
    "submit": ("quotatree.cli.change.submit", "Queue a job: quotatree submit --gpus 1 -- python train.py"),
    "get": ("quotatree.cli.look.get", "List jobs, queue, quotas, nodes, users, events, preemptions ..."),
    "describe": ("quotatree.cli.look.describe", "Show everything about one of them."),
    "explain": ("quotatree.cli.look.explain", "Show why a job waits, or which job took its place."),
    "logs": ("quotatree.cli.look.logs", "Show what a job prints."),
    "stop": ("quotatree.cli.change.job_verbs", "Stop running jobs; `start` queues them again."),
    "cancel": ("quotatree.cli.change.job_verbs", "End jobs for good."),
    "tree": ("quotatree.cli.look.tree", "Draw the quotas with what they use."),
    "preview": ("quotatree.cli.change.preview", "Show what a change would do, without doing it."),
    "scale": ("quotatree.cli.change.quota_verbs", "Give a quota another size."),
    "apply": ("quotatree.cli.change.apply", "Make pools, nodes, quotas and workspaces what a file says."),
}
GROUPS: Final = {
    "jobs": {
        "hold": ("quotatree.cli.change.job_verbs", "Keep waiting jobs out of the queue until you release them."),
        "release": ("quotatree.cli.change.job_verbs", "Put held jobs back into the queue."),
        "start": ("quotatree.cli.change.job_verbs", "Queue stopped jobs again."),
        "restart": ("quotatree.cli.change.job_verbs", "Replace the replicas of services one by one."),
        "resize": ("quotatree.cli.change.resize", "Give a job more or fewer replicas."),
        "priority": ("quotatree.cli.change.job_verbs", "Give a waiting job another priority."),
        "checkpoint": ("quotatree.cli.change.job_verbs", "Report that a job wrote a checkpoint."),
        "open": ("quotatree.cli.change.job_verbs", "Print where a notebook or a service answers."),
    },
    "look": {
        "top": ("quotatree.cli.look.top", "Show use, queues and nodes, over and over."),
        "usage": ("quotatree.cli.look.usage", "Account for GPU-hours: used, and lost by preemption."),
        "rule": ("quotatree.cli.look.rule", "Print what a rule says, such as P5, or list all."),
    },
    "quotas": {
        "policy": ("quotatree.cli.change.policy", "Show, switch and set a quota's policies."),
        "centre": ("quotatree.cli.change.centre", "Show and set a workspace's rules in a quota."),
        "priorities": ("quotatree.cli.change.priorities", "Show and set names for priorities."),
        "transfer": ("quotatree.cli.change.quota_verbs", "Move capacity from one quota to its sibling."),
        "return-loan": ("quotatree.cli.change.quota_verbs", "Take a quota back to its min now."),
    },
    "cluster": {
        "create": (
            "quotatree.cli.change.create",
            "Make a quota, workspace, member, user, token, webhook, pool or node.",
        ),
        "delete": ("quotatree.cli.change.delete", "Delete one of them."),
        "bind": ("quotatree.cli.change.binding", "Let a workspace use quotas."),
        "unbind": ("quotatree.cli.change.binding", "Take quotas from a workspace."),
        "cordon": ("quotatree.cli.change.node_verbs", "Start nothing new on nodes."),
        "uncordon": ("quotatree.cli.change.node_verbs", "Use nodes again."),
        "drain": ("quotatree.cli.change.node_verbs", "Evict what runs on nodes, and start nothing new."),
    },
    "people": {
        "logout": ("quotatree.cli.sign_in.login", "Forget a login."),
        "context": ("quotatree.cli.sign_in.context", "List, switch and set logins and what they remember."),
        "whoami": ("quotatree.cli.sign_in.login", "Show your user name and roles."),
        "console": ("quotatree.cli.sign_in.login", "Print an address that opens the console, signed in."),
        "user": ("quotatree.cli.sign_in.people", "Set passwords, shut users out and let them in."),
    },
    "server": {
        "serve": ("quotatree.cli.run.serve", "Run the server."),
        "migrate": ("quotatree.cli.run.storing", "Bring the tables of a database up to date."),
        "backup": ("quotatree.cli.run.storing", "Write everything that is stored to a file."),
        "restore": ("quotatree.cli.run.storing", "Fill an empty database from a backup."),
        "doctor": ("quotatree.cli.run.doctor", "Check configuration, server and data."),
        "snapshot": ("quotatree.cli.run.history_files", "Write the state of the cluster to a file."),
        "export": ("quotatree.cli.run.history_files", "Write the history as a trace for the simulator."),
        "crds": ("quotatree.cli.run.uninstall", "Print the custom resources for kubectl apply."),
        "uninstall": ("quotatree.cli.run.uninstall", "Take QuotaTree off a cluster's objects."),
    },
    "files": {
        "demo": ("quotatree.cli.demo.command", "Show everything in a minute, on virtual GPUs."),
        "plan": ("quotatree.cli.try_out.plan", "Print the decisions of a scenario or a snapshot."),
        "check": ("quotatree.cli.try_out.check", "Run the expectations of scenario files."),
        "play": ("quotatree.cli.try_out.play", "Tell a scenario step by step."),
        "simulate": ("quotatree.cli.try_out.simulate", "Replay a trace of jobs, and measure it."),
        "completion": ("quotatree.cli.completion", "Print the completion script of a shell."),
    },
}  # fmt: skip
HELP: Final = {
    "help": ("quotatree.cli.help_page", "Show this page, a group's commands or a command's options.")
}
HIDDEN: Final = {
    "users": ("quotatree.cli.look.users", "Another word for `get users --quota`."),
    "token": ("quotatree.cli.sign_in.people", "Another word for `create token` and `delete token`."),
    "webhook": ("quotatree.cli.sign_in.webhook", "Another word for `create`, `get` and `delete webhook`."),
}
"""Older spellings that still work and that no page of help lists."""
COMMANDS: Final = {
    **EVERY_DAY,
    **{name: entry for group in GROUPS.values() for name, entry in group.items()},
    **HELP,
}
FUNCTIONS: Final = {"open": "open_job", "help": "help_page"}
"""Functions that are not called like their commands, whose names are Python's own."""
WITHOUT_SERVER: Final = (*GROUPS["server"], *GROUPS["files"], *HELP)
"""Commands that do not complete names that a server knows."""
OTHER_WORDS: Final = {
    "ps": ("get", "jobs"),
    "policies": ("policy",),
    "contexts": ("context", "list"),
    **{
        noun: ("get", noun)
        for noun in (
            "jobs", "quotas", "workspaces", "nodes", "pools", "tokens", "webhooks", "events", "preemptions",
            "queue",
        )
    },
}  # fmt: skip
"""Shorter spellings. They are not listed either."""
EXIT_STATUS: Final = """\
0    success
1    refused by a rule, or failed
2    bad usage or input
3    not found
4    no rights
5    changed by another user first
6    the server or its store cannot be reached
130  interrupted
"""
