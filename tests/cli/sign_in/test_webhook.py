"""`webhook` against a real server."""

from __future__ import annotations

from tests.cli.conftest import Cli, until


def test_webhooks_are_made_listed_and_deleted(cli: Cli):
    made = cli.run("webhook", "create", "chat", "--url", "http://127.0.0.1:9/x", "--kind", "job.evicted")
    secret = made.stdout.strip()
    assert len(secret) > 30
    path = cli.file("secret", "a secret of twenty-five\n")
    words = ("--url", "http://127.0.0.1:9/y", "--workspace", "vision", "--secret-file", path)
    assert cli.run("webhook", "create", "mail", *words).stdout == "webhook/mail created\n"
    listed = cli.run("webhook", "list")
    assert [line.split()[:3] for line in listed.stdout.splitlines()[1:]] == [
        ["chat", "-", "job.evicted"],
        ["mail", "vision", "all"],
    ]
    assert secret not in listed.stdout
    assert "twenty-five" not in cli.run("webhook", "list", "-o", "json").stdout
    assert cli.run("webhook", "list", user="ann").stdout == "", "a developer manages none"
    cli.run("webhook", "create", "mine", "--url", "http://127.0.0.1:9/z", user="ann", status=4)
    cli.run("webhook", "create", "bad", "--url", "ftp://x", status=1)
    cli.run(
        "webhook", "create", "bad", "--url", "http://x", "--secret-file", str(cli.home / "none"), status=2
    )
    cli.run("webhook", "delete", "chat", "webhook/mail")
    cli.run("webhook", "delete", "chat", status=3)


def test_what_became_of_the_last_delivery_is_listed(cli: Cli):
    """By default nothing goes to the loopback, and the webhook's administrator sees that."""
    path = cli.file("secret", "a secret of twenty-five\n")
    words = ("--url", "http://2130706433:9/x", "--workspace", "vision", "--kind", "job.submitted")
    cli.run("webhook", "create", "here", *words, "--secret-file", path)
    assert cli.json("webhook", "list")["items"][0]["last"] is None
    cli.submit("--gpus", "1")
    until(lambda: cli.json("webhook", "list")["items"][0]["last"] is not None)
    line = cli.lines("webhook", "list", "--no-headers")[0]
    assert "NotAllowed: webhooks may not go to 2130706433: it is not public" in line
    assert cli.json("get", "webhook", "here")["last"]["status"] is None
    cli.run("webhook", "delete", "here")
