"""`quotatree rule`: what a refusal or a reason cites can be read where it was met."""

from __future__ import annotations

import json

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from quotatree import rulebook
from quotatree.cli import main


def rule(*words: str, status: int = 0) -> Result:
    result = CliRunner().invoke(main, ["rule", *words])
    assert result.exit_code == status, result.output
    return result


def test_rules_are_printed_in_the_order_asked_for_without_addresses_of_links():
    told = rule("p5", "Q2").stdout
    assert told.startswith("P5 The ladder, then the cost\n\nWithin a step")
    assert told.index("(ADR 0008)") < told.index("\nQ2 Jobs at every level\n")
    assert "](" not in told


def test_a_terminal_gets_it_laid_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    told = rule("P5").stdout
    assert "\x1b[1mP5 The ladder" in told
    assert "|---|" not in told


def test_without_a_number_all_are_listed_with_what_is_planned():
    header, *lines = rule().stdout.splitlines()
    assert header.split() == ["RULE", "TITLE"]
    assert [line.split()[0] for line in lines] == list(rulebook.load())
    planned = [number for number, one in rulebook.load().items() if one.planned]
    assert [line.split()[0] for line in lines if line.endswith("(planned)")] == planned


def test_as_json():
    told = json.loads(rule("p13", "-o", "json").stdout)
    assert told["schema"] == "quotatree.rules/1"
    (one,) = told["items"]
    assert (one["rule"], one["title"], one["planned"]) == ("P13", "The ledger", False)
    assert one["text"].startswith("Every decision that ends or stops running work")
    assert len(json.loads(rule("-o", "json").stdout)["items"]) == len(rulebook.load())


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("s33", "there is no rule s33; did you mean S3 (balance)?"),
        ("return", "there is no rule return; did you mean P15 (Return)?"),
        ("Z3", "there is no rule Z3; quotatree rule lists all"),
        ("", "there is no rule ; quotatree rule lists all"),
    ],
)
def test_an_unknown_number_is_told_what_may_have_been_meant(wanted: str, said: str):
    result = rule("P5", wanted, status=3)
    assert result.stderr == f"quotatree: {said}\n"
    assert result.stdout == "", "all or nothing"


def test_numbers_are_completed():
    found = ShellComplete(main, {}, "quotatree", "_QUOTATREE_COMPLETE").get_completions(["rule", "P5"], "s1")
    assert [item.value for item in found] == ["S1", "S10", "S11"]
    assert found[1].help == "Starvation guard"
