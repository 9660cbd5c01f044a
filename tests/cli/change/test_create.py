"""`create`, `bind` and `delete` against a real server: a team from nothing, and away again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.conftest import Cli


@pytest.fixture
def room(cli: Cli) -> Iterator[Cli]:
    """The command line, with 4 GPUs of the company for new quotas."""
    cli.run("scale", "speech", "4", "-y")
    yield cli
    cli.run("scale", "speech", "8", "-y")


def test_a_team_from_nothing_and_away_again(room: Cli):
    """W1, Q1, Q6: every step by a command; what is in use is refused with what is in the way."""
    cli = room
    cli.run("create", "user", "rob")
    assert cli.run("create", "user", "rob", "--if-not-exists").stdout == "user/rob is there already\n"
    assert "--if-not-exists" in cli.run("create", "user", "rob", status=5).stderr
    cli.run("create", "user", "rob", status=5)
    made = cli.run("create", "workspace", "robots", "--owner", "admin", "--description", "arms and legs")
    assert "quotatree bind robots QUOTA" in made.stderr
    cli.run(
        "create",
        "quota",
        "robots",
        "--parent",
        "company",
        "--gpus",
        "4",
        "--reserved",
        "1",
        "--workspace",
        "robots",
    )
    found = cli.json("get", "quota", "robots")
    assert (found["min"], found["reserved"]["gpus"], found["workspaces"]) == ({"gpus": 4}, 1, ["robots"])
    cli.run("create", "member", "user/rob", "--workspace", "robots")
    assert cli.lines("get", "workspace", "robots", "-o", "wide")[1].split()[2] == "admin:owner,rob:developer"

    job = cli.lines("submit", "--workspace", "robots", "--quota", "robots", "--gpus", "1", "-o", "name")[0]
    refused = cli.run("delete", "quota", "robots", "--dry-run", status=1)
    assert "is bound to workspaces: robots" in refused.stderr
    cli.run("delete", "workspace", "robots", status=1)
    cli.run("unbind", "robots", "robots", status=1)
    cli.run("cancel", job)
    cli.wait_phase(job.removeprefix("job/"), "Cancelled")

    assert "rob" in cli.run("delete", "member", "rob", "--workspace", "robots").stdout
    cli.run("delete", "member", "rob", "--workspace", "robots", status=3)
    assert "owner" in cli.run("delete", "member", "admin", "--workspace", "robots", status=1).stderr
    cli.run("unbind", "robots", "robots")
    cli.run("bind", "robots", "robots")
    cli.run("delete", "workspace", "workspace/robots")
    assert "  quota/robots deleted" in cli.run("delete", "quota", "robots", "--dry-run").stdout
    cli.run("delete", "quota", "robots")
    cli.run("get", "quota", "robots", status=3)


def test_a_quota_that_cannot_be_made_is_refused_with_what_to_do(room: Cli):
    for words in (("--gpus", "4"), ("--parent", "company", "--draw", "default=4"), ("--draw", "default"),
                  ("--draw", "default=4", "--gpus", "4")):  # fmt: skip
        room.run("create", "quota", "robots", *words, status=2)
    assert "quotatree get pools" in room.run("create", "quota", "robots", status=2).stderr
    room.run("create", "quota", "robots", "--parent", "nowhere", "--gpus", "1", status=3)
    taken = room.run("create", "quota", "vision", "--parent", "company", "--gpus", "1", status=1).stderr
    assert "quotatree scale vision changes its size" in taken
    missing = room.run("create", "member", "nobody", "--workspace", "vision", status=3).stderr
    assert "quotatree create user nobody" in missing
    assert "--if-not-exists" in room.run("create", "workspace", "vision", status=1).stderr
    too_large = room.run("create", "quota", "robots", "--parent", "company", "--gpus", "5", status=1)
    assert "Q1" in too_large.stderr
    room.run("create", "quota", "robots", "--parent", "company", "--gpus", "1", user="ann", status=3)
    seen = room.run("create", "quota", "robots", "--parent", "company", "--gpus", "1", "--dry-run").stdout
    assert "nothing has been changed" in seen
    assert room.run("create", "quota", "vision", "--parent", "company", "--if-not-exists").stdout == (
        "quota/vision is there already\n"
    )
    room.run("get", "quota", "robots", status=3)


def test_pools_and_nodes(cli: Cli):
    cli.run("create", "pool", "spare", "--mixed")
    assert "there already" in cli.run("create", "pool", "spare", "--if-not-exists").stdout
    assert "--if-not-exists" in cli.run("create", "pool", "spare", status=1).stderr
    words = (
        "create",
        "node",
        "spare-0",
        "--pool",
        "spare",
        "--gpus",
        "4",
        "--model",
        "L20",
        "--label",
        "rack=r1",
    )
    assert "nothing has been changed" in cli.run(*words, "--dry-run").stdout
    cli.run("get", "node", "spare-0", status=3)
    cli.run(*words)
    node = cli.json("get", "node", "spare-0")
    assert (node["gpus"], node["model"], node["labels"]) == (4, "L20", {"rack": "r1"})
    assert "there already" in cli.run(*words, "--if-not-exists").stdout
    cli.run("create", "node", "spare-1", "--label", "rack", status=2)
    cli.run("create", "node", "spare-1", user="ann", status=4)
    cli.run("delete", "node", "node-0", status=1)
    assert "delete them first" in cli.run("delete", "pool", "spare", status=1).stderr
    cli.run("delete", "node", "node/spare-0")
    cli.run("delete", "node", "spare-0", status=3)
    cli.run("delete", "pool", "spare", user="ann", status=4)
    cli.run("delete", "pool", "spare")
    assert "spare" not in cli.run("get", "pools").stdout + cli.run("get", "nodes").stdout


def test_nothing_is_made_that_could_not_be_bound(room: Cli):
    room.run("create", "workspace", "robots", "--owner", "admin", "--quota", "nowhere", status=3)
    room.run("get", "workspace", "robots", status=3)
    room.run(
        "create", "quota", "robots", "--parent", "company", "--gpus", "1", "--workspace", "nowhere", status=3
    )
    room.run("get", "quota", "robots", status=3)
