"""Which figures do we stand by? `python -m benchmarks [NAME ...]` prints them beside their budgets.

Names: decision growth gang reclaims quality. Without a name: all of them. `--write` puts the tables into
docs/explanation/performance.md between its markers.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from benchmarks.measure import Table
from benchmarks.quality import quality
from benchmarks.speed import decision, gang, growth, reclaims

SUITES = {"decision": decision, "growth": growth, "gang": gang, "reclaims": reclaims, "quality": quality}
PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "performance.md"
SUITE = "<!-- suite: "
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def main(arguments: list[str]) -> int:
    names = [a for a in arguments if not a.startswith("-")] or list(SUITES)
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        print(f"no benchmark called {', '.join(unknown)}; there are {', '.join(SUITES)}", file=sys.stderr)
        return 2
    made: dict[str, list[Table]] = {}
    for name in names:
        made[name] = SUITES[name]()
        for table in made[name]:
            print(table.text(), end="\n\n", flush=True)
    if "--write" in arguments:
        _write(made)
    return 0


def _write(made: dict[str, list[Table]]) -> None:
    """Put each suite's tables under its own mark; suites that did not run keep what is there."""
    head, _, rest = PAGE.read_text().partition(BEGIN)
    body, _, tail = rest.partition(END)
    blocks = dict.fromkeys(SUITES, "")
    for part in body.split(SUITE)[1:]:
        name, _, text = part.partition(" -->")
        blocks[name] = text.strip()
    where = f"Python {platform.python_version()}, {platform.machine()}."
    for name, tables in made.items():
        blocks[name] = "\n\n".join([where, *(table.text() for table in tables)])
    figures = "\n\n".join(f"{SUITE}{name} -->\n{text}" for name, text in blocks.items() if text)
    PAGE.write_text(f"{head}{BEGIN}\n{figures}\n{END}{tail}")
    print(f"written to {PAGE.name}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
