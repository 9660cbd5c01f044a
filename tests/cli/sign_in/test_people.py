"""Tokens are made and revoked, users are disabled."""

from __future__ import annotations

from tests.cli.conftest import Cli

PASSWORD = "correct horse battery"


def test_tokens_are_made_and_revoked(cli: Cli):
    made = cli.run("token", "create", "for a script", "--lasts", "1h", "--read-only", user="ann")
    text = made.stdout.strip()
    cli.serving.tokens["reader"] = text
    assert cli.run("get", "jobs", user="reader").exit_code == 0
    job = ("submit", "--workspace", "vision", "--quota", "vision", "--gpus", "1")
    cli.run(*job, user="reader", status=4)
    name = cli.json("whoami", user="reader")["token"]["id"]
    cli.run("token", "revoke", name, user="ann")
    cli.run("get", "jobs", user="reader", status=4)


def test_a_disabled_user_is_shut_out(cli: Cli):
    cli.run("user", "create", "max", "--display", "Max")
    cli.serving.tokens["max"] = cli.run("token", "create", "t", "--user", "max").stdout.strip()
    cli.run("user", "disable", "max")
    cli.run("whoami", user="max", status=4)
    cli.run("user", "enable", "max")
    assert cli.run("whoami", user="max").stdout.startswith("max on")
    cli.run("user", "password", "max", stdin=f"{PASSWORD}\n{PASSWORD}\n")
    assert cli.json("get", "user", "max")["has_password"]
