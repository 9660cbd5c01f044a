"""What does a rule say? The rulebook is one page, docs/reference/rules.md, and a copy of it is in every wheel."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

NOT_BUILT: Final = "*Planned, not built yet.*"
"""First words of the text of a rule of which nothing is built yet."""

_IN_A_WHEEL: Final = Path(__file__).with_name("rules.md")
_IN_A_CHECKOUT: Final = Path(__file__).parents[2] / "docs" / "reference" / "rules.md"
_RULE: Final = re.compile(
    r"^### ([A-Z]\d{1,2}) ([^\n]+)\n(.*?)(?=^#{1,3} |^<a id=|\Z)", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the book; `text` is Markdown."""

    number: str
    title: str
    text: str

    @property
    def planned(self) -> bool:
        """True if nothing of the rule is built yet."""
        return self.text.startswith(NOT_BUILT)

    @property
    def plain_text(self) -> str:
        """The text without the addresses of its links."""
        return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", self.text)


def load() -> dict[str, Rule]:
    """All rules by number, in the order of the book."""
    page = _IN_A_WHEEL if _IN_A_WHEEL.exists() else _IN_A_CHECKOUT
    return read(page.read_text(encoding="utf-8"))


def read(page: str) -> dict[str, Rule]:
    """All rules of a page by number, in its order. Raises ValueError if a number is there twice."""
    found: dict[str, Rule] = {}
    for number, title, text in _RULE.findall(page):
        if number in found:
            raise ValueError(f"the rulebook has two rules {number}")
        found[number] = Rule(number, title, text.strip())
    return found


def near(wanted: str, rules: dict[str, Rule]) -> list[Rule]:
    """Rules with `wanted` in their title; without any, at most three with a similar number, the likeliest first."""
    numbers = get_close_matches(
        wanted.upper(), [n for n in rules if n[0] == wanted[:1].upper()], n=3, cutoff=0.5
    )
    by_title = [rule for rule in rules.values() if len(wanted) > 2 and wanted.lower() in rule.title.lower()]
    return by_title or [rules[number] for number in numbers]
