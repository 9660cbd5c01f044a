"""Which figures of the whole server do we stand by? `python -m benchmarks.server [NAME ...] [--database URL] [--write]`.

Names: baseline scaling. Without a name: both. Without a database: SQLite in a new directory (scaling is always there).
`--write` puts the tables into docs/explanation/performance.md between its markers.
"""

from __future__ import annotations

import sys
from functools import partial

from benchmarks.page import EXPLANATION, Suite, run
from benchmarks.server.baseline import baseline
from benchmarks.server.scaling import scaling


def main(arguments: list[str]) -> str | None:
    database = None
    if "--database" in arguments:
        at = arguments.index("--database")
        if at + 1 == len(arguments):
            return "--database needs a URL"
        database = arguments[at + 1]
        arguments = arguments[:at] + arguments[at + 2 :]
    suites: dict[str, Suite] = {"baseline": partial(baseline, database), "scaling": scaling}
    return run(suites, EXPLANATION / "performance.md", arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
