"""Where are Prometheus and promtool? Built once from the Go module in `programs/`, which pins them.

`python -m tests.prometheus.binary` builds both where the cache does not have them; with the name of one it prints its path.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.go_program import CannotBuild, GoMissing, GoProgram, pinned

MODULE = Path(__file__).parent / "programs"
SOURCE = "github.com/prometheus/prometheus"


def _program(name: str) -> GoProgram:
    return GoProgram(
        name=name,
        module=MODULE,
        package=f"{SOURCE}/cmd/{name}",
        needed_by="The tests of the dashboard and of the alert rules",
        title=f"Prometheus {pinned(MODULE, SOURCE)}",
        price="both of its programs take 4 to 9 minutes and 2 GB of Go's caches",
        linking_mib=2048,
        tags="remove_all_sd",  # we scrape an address: no cloud has to be asked for it
    )


PROMETHEUS = _program("prometheus")
PROMTOOL = _program("promtool")


def main(names: list[str]) -> int:
    """Print the path of each program. Where there is no Go it says so and succeeds: the tests are skipped then."""
    asked = [program for program in (PROMETHEUS, PROMTOOL) if not names or program.name in names]
    try:
        for program in asked:
            sys.stdout.write(f"{program.path()}\n")
    except CannotBuild as problem:
        sys.stderr.write(f"{problem}\n")
        return 0 if isinstance(problem, GoMissing) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
