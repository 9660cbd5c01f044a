"""--dry-run, -y and -o mean the same on every command that changes something."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from quotatree.cli import main
from quotatree.cli.commands import COMMANDS
from tests.cli.conftest import Cli, Serving

READING = {
    "get", "describe", "explain", "logs", "tree", "top", "preview", "usage", "rule", "open", "whoami", "console",
    "policy show", "centre show", "priorities show", "help",
}  # fmt: skip
NOT_ON_A_SERVER = {
    "login", "logout", "context list", "context use", "context set", "context remove", "completion", "demo",
    "plan", "check", "play", "simulate", "serve", "migrate", "backup", "restore", "crds", "uninstall", "doctor",
    "snapshot", "export",
}  # fmt: skip
JOB = "waits"
EXAMPLES: dict[str, tuple[str, ...]] = {
    "submit": ("--workspace", "vision", "--quota", "vision", "--gpus", "1"),
    "cancel": (JOB,),
    "hold": (JOB,),
    "release": (JOB,),
    "stop": (JOB,),
    "start": (JOB,),
    "restart": (JOB,),
    "checkpoint": (JOB,),
    "priority": (JOB, "3"),
    "resize": (JOB, "--replicas", "2"),
    "apply": ("-f", "FILE"),
    "scale": ("speech", "2"),
    "transfer": ("speech", "vision", "2"),
    "return-loan": ("speech",),
    "policy on": ("vision", "child-level"),
    "policy off": ("vision", "lending"),
    "policy set": ("vision", "--strategy", "fifo"),
    "centre set": ("vision", "vision", "--longest-run", "24h"),
    "priorities set": ("urgent=9",),
    "priorities remove": ("nightly",),
    "create quota": ("lab", "--parent", "vision", "--gpus", "2"),
    "create workspace": ("lab", "--owner", "ann", "--quota", "vision"),
    "create member": ("eve", "--workspace", "vision"),
    "create user": ("zoe",),
    "create token": ("laptop",),
    "create webhook": ("chat", "--url", "http://127.0.0.1:9/"),
    "create pool": ("spare",),
    "create node": ("node-9",),
    "delete quota": ("unused",),
    "delete workspace": ("empty",),
    "delete member": ("ann", "--workspace", "vision"),
    "delete user": ("eve",),
    "delete token": ("TOKEN",),
    "delete webhook": ("hook",),
    "delete pool": ("bare",),
    "delete node": ("node-1",),
    "bind": ("vision", "speech"),
    "unbind": ("speech", "speech"),
    "cordon": ("node-0",),
    "uncordon": ("node-0",),
    "drain": ("node-0",),
    "user password": ("ann",),
    "user disable": ("ann",),
    "user enable": ("ann",),
}


def leaves() -> Iterator[tuple[str, click.Command]]:
    """Every command that help lists, with its words."""
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {word}", one) for word, one in command.commands.items() if not one.hidden)
        else:
            yield name, command


LEAVES = dict(leaves())
REFUSED = {"return-loan": "has no loan to return [P15]"}
"""Of the examples. A dry run is refused as the change would be."""


def test_every_command_reads_or_changes_something():
    assert sorted(LEAVES) == sorted((*READING, *NOT_ON_A_SERVER, *EXAMPLES))


@pytest.mark.parametrize("words", EXAMPLES)
def test_the_three_options_are_the_same_everywhere(words: str):
    options = {one.name: one for one in LEAVES[words].params if isinstance(one, click.Option)}
    seen = {
        name: (one.opts, one.help) for name, one in options.items() if name in ("dry_run", "yes", "output")
    }
    assert seen == {
        "dry_run": (["--dry-run"], "Show what would be done, and change nothing."),
        "yes": (["-y", "--yes"], "Do not ask."),
        "output": (["-o", "--output"], "How to print what is done."),
    }
    assert list(options["output"].type.choices) == ["table", "json", "name"]  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """A server with something of everything, and a job that waits."""
    serving = Serving(tmp_path_factory.mktemp("server"))
    try:
        cli = Cli(serving, tmp_path_factory.mktemp("home"))
        tree = """
users: [ann, eve]
pools: [{name: bare}]
quotas:
  - {id: company, draws: {default: {gpus: 8}}}
  - {id: vision, parent: company, min: {gpus: 4}}
  - {id: speech, parent: company, min: {gpus: 3}}
  - {id: unused, parent: company, min: {gpus: 1}}
