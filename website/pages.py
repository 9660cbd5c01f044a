"""Which pages has the site, where do their links lead, and would a page make a browser ask another server? Text in, text out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
DOCS: Final = ROOT / "docs"
MAP: Final = "index.md"
HOME: Final = "home.md"
OF_THE_ROOT: Final = ("CONTRIBUTING.md", "CHANGELOG.md")
TABS: Final = {
    "Tutorial: learn by doing": "Tutorial",
    "How-to: get something done": "How-to",
    "Reference: look it up": "Reference",
    "Explanation: understand it": "Explanation",
}
"""Headings of docs/index.md, and what the tabs call them."""
HEADING: Final = re.compile(r"^## (.+)$", re.MULTILINE)
LISTED: Final = re.compile(r"^- \[(.+?)\]\(([^)\s]+\.md)\)", re.MULTILINE)
CODE: Final = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK: Final = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\(([^)\s]+)\)")
FETCHED: Final = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//|<link\b[^>]*\bhref=["']?(?:https?:)?//[^>]*"""
    r"""|@import\s+(?:url\()?["']?(?:https?:)?//|url\(["']?(?:https?:)?//""",
    re.IGNORECASE,
)
"""What makes a browser ask another server as soon as a page is opened."""


def navigation(index: str) -> list[Any]:
    """The tabs, from the sections of docs/index.md and the pages that they list. Code marks are dropped from titles."""
    parts = HEADING.split(index)
    nav: list[Any] = [{"Home": HOME}]
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        pages = [{title.replace("`", ""): page} for title, page in LISTED.findall(text) if page != HOME]
        nav.append({TABS.get(heading, heading): pages})
    more = [{"All pages": MAP}, *({name.removesuffix(".md").capitalize(): name} for name in OF_THE_ROOT)]
    return [*nav, {"More": more}]


def with_links_of_the_site(markdown: str, here: Path) -> str:
    """Links as they lead on the site. What is not on it, such as a source file, keeps its words and loses its link."""
    code = CODE.findall(markdown)
    numbers = iter(range(len(code)))
    put_away = CODE.sub(lambda _: f"\0{next(numbers)}\0", markdown)

    def led(link: re.Match[str]) -> str:
        words, target = link[1], link[2]
        path, sign, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:") or not path:
            return link[0]
        there = (here.parent / path).resolve()
        on_site = there.relative_to(DOCS).as_posix() if there.is_relative_to(DOCS) else there.name
        if not there.is_relative_to(DOCS) and there not in {ROOT / name for name in OF_THE_ROOT}:
            return words
        base = Path("." if here.parent == ROOT else here.parent.relative_to(DOCS))
        up = "../" * len(base.parts)
        return f"[{words}]({up}{on_site}{sign}{anchor})"

    return re.sub(r"\0(\d+)\0", lambda mark: code[int(mark[1])], LINK.sub(led, put_away))


def requests_elsewhere(text: str) -> list[str]:
    """The beginnings of what would make a browser ask another server when it opens this page or style."""
    return [found[0][:120] for found in FETCHED.finditer(text)]
