"""A refusal for want of room says which commands make some."""

from __future__ import annotations

from tests.cli.conftest import Cli


def test_a_full_parent_names_the_child_to_shrink_and_the_parent_to_scale(cli: Cli):
    """Q1, Q5: and what it says works."""
    refused = cli.run("create", "quota", "robots", "--parent", "company", "--gpus", "2", status=1)
    commands = [line.strip() for line in refused.stderr.splitlines() if line.startswith("  quotatree ")]
    assert [line.partition("  ")[0] for line in commands] == [
        "quotatree scale speech 6", "quotatree scale vision 6", "quotatree scale company 18",
    ]  # fmt: skip
    assert "8 of its 8 GPU are unused" in commands[0]
    cli.run(*commands[0].partition("#")[0].split()[1:])
    cli.run("create", "quota", "robots", "--parent", "company", "--gpus", "2")
    cli.run("delete", "quota", "robots")
    cli.run("scale", "speech", "8")


def test_a_child_whose_min_is_in_use_shrinks_as_its_jobs_end(cli: Cli):
    for quota, user in (("vision", "ann"), ("speech", "eve")):
        cli.wait_phase(cli.submit("--gpus", "8", user=user, quota=quota), "Running")
    told = cli.run("create", "quota", "robots", "--parent", "company", "--gpus", "2", status=1).stderr
    assert "quotatree scale speech 6 --mode lazy   # only 0 of its 8 GPU are unused" in told


def test_a_root_beyond_its_pool_says_what_is_left(cli: Cli):
    told = cli.run("scale", "company", "40", status=1).stderr
    assert "quotatree scale company 16   # all that the pool has left" in told
    assert "quotatree create node NAME --pool default" in told


def test_a_root_below_its_children_names_a_child(cli: Cli):
    told = cli.run("scale", "company", "12", status=1).stderr
    assert "quotatree scale speech 4   # 8 of its 8 GPU are unused" in told


def test_a_child_that_is_smaller_than_what_is_missing_is_not_named(cli: Cli):
    """It is the idlest one, and yet no help."""
    cli.run("scale", "speech", "7")
    cli.run("create", "quota", "tiny", "--parent", "company", "--gpus", "1")
    for quota, user, gpus in (("vision", "ann", "8"), ("speech", "eve", "7")):
        cli.wait_phase(cli.submit("--gpus", gpus, user=user, quota=quota), "Running")
    told = cli.run("create", "quota", "robots", "--parent", "company", "--gpus", "2", status=1).stderr
    assert "quotatree scale speech 5 --mode lazy   # only 0 of its 7 GPU are unused" in told
    cli.run("delete", "quota", "tiny")
    cli.run("scale", "speech", "8")
