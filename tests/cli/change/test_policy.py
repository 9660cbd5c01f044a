"""`policy` against a real server: switches, settings, files in both spellings."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.cli.conftest import Cli


@pytest.fixture
def kept(cli: Cli) -> Iterator[Cli]:
    """The command line; afterwards the policies of company and vision are what they were."""
    before = {name: cli.run("policy", "show", name).stdout for name in ("company", "vision")}
    yield cli
    for name, text in before.items():
        cli.run("policy", "set", name, "-y", "-f", cli.file("before.yaml", text))
        cli.run("policy", "on", name, "lending", "-y")


def test_policies_go_out_and_in_in_both_spellings(cli: Cli):
    """P1, P2: what `show` writes `set` reads, in our spelling and in PAI's."""
    pai = """
QueueStrategy: PaiStrategyIntelligent
SelfQuotaPreemptionConfig:
  PreemptorPriorities: [6, 7, 8, 9]
  PreemptedPriorities: [1, 2, 3]
  PreemptedProducts: [DLC]
"""
    before = cli.run("policies", "show", "vision").stdout
    try:
        cli.run("policies", "set", "vision", "-f", cli.file("pai.yaml", pai))
        ours = json.loads(cli.run("policies", "show", "vision", "-o", "json").stdout)
        assert [(one["high"], one["low"], one["enabled"]) for one in ours["self_level"]] == [
            ("6-9", "1-3", True)
        ]
        shown = cli.run("policies", "show", "quota/vision", "--pai").stdout
        assert "PreemptorPriorities" in shown
        cli.run("policies", "set", "vision", "-f", cli.file("again.yaml", shown))
        assert json.loads(cli.run("policies", "show", "vision", "-o", "json").stdout) == ours
        assert "priorities" in cli.run("policies", "show", "company").stdout
        cli.run("policies", "set", "vision", "-f", cli.file("bad.yaml", "[1]"), status=2)
        cli.run("policies", "set", "vision", "-f", cli.file("bad2.yaml", "colour: red"), status=1)
        cli.run("policies", "set", "vision", "-f", cli.file("pai.yaml", pai), user="ann", status=4)
    finally:
        cli.run("policies", "set", "vision", "-f", cli.file("before.yaml", before))


def test_a_policy_that_is_switched_off_keeps_its_settings(kept: Cli):
    """P2: off and on again, it is what it was; so it is with lending."""
    before = kept.json("policy", "show", "company")["child_level"]
    assert before["enabled"]
    said = kept.run("policy", "off", "company", "child-level", "lending").stdout
    assert "child-level 1-3 DLC,DSW (off)" in said
    assert "lending off" in said
    assert kept.json("policy", "show", "company")["child_level"] == {**before, "enabled": False}
    assert (
        "child-level 1-3 DLC,DSW\n"
        in kept.run("policy", "on", "company", "child-level", "lending", "-y").stdout
    )
    assert kept.json("policy", "show", "company")["child_level"] == before
    kept.run("policy", "off", "vision", "child-level", user="ann", status=4)
    kept.run("policy", "on", "company", "colour", status=2)


def test_options_change_what_they_name_and_nothing_else(kept: Cli):
    kept.run("policy", "set", "vision", "--self-level", "6-9:1-3", "--module", "DLC", "--scope", "own", "-y")
    kept.run("policy", "off", "vision", "self-level")
    said = kept.run("policy", "set", "vision", "--self-level", "7-9:1-5", "--strategy", "fifo", "-y").stdout
    assert "strategy fifo" in said
    assert "self-level 7-9 over 1-5 DLC in own (off)" in said
    assert kept.json("policy", "show", "vision")["child_level"] is None
    for words in (
        ("--self-level", "6-9"),
        ("--scope", "own"),
        ("--module", "DLC"),
        (),
        ("-f", "x.yaml", "--strategy", "fifo"),
    ):
        kept.run("policy", "set", "vision", *words, status=2)
    kept.run("policy", "set", "--strategy", "fifo", status=2)
    refused = kept.run("policy", "set", "vision", "--self-level", "1-5:4-9", "-y", status=1)
    assert "P1" in refused.stderr


def test_whoever_becomes_exposed_is_shown_before_a_policy_is_saved(kept: Cli):
    """P2, X3: the dry run changes nothing; without -y it asks; preview takes the same file and says the same."""
    kept.run("policy", "off", "company", "child-level")
    job = kept.submit("--gpus", "8", "--priority", "2", "--name", "train")
    kept.wait_phase(job, "Running")
    seen = kept.run("policy", "on", "company", "child-level", "--dry-run").stdout
    assert job in seen
    assert "nothing has been changed" in seen
    assert job in kept.run("policy", "on", "company", "child-level", stdin="n\n", status=1).stdout
    assert not kept.json("policy", "show", "company")["child_level"]["enabled"]

    file = kept.file("policy.yaml", "quota: company\nchild_level: {priorities: 1-2, enabled: true}\n")
    previewed = kept.run("preview", "--policy", file).stdout
    assert job in previewed
    shown = kept.run("policy", "set", "-f", file, "--dry-run").stdout
    assert shown.endswith(previewed.partition("\n")[2]), "after the first line, preview says the same"
    bare = kept.file("bare.yaml", "child_level: {priorities: 1-2, enabled: true}\n")
    assert kept.run("preview", "--policy", f"company={bare}").stdout == previewed
    assert (
        "is for quota company, not vision" in kept.run("policy", "set", "vision", "-f", file, status=2).stderr
    )
    assert "says no quota" in kept.run("preview", "--policy", bare, status=2).stderr
    kept.run("policy", "set", "-f", file, "-y")
    assert kept.json("policy", "show", "company")["child_level"]["priorities"] == "1-2"


def test_what_a_file_leaves_out_stays(kept: Cli):
    """Preview and set mean the same: neither takes away what is not named."""
    kept.run("policy", "set", "company", "-y", "-f", kept.file("p.yaml", "strategy: fifo\n"))
    found = kept.json("policy", "show", "company")
    assert (found["strategy"], found["child_level"]["priorities"]) == ("fifo", "1-3")
    kept.run("policy", "set", "company", "-y", "-f", kept.file("p.yaml", "child_level: null\n"))
    assert kept.json("policy", "show", "company")["child_level"] is None


def test_settings_alone_do_not_switch_a_policy_on(kept: Cli):
    """P2: in our words, and in PAI's, which have a switch of their own."""
    kept.run("policy", "off", "company", "child-level")
    said = kept.run(
        "policy", "set", "company", "-y", "-f", kept.file("p.yaml", "child_level: {priorities: 1-4}\n")
    )
    assert "child-level 1-4 DLC,DSW (off)" in said.stdout
    pai = "SubQuotaPreemptionConfig: {PreemptedPriorityUpperBound: 2, PreemptedProducts: [DLC]}\n"
    said = kept.run("policy", "set", "company", "-y", "-f", kept.file("p.yaml", pai))
    assert "child-level 1-2 DLC (off)" in said.stdout
    said = kept.run(
        "policy", "set", "company", "-y", "-f", kept.file("p.yaml", pai + "EnableSubQuotaPreemption: true\n")
    )
    assert "child-level 1-2 DLC\n" in said.stdout
