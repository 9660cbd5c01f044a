"""`policies` against a real server, in both spellings."""

from __future__ import annotations

import json

from tests.cli.conftest import Cli


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
