"""`centre` against a real server: rules shown, changed one by one or by a file, and whom they would end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml

from tests.cli.conftest import Cli, until

WHERE = ("ruled", "vision")


@pytest.fixture
def ruled(cli: Cli) -> Iterator[Cli]:
    """The command line, and a workspace whose rules are nobody else's."""
    cli.run("create", "workspace", "ruled", "--quota", "vision")
    cli.run("create", "member", "ann", "--workspace", "ruled")
    yield cli
    with cli.serving.client() as client:
        until(lambda: not list(client.jobs.list(workspace=["ruled"], active=True)))
    cli.run("delete", "workspace", "ruled")


def rules(cli: Cli) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load(cli.run("centre", "show", *WHERE, "-o", "yaml").stdout)
    return found


def test_rules_are_changed_one_by_one(ruled: Cli):
    """W3: what is not named stays; none takes a rule away."""
    assert "no limit" in ruled.run("centre", "show", *WHERE).stdout
    ruled.run("centre", "set", *WHERE, "--module", "DLC", "--module", "EAS", "--longest-wait", "2h")
    ruled.run("centre", "set", *WHERE, "--amount", "role:developer:1-7=100", "--amount", "user:ann:7-9=0.5")
    ruled.run("centre", "set", *WHERE, "--ceiling", "user:ann=5", "--role", "owner", "--role", "developer")
    ruled.run("centre", "set", *WHERE, "--longest-run", "DLC=24h", "--longest-run", "EAS=48h")
    assert rules(ruled) == {
        "modules": ["DLC", "EAS"], "roles": ["owner", "developer"],
        "amounts": [
            {"who": "role:developer", "priorities": "1-7", "gpus": 100},
            {"who": "user:ann", "priorities": "7-9", "gpus": 0.5},
        ],
        "ceilings": [{"who": "user:ann", "priority": 5}],
        "longest_run": {"DLC": "24h", "EAS": "48h"}, "longest_wait": "2h",
    }  # fmt: skip
    told = ruled.run(
        "centre", "set", *WHERE, "--amount", "role:developer:1-7=none", "--longest-run", "EAS=none"
    ).stdout
    assert "user:ann: at most 0.5 GPU at 7-9" in told
    assert "role:developer" not in told
    assert "longest run   DLC 24h" in told
    ruled.run("centre", "set", *WHERE, "--longest-wait", "none", "--ceiling", "user:ann=none")
    assert (rules(ruled)["longest_wait"], rules(ruled)["ceilings"]) == (None, [])
    ruled.run("centre", "set", *WHERE, "--longest-wait", "1h")
    ruled.run("centre", "set", *WHERE, "--longest-wait", "DSW=2h")
    assert rules(ruled)["longest_wait"] == {"DLC": "1h", "DSW": "2h", "EAS": "1h"}


def test_what_is_shown_is_read_again(ruled: Cli):
    ruled.run("centre", "set", *WHERE, "--ceiling", "role:developer=5", "--longest-run", "24h")
    before = ruled.run("centre", "show", *WHERE, "-o", "yaml").stdout
    ruled.run("centre", "set", *WHERE, "-f", ruled.file("centre.yaml", before))
    assert ruled.run("centre", "show", *WHERE, "-o", "yaml").stdout == before
    assert ruled.json("centre", "show", *WHERE) == yaml.safe_load(before)


def test_a_running_job_that_a_rule_would_end_is_shown_first(ruled: Cli):
    """W3, X3: the dry run changes nothing, and without a yes nobody is ended."""
    job = ruled.submit("--gpus", "1", "--name", "long", "--workspace", "ruled")
    ruled.wait_phase(job, "Running")
    words = ("centre", "set", *WHERE, "--longest-run", "0.001s")
    assert f"{job} (long)" in ruled.run(*words, "--dry-run").stdout
    assert "no answer" in ruled.run(*words, status=1).stderr
    assert (ruled.phase(job), rules(ruled)["longest_run"]) == ("Running", None)
    ruled.run(*words, "-y")
    ruled.wait_phase(job, "Failed")


def test_what_cannot_be_read_is_told(ruled: Cli):
    for words in ((), ("--amount", "ann=3"), ("--amount", "user:ann:1-3=many"), ("--ceiling", "ann=3"),
                  ("--longest-run", "DLC=1h", "--longest-run", "2h"), ("--longest-wait", "XYZ=1h"),
                  ("-f", "x.yaml", "--role", "owner"), ("-f", ruled.file("list.yaml", "[]"))):  # fmt: skip
        ruled.run("centre", "set", *WHERE, *words, status=2)
    ruled.run("centre", "set", *WHERE, "--ceiling", "user:ann=12", status=1)
    ruled.run("centre", "set", *WHERE, "--longest-run", "soon", status=1)
    ruled.run("centre", "show", "ruled", "speech", status=3)
    ruled.run("centre", "set", *WHERE, "--role", "owner", user="ann", status=4)
