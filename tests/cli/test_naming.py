"""A job may be called by its name."""

from __future__ import annotations

from tests.cli.conftest import Cli


def test_a_job_may_be_called_by_its_name(cli: Cli):
    """An id that one must copy is one step too many."""
    first = cli.submit("--gpus", "1", "--name", "mine")
    assert cli.json("get", "job", "mine", user="ann")["id"] == first
    assert first in cli.run("describe", "job", "job/mine", user="ann").stdout
    second = cli.submit("--gpus", "1", "--name", "mine")
    both = cli.run("cancel", "mine", user="ann", status=2).stderr
    assert first in both
    assert second in both
    cli.run("cancel", first, user="ann")
    assert cli.run("cancel", "mine", user="ann").stdout == f"{second} cancelled\n"
    assert cli.json("get", "job", "mine", user="ann")["id"] == second, "the newest of those that are over"
    cli.run("explain", "nobody", user="ann", status=3)
