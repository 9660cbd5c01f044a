"""`priorities`, and names in files and options, against a real server (W6)."""

from __future__ import annotations

from tests.cli.conftest import Cli


def test_names_are_set_shown_and_removed(cli: Cli):
    cli.run("priorities", "set", "production=8", "batch=2")
    assert cli.json("priorities", "show") == {"production": 8, "batch": 2}
    assert "production  8" in cli.run("priorities", "show").stdout
    cli.run("priorities", "set", "production", status=2)
    cli.run("priorities", "remove", "nobody", status=2)
    cli.run("priorities", "remove", "production", "batch")
    assert cli.run("priorities", "show").stdout == "no priority has a name\n"


def test_a_file_declares_names_and_uses_them_at_once(cli: Cli):
    before = cli.run("policies", "show", "vision").stdout
    text = """
priorities: {production: 8, batch: 2}
quotas:
  - {id: vision, parent: company, min: {gpus: 8}, self_level: {high: production-9, low: batch}}
"""
    try:
        told = cli.run("apply", "-f", cli.file("names.yaml", text), "-y").stdout
        assert "~ priorities: production none -> 8, batch none -> 2" in told
        assert cli.json("get", "quota", "vision")["self_level"][0]["high"] == "8-9"
        again = cli.run("apply", "-f", cli.file("names.yaml", text), "-y").stdout
        assert again == "everything is as the file says\n"
        wrong = text.replace("low: batch", "low: nobody")
        assert (
            "production (8), batch (2)"
            in cli.run("apply", "-f", cli.file("wrong.yaml", wrong), "-y", status=2).stderr
        )
    finally:
        cli.run("policies", "set", "vision", "-f", cli.file("before.yaml", before))
        cli.run("priorities", "remove", "production", "batch")
