"""`resize`: what is not named stays, and whoever would have to go is told before (P12, X3)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.conftest import Cli

SERVICE = ("--module", "EAS", "--gpus", "1", "--name", "answers")


@pytest.fixture
def kept(cli: Cli) -> Iterator[Cli]:
    """The server, whose policies are afterwards as they were."""
    cli.run("policy", "set", "vision", "--self-level", "6-9:1-5", "--scope", "own", "-y")
    yield cli
    cli.run("policy", "set", "vision", "-f", cli.file("none.yaml", "self_level: null\n"), "-y")


def figures(cli: Cli, job: str) -> tuple[int, int, int]:
    found = cli.json("get", "job", job)
    return found["core_replicas"], found["replicas"], found["most_replicas"]


def test_what_is_not_named_stays(cli: Cli):
    job = cli.submit(*SERVICE)
    cli.run("resize", job, "--replicas", "3", "--max-replicas", "6", "--min-replicas", "2", user="ann")
    refused = cli.run("resize", job, "--replicas", "7", user="ann", status=1).stderr
    assert "at most 6, its max_replicas" in refused
    assert "--max-replicas" in refused
    refused = cli.run("resize", job, "--replicas", "1", user="ann", status=1).stderr
    assert "at least 2, its min_replicas" in refused
    cli.run("resize", job, "--replicas", "6", user="ann")
    cli.run("resize", job, "--replicas", "3", user="ann")
    assert figures(cli, job) == (2, 3, 6)
    cli.run("resize", job, "--replicas", "3", "--max-replicas", "3", user="ann")
    cli.run("resize", job, "--replicas", "4", user="ann")
    assert figures(cli, job) == (2, 4, 4)


def test_it_says_who_would_have_to_go_and_asks(kept: Cli):
    victim = kept.submit("--gpus", "7", "--priority", "2", "--grace", "0s")
    service = kept.submit(*SERVICE, "--priority", "8")
    for job in (victim, service):
        kept.wait_phase(job, "Running")
    seen = kept.run("resize", service, "--replicas", "2", "--dry-run", user="ann").stdout
    assert victim in seen
    assert "nothing has been changed" in seen
    asked = kept.run("resize", service, "--replicas", "2", user="ann", stdin="n\n", status=1)
    assert f"evict     {victim}" in asked.stdout
    assert "no answer: use -y" in kept.run("resize", service, "--replicas", "2", user="ann", status=1).stderr
    assert (figures(kept, service), kept.phase(victim)) == ((1, 1, 1), "Running")
    kept.run("resize", service, "--replicas", "2", "-y", user="ann")
    kept.wait_phase(victim, "Waiting")
    assert "resized" in kept.run("resize", service, "--replicas", "1", user="ann").stdout, (
        "its own are not asked about"
    )
