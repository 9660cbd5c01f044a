"""Where do printed tables go? Between the markers of a page of the docs, each suite under its own mark."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.measure import Table

EXPLANATION = Path(__file__).parent.parent / "docs" / "explanation"
SUITE = "<!-- suite: "
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"

Suite = Callable[[], list[Table]]


def run(suites: Mapping[str, Suite], page: Path, arguments: list[str]) -> str | None:
    """Run the suites named in the arguments, or all, and print their tables; `--write` puts them into the page.

    Returns a message if the arguments are wrong, else None.
    """
    names = [a for a in arguments if not a.startswith("-")] or list(suites)
    unknown = [name for name in names if name not in suites]
    if unknown:
        return f"no benchmark called {', '.join(unknown)}; there are {', '.join(suites)}"
    wrong = [a for a in arguments if a.startswith("-") and a != "--write"]
    if wrong:
        return f"no option {', '.join(wrong)}; there is --write"
    for name in names:
        tables = suites[name]()
        for table in tables:
            print(table.text(), end="\n\n", flush=True)
        if "--write" in arguments:
            write_suite(page, list(suites), name, tables)
    return None


def write_suite(page: Path, order: list[str], written: str, tables: list[Table]) -> None:
    """Put a suite's tables under its own mark in the page; other suites keep what is there."""
    head, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    body, _, tail = rest.partition(END)
    blocks = dict.fromkeys(order, "")
    for part in body.split(SUITE)[1:]:
        name, _, text = part.partition(" -->")
        blocks[name] = text.strip()
    where = f"Python {platform.python_version()}, {platform.machine()}."
    blocks[written] = "\n\n".join([where, *(table.text() for table in tables)])
    figures = "\n\n".join(f"{SUITE}{name} -->\n{text}" for name, text in blocks.items() if text)
    page.write_text(f"{head}{BEGIN}\n{figures}\n{END}{tail}", encoding="utf-8")
    for picture in [picture for table in tables for picture in table.pictures]:
        path = page.parent / "plots" / f"{picture.name}.svg"
        path.parent.mkdir(exist_ok=True)
        path.write_text(picture.svg, encoding="utf-8")
    print(f"written to {page.name}")
