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
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def main(arguments: list[str]) -> int:
    names = [a for a in arguments if not a.startswith("-")] or list(SUITES)
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        print(f"no benchmark called {', '.join(unknown)}; there are {', '.join(SUITES)}", file=sys.stderr)
        return 2
    tables: list[Table] = []
    for name in names:
        for table in SUITES[name]():
            tables.append(table)
            print(table.text(), end="\n\n", flush=True)
    if "--write" in arguments:
        _write(tables)
    return 0


def _write(tables: list[Table]) -> None:
    page = PAGE.read_text()
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    made = f"Python {platform.python_version()}, {platform.machine()}."
    figures = "\n\n".join(table.text() for table in tables)
    PAGE.write_text(f"{head}{BEGIN}\n{made}\n\n{figures}\n{END}{tail}")
    print(f"written to {PAGE.name}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
