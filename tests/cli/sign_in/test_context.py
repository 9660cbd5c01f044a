"""`context`: logins are listed, switched and removed."""

from __future__ import annotations

import json

from tests.cli.conftest import Cli, bare


def test_contexts_are_listed_switched_and_removed(cli: Cli):
    assert "no context" in bare(cli, "context", "list").stderr
    for user in ("ann", "eve"):
        token = cli.file("token", cli.serving.tokens[user])
        bare(cli, "login", cli.serving.url, "--token-file", token, "--name", user)
    listed = bare(cli, "context", "list").stdout.splitlines()
    assert [line.split() for line in listed[1:]] == [
        ["ann", "ann", "-", "-", cli.serving.url],
        ["eve", "*", "eve", "-", "-", cli.serving.url],
    ]
    assert "as ann" in bare(cli, "context", "use", "ann").stdout
    assert bare(cli, "whoami").stdout.startswith("ann on")
    items = json.loads(bare(cli, "contexts", "-o", "json").stdout)["items"]
    assert [(one["name"], one["current"]) for one in items] == [("ann", True), ("eve", False)]
    assert cli.serving.tokens["ann"] not in json.dumps(items)
    assert "there are: ann, eve" in bare(cli, "context", "use", "bob", status=3).stderr
    bare(cli, "context", "remove", "ann", "bob", status=3)
    assert bare(cli, "whoami").stdout.startswith("ann on"), "nothing is removed if one is unknown"
    assert "context use eve" in bare(cli, "context", "remove", "ann").stderr
    assert "*" not in bare(cli, "context", "list").stdout
    assert bare(cli, "whoami", "--context", "eve").stdout.startswith("eve on")
