"""`delete user`: shut out, without roles, and the name stays theirs."""

from __future__ import annotations

from tests.cli.conftest import Cli


def test_a_user_who_goes_keeps_nothing_but_the_name(cli: Cli):
    """W2: an account is never removed, or the next of that name would have its jobs."""
    cli.run("create", "user", "gus")
    token = cli.run("token", "create", "t", "--user", "gus").stdout.strip()
    cli.serving.tokens["gus"] = token
    cli.run("create", "member", "gus", "--workspace", "vision", "--role", "operator")
    cli.run("create", "workspace", "solo", "--owner", "gus")
    with cli.serving.client() as client:
        client.quotas.appoint("vision", "gus")
    refused = cli.run("delete", "user", "gus", "-y", status=1).stderr
    assert "create member USER --workspace solo --role owner" in refused
    assert cli.run("whoami", user="gus").stdout.startswith("gus on"), "nothing was begun"
    cli.run("create", "member", "admin", "--workspace", "solo", "--role", "owner")
    cli.run("delete", "user", "gus", "-y")
    cli.run("whoami", user="gus", status=4)
    assert "gus" not in cli.run("get", "workspaces", "-o", "wide").stdout
    with cli.serving.client() as client:
        assert client.quotas.admins("vision") == []
    assert "disabled" in cli.run("get", "user", "gus").stdout
    cli.run("delete", "user", "nobody", status=3)
    cli.run("delete", "user", "gus", user="ann", status=3)
    cli.run("delete", "workspace", "solo")
