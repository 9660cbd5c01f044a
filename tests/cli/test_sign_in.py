"""Contexts: who one is, where it is kept, and to whom a token is never sent."""

from __future__ import annotations

import json
import stat

import pytest
from click.testing import CliRunner

from quotatree.cli import main
from tests.cli.conftest import Cli

PASSWORD = "correct horse battery"


def bare(cli: Cli, *words: str, status: int = 0, stdin: str | None = None, **env: str):
    """Without the variables that name a server and a token."""
    clean = {
        "XDG_CONFIG_HOME": str(cli.home / "config"), "XDG_DATA_HOME": str(cli.home / "data"),
        "QUOTATREE_URL": None, "QUOTATREE_TOKEN": None, "QUOTATREE_CONTEXT": None, **env,
    }  # fmt: skip
    result = CliRunner().invoke(main, words, env=clean, input=stdin)
    assert result.exit_code == status, result.output
    return result


def test_login_with_a_token_is_remembered_and_private(cli: Cli):
    path = cli.file("token", cli.serving.tokens["ann"] + "\n")
    bare(cli, "login", cli.serving.url, "--token-file", path)
    kept = cli.home / "config" / "quotatree" / "contexts.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert bare(cli, "whoami").stdout.splitlines()[0] == f"ann on {cli.serving.url}"
    bare(cli, "logout")
    bare(cli, "logout", status=3)
    assert "(quotatree login)" in bare(cli, "whoami", "--server", cli.serving.url, status=4).stderr
    assert cli.run("whoami", user="ann").stdout, "a token that login did not make is not revoked"


def test_login_by_password_makes_a_token_that_logout_revokes(cli: Cli):
    cli.run("user", "create", "pat", "--password", stdin=f"{PASSWORD}\n{PASSWORD}\n")
    bare(cli, "login", cli.serving.url, "--user", "pat", stdin="wrong\n", status=4)
    bare(cli, "login", cli.serving.url, "--user", "pat", "--name", "work", stdin=f"{PASSWORD}\n")
    kept = json.loads((cli.home / "config" / "quotatree" / "contexts.json").read_text())["contexts"]["work"]
    assert bare(cli, "whoami", "-o", "json").exit_code == 0
    bare(cli, "logout", "--name", "work")
    bare(cli, "whoami", status=4, QUOTATREE_URL=cli.serving.url, QUOTATREE_TOKEN=kept["token"])


def test_a_token_goes_only_to_the_server_it_is_for(cli: Cli, monkeypatch):
    """Else whoever gets somebody to type --server has his token."""
    bare(cli, "login", cli.serving.url, "--token-file", cli.file("token", cli.serving.tokens["ann"]))
    sent = []

    class Spy:
        def __init__(self, url, token):
            sent.append((url, token))

        def __enter__(self):
            raise SystemExit(0)

        def __exit__(self, *_):
            pass

    monkeypatch.setattr("quotatree.client.Client", Spy)
    bare(cli, "whoami", "--server", "http://elsewhere.example")
    bare(cli, "whoami")
    assert sent == [("http://elsewhere.example", None), (cli.serving.url, cli.serving.tokens["ann"])]


def test_environment_wins_over_a_login_and_options_over_both(cli: Cli):
    bare(cli, "login", cli.serving.url, "--token-file", cli.file("token", cli.serving.tokens["ann"]))
    eve = cli.file("eve", cli.serving.tokens["eve"])
    assert cli.run("whoami", user="eve").stdout.startswith("eve on")
    assert cli.run("whoami", "--token-file", eve, user="ann").stdout.startswith("eve on")
    assert cli.run("whoami", "--context", "default", user="eve").stdout.startswith("ann on")


def test_a_context_that_is_not_there(cli: Cli):
    assert "there are: none" in bare(cli, "whoami", "--context", "nowhere", status=2).stderr


def test_a_broken_file_is_told(cli: Cli):
    (cli.home / "config" / "quotatree").mkdir(parents=True)
    (cli.home / "config" / "quotatree" / "contexts.json").write_text("{")
    assert "mend it" in bare(cli, "whoami", status=2).stderr


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


@pytest.mark.parametrize("words", [("--token-file", "x", "--oidc"), ("--user", "a", "--oidc")])
def test_one_way_to_log_in(cli: Cli, words):
    bare(cli, "login", cli.serving.url, *words, status=2)
