"""Logging in and out: a token is remembered, private, and revoked."""

from __future__ import annotations

import json
import stat

import httpx2
import pytest

from tests.cli.conftest import Cli, bare

PASSWORD = "correct horse battery"


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


def test_an_address_opens_the_console_once(cli: Cli):
    said = cli.run("console", user="ann").stdout.strip()
    page, _, code = said.partition("#link=")
    assert page == f"{cli.serving.url}/login"
    opens = [httpx2.post(f"{cli.serving.url}/api/v1/session/link", json={"code": code}) for _ in range(2)]
    assert [one.status_code for one in opens] == [200, 401]
    assert opens[0].json()["user"] == "ann"


def test_login_by_password_makes_a_token_that_logout_revokes(cli: Cli):
    cli.run("user", "create", "pat", "--password", stdin=f"{PASSWORD}\n{PASSWORD}\n")
    bare(cli, "login", cli.serving.url, "--user", "pat", stdin="wrong\n", status=4)
    bare(cli, "login", cli.serving.url, "--user", "pat", "--name", "work", stdin=f"{PASSWORD}\n")
    kept = json.loads((cli.home / "config" / "quotatree" / "contexts.json").read_text())["contexts"]["work"]
    assert bare(cli, "whoami", "-o", "json").exit_code == 0
    bare(cli, "logout", "--name", "work")
    bare(cli, "whoami", status=4, QUOTATREE_URL=cli.serving.url, QUOTATREE_TOKEN=kept["token"])


@pytest.mark.parametrize("words", [("--token-file", "x", "--oidc"), ("--user", "a", "--oidc")])
def test_one_way_to_log_in(cli: Cli, words):
    bare(cli, "login", cli.serving.url, *words, status=2)