workspaces:
  - {id: vision, members: {ann: developer}, quotas: [vision]}
  - {id: speech, members: {eve: developer}, quotas: [speech]}
  - {id: empty}
priorities: {nightly: 2}
"""
        cli.run("apply", "-y", "-f", cli.file("tree.yaml", tree))
        secret = cli.file("secret", "a secret of twenty-five\n")
        cli.run("create", "webhook", "hook", "--url", "http://127.0.0.1:9/", "--secret-file", secret)
        for name, gpus in (("runs", "4"), (JOB, "2")):
            cli.submit("--gpus", gpus, "--name", name, user="admin")
        cli.file("new.yaml", "users: [zoe]\nworkspaces: [{id: lab, quotas: [vision]}]\n")
        yield cli
    finally:
        serving.close()


def state(serving: Serving) -> Any:
    """All that a command could change."""
    with serving.client() as client:
        jobs = [(job["id"], job["phase"], job["priority"], job["replicas"]) for job in client.jobs.list()]
        lists = (
            client.quotas.list(), client.workspaces.list(), client.users.list(), client.nodes.list(),
            client.pools.list(), ({**hook, "last": None} for hook in client.webhooks.list()), client.tokens.list(),
        )  # fmt: skip
        centre = client.workspaces.centre("vision", "vision")
        return json.dumps([jobs, *(list(one) for one in lists), client.priorities.names(), centre])


@pytest.mark.parametrize("words", EXAMPLES)
def test_a_dry_run_tells_what_would_be_done_and_changes_nothing(kept: Cli, words: str):
    token = kept.json("whoami")["token"]["id"]
    given = [
        {"FILE": str(Path(kept.home) / "new.yaml"), "TOKEN": token}.get(word, word)
        for word in EXAMPLES[words]
    ]
    before = state(kept.serving)
    command = (*words.split(), *given, "--dry-run")
    if words in REFUSED:
        assert REFUSED[words] in kept.run(*command, status=1).stderr
        return
    told = kept.run(*command).stdout
    assert "nothing has been changed" in told
    whole = json.loads(kept.run(*command, "-y", "-o", "json").stdout)
    assert set(whole) == {"dry_run", "items", "preview"}
    assert whole["dry_run"] is True
    assert all({"kind", "name", "done"} <= set(item) for item in whole["items"])
    named = kept.run(*command, "-o", "name").stdout.splitlines()
    assert named == list(
        dict.fromkeys(f"{item['kind']}/{item['name']}" for item in whole["items"] if item["name"])
    )
    assert named or words == "apply"
    assert state(kept.serving) == before


def test_what_is_done_is_printed_as_json_and_by_name(kept: Cli):
    made = json.loads(kept.run("create", "user", "max", "-o", "json").stdout)
    assert made == {
        "dry_run": False, "items": [{"kind": "user", "name": "max", "done": "created"}], "preview": None,
    }  # fmt: skip
    assert kept.run("user", "disable", "max", "-o", "name").stdout == "user/max\n"
    token = kept.run("create", "token", "t", "--user", "ann", "-o", "json")
    (item,) = json.loads(token.stdout)["items"]
    assert item["token"].startswith("qt_")
    named = kept.run("create", "token", "t", "--user", "ann", "-o", "name")
    assert named.stdout.startswith("token/")
    assert "qt_" in named.stderr, "the token is shown once, and not where a script reads names"
    kept.run("delete", "token", named.stdout.strip(), item["name"])


def test_a_question_does_not_stand_in_what_a_program_reads(kept: Cli):
    asked = kept.run("drain", "node-0", "-o", "json", stdin="n\n", status=1)
    assert asked.stdout == ""
    assert "this would be taken" in asked.stderr


def test_a_dry_run_finds_what_is_not_there_and_what_is_there_already(kept: Cli):
    for words in (
        ("delete", "workspace", "none"), ("delete", "pool", "none"), ("cancel", "none"), ("bind", "none", "vision"),
        ("user", "disable", "none"), ("delete", "node", "none"),
    ):  # fmt: skip
        kept.run(*words, "--dry-run", status=3)
    assert "--if-not-exists" in kept.run("create", "user", "ann", "--dry-run", status=1).stderr
