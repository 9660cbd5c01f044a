"""The rulebook is the one place of the rules: what is cited is defined there, and what is defined is held by something."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from quotatree import rulebook
from quotatree.core import Code, Reason

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "docs/reference/rules.md"
RULES = rulebook.read(BOOK.read_text(encoding="utf-8"))
PLANNED = [rule for rule in RULES.values() if rule.planned]

PROJECT = ["src", "exact", "tests", "scenarios", "docs", "benchmarks", "simulations"]
WRITTEN = {".py", ".toml", ".md"}
CHAPTERS = "".join(sorted({number[0] for number in RULES}))
CITED = re.compile(rf"\b[{CHAPTERS}]\d{{1,2}}\b")
NO_RULES = {
    "A10": "a GPU model",
    "P95": "a percentile",
    "W10": "a cursor that belongs to nobody",
}


def texts(*folders: str) -> Iterator[tuple[Path, str]]:
    """Everything that people wrote below these folders, but for this file."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in WRITTEN and path != Path(__file__):
                yield path, path.read_text(encoding="utf-8")


def whole_project() -> Iterator[tuple[Path, str]]:
    yield from texts(*PROJECT)
    for path in sorted(ROOT.glob("*.md")):
        yield path, path.read_text(encoding="utf-8")


def citations(text: str) -> set[str]:
    return set(CITED.findall(text)) - set(NO_RULES)


HELD = {number for _, text in texts("tests", "scenarios") for number in citations(text)}


# -- the book ----------------------------------------------------------------------------------------------------


def test_every_rule_has_an_anchor_that_its_number_leads_to():
    written = re.findall(r'^<a id="(\w+)"></a>\n\n### (\w+) ', BOOK.read_text(encoding="utf-8"), re.MULTILINE)
    assert [anchor for anchor, _ in written] == [number.lower() for number in RULES]
    assert [number for _, number in written] == list(RULES)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_rules_of_a_chapter_are_counted_without_gaps(chapter: str):
    counted = [int(number[1:]) for number in RULES if number[0] == chapter]
    assert counted == list(range(counted[0], counted[0] + len(counted)))
    assert counted[0] in (0, 1)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_rule_has_a_short_title_and_a_text(rule: rulebook.Rule):
    assert 0 < len(rule.title) <= 48
    assert rule.text.strip()


def test_the_book_is_in_the_wheel():
    shipped = WheelBuilder(str(ROOT)).config.get_force_include()
    assert {Path(source).resolve(): target for source, target in shipped.items()}[
        BOOK
    ] == "quotatree/rules.md"


# -- who cites it ------------------------------------------------------------------------------------------------


def test_every_number_that_is_cited_is_defined():
    unknown = {
        f"{path.relative_to(ROOT)}: {number}"
        for path, text in whole_project()
        for number in citations(text)
        if number not in RULES
    }
    assert sorted(unknown) == []


def test_every_rule_that_is_built_is_held_by_a_test_or_a_scenario():
    assert [number for number, rule in RULES.items() if not rule.planned and number not in HELD] == []


@pytest.mark.parametrize("rule", PLANNED, ids=lambda rule: rule.number)
def test_no_test_claims_a_rule_that_is_only_planned(rule: rulebook.Rule):
    assert rule.number not in HELD, "it is built: take its mark *Planned, not built yet.* away"


def test_sections_of_other_papers_are_not_cited():
    elsewhere = re.compile(r"\b(?:section|algorithms?)\s+\d", re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}: {cited}"
        for path, text in whole_project()
        for cited in elsewhere.findall(text)
    ]
    assert found == []


def test_every_refusal_names_a_rule_of_the_book():
    nameless = [
        f"{path.relative_to(ROOT)}:{call.lineno}: {rule}"
        for path, text in texts("src")
        if path.suffix == ".py"
        for call, rule in refusals(text)
        if rule not in RULES
    ]
    assert nameless == []


@pytest.mark.parametrize("code", Code, ids=lambda code: code.name)
def test_every_reason_has_rules_of_the_book_behind_it(code: Code):
    behind = Reason(code).rules
    assert behind
    assert [number for number in behind if number not in RULES] == []


def refusals(source: str) -> Iterator[tuple[ast.Call, str]]:
    """Every `Refused(field, value, "P1", message)` with the rule it names, as far as that stands there in letters."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Refused":
            rule = call.args[2] if len(call.args) > 2 else None
            if isinstance(rule, ast.Constant) and isinstance(rule.value, str):
                yield call, rule.value
