"""`--autoscale min=1,max=4,target=8`: read as the API wants it, and mistakes told with the form."""

from __future__ import annotations

import click
import pytest

from quotatree.cli.change.autoscale_option import AUTOSCALE, AUTOSCALE_OR_OFF, OFF
from tests.cli.conftest import Cli


def test_it_is_read_as_the_body_of_the_api():
    assert AUTOSCALE.convert("min=1,max=4,target=8", None, None) == {"min": 1, "max": 4, "target": 8}
    said = AUTOSCALE.convert("target=0.5, max=4, min=1, down_after=10m", None, None)
    assert said == {"min": 1, "max": 4, "target": 0.5, "down_after": "10m"}
    assert AUTOSCALE_OR_OFF.convert("off", None, None) == OFF


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("off", "write min=N,max=N,target=N"),
        ("min=1,max=4", "target missing"),
        ("", "write min=N,max=N,target=N"),
        ("min=1,max=many,target=8", "'many' is not a number"),
        ("min=1.5,max=4,target=8", "'1.5' is not a number"),
        ("min=1,min=2,max=4,target=8", "min is there twice"),
        ("min=1,max=4,targets=8", "'targets=8'"),
    ],
)
def test_mistakes_are_told_with_the_form(said: str, told: str):
    with pytest.raises(click.BadParameter, match=told):
        AUTOSCALE.convert(said, None, None)


def test_the_server_tells_what_is_wrong_with_the_values(cli: Cli):
    words = (
        "submit",
        "--workspace",
        "vision",
        "--quota",
        "vision",
        "--gpus",
        "1",
        "--module",
        "EAS",
        "--autoscale",
    )
    told = cli.run(*words, "min=4,max=1,target=8", user="ann", status=1).stderr
    assert "autoscale.min" in told
    assert "must be at most 1 (autoscale.max)" in told
    assert "above 0" in cli.run(*words, "min=1,max=4,target=0", user="ann", status=1).stderr
    assert (
        "the timer engine does not see"
        in cli.run(*words, "min=1,max=4,target=8", user="ann", status=1).stderr
    )


def test_a_file_says_it_as_the_api_does(cli: Cli):
    path = cli.file("job.yaml", "{workspace: vision, quota: vision, gpus: 1, module: EAS, autoscale: {min: 1, max: 2, goal: 3}}\n")  # fmt: skip
    told = cli.run("submit", "-f", path, user="ann", status=1).stderr
    assert "autoscale" in told
    assert "goal" in told
