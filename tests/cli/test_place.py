"""Where does a job go? Where you said, where the login remembers, or where there is only one place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import Cli, bare


@pytest.fixture
def uma(cli: Cli) -> Cli:
    """A user with one workspace, which may use one quota."""
    tree = "users: [uma]\nworkspaces: [{id: studio, members: {uma: developer}, quotas: [vision]}]\n"
    cli.run("apply", "-y", "-f", cli.file("uma.yaml", tree))
    cli.serving.tokens["uma"] = cli.run("create", "token", "t", "--user", "uma").stdout.strip()
    return cli


def login(cli: Cli, user: str, *words: str) -> None:
    token = cli.file(user, cli.serving.tokens[user])
    bare(cli, "login", cli.serving.url, "--token-file", token, "--name", user, *words)


def submit(cli: Cli, *words: str) -> Any:
    (made,) = json.loads(bare(cli, "submit", *words, "-o", "json").stdout)["items"]
    return cli.json("get", "job", made["id"])


def test_after_login_a_command_is_enough(uma: Cli):
    """With one workspace and one quota neither is said, and a command gets one GPU."""
    cli = uma
    login(cli, "uma")
    shown = bare(cli, "submit", "--dry-run", "--", "python", "train.py", status=1)
    assert "it gets 1 GPU" in shown.stderr
    assert "a timer knows no such field" in shown.stderr, "the server's answer"
    job = submit(cli, "--gpus", "1", "--seconds", "0")
    assert (job["workspace"], job["quota"], job["gpus"]) == ("studio", "vision", 1)


def test_of_several_the_one_that_is_remembered_is_taken(cli: Cli):
    login(cli, "admin")
    told = bare(cli, "submit", "--gpus", "1", status=2).stderr
    assert "--workspace (or the variable QUOTATREE_WORKSPACE) is missing: there are " in told
    assert "speech" in told
    assert "quotatree context set --workspace" in told
    bare(cli, "context", "set", "--workspace", "speech", "--quota", "speech")
    assert submit(cli, "--gpus", "1")["quota"] == "speech"
    assert submit(cli, "--gpus", "1", "--workspace", "vision")["quota"] == "vision"
    login(cli, "admin", "--workspace", "vision")
    assert submit(cli, "--gpus", "1")["workspace"] == "vision"
    listed = json.loads(bare(cli, "context", "list", "-o", "json").stdout)["items"]
    assert [(one["workspace"], one["quota"]) for one in listed] == [("vision", "")]


def test_a_quota_that_one_workspace_may_use_names_it(cli: Cli):
    login(cli, "admin")
    assert submit(cli, "--gpus", "1", "--quota", "speech")["workspace"] == "speech"


def test_members_are_made_where_the_login_works(cli: Cli):
    login(cli, "admin", "--workspace", "vision")
    assert "workspace/vision" in bare(cli, "create", "member", "eve", "--role", "viewer").stdout
    assert "workspace/vision" in bare(cli, "delete", "member", "eve", "--role", "viewer").stdout


def test_a_user_without_a_workspace_is_told_whom_to_ask(cli: Cli):
    cli.run("create", "user", "new", "--if-not-exists")
    cli.serving.tokens["new"] = cli.run("create", "token", "t", "--user", "new").stdout.strip()
    login(cli, "new")
    assert "you are in none: ask an admin" in bare(cli, "submit", "--gpus", "1", status=2).stderr


def test_a_server_that_is_named_gets_the_login_saved_for_it(cli: Cli):
    login(cli, "ann")
    login(cli, "eve")
    bare(cli, "context", "use", "ann")
    assert bare(cli, "whoami", "--server", f"{cli.serving.url}/").stdout.startswith("ann on")
    elsewhere = ("login", "http://127.0.0.1:1", "--token-file", cli.file("t", "x"))
    assert bare(cli, *elsewhere, status=6)
    login(cli, "admin")
    bare(cli, "context", "remove", "admin")
    told = bare(cli, "whoami", "--server", cli.serving.url, status=2).stderr
    assert "there are several logins for it; choose one by --context: ann, eve" in told
    bare(cli, "context", "remove", "ann")
    assert bare(cli, "whoami", "--server", cli.serving.url).stdout.startswith("eve on")
