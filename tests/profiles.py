"""How long a look do the tests take? As long as the variable QUOTATREE_TESTS says:

- `quick`, the default: every promise, on as many random examples as a developer waits for.
- `deep`: what .ci/run takes before a change is taken. More examples, and a server that is killed a hundred times.
- `long`: a night on one's own machine, after a change of the planner. Other examples each time, and hypothesis shrinks.

A test names its three numbers where it uses them, so that one sees what is left out, and where.
"""

from __future__ import annotations

import os

PROFILES = ("quick", "deep", "long")
PROFILE = os.environ.get("QUOTATREE_TESTS", "quick")

if PROFILE not in PROFILES:
    raise ValueError(f"QUOTATREE_TESTS is {PROFILE!r}, and must be one of {', '.join(PROFILES)}")


def by_profile(*, quick: int, deep: int, long: int | None = None) -> int:
    """The number of the profile in use; `long` is as `deep` where it is not given."""
    return {"quick": quick, "deep": deep, "long": deep if long is None else long}[PROFILE]
