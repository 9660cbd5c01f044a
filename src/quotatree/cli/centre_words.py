"""The scheduling centre of a binding in lines, with names of priorities beside their numbers (W3,
W6).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quotatree.cli.policy_words import range_words


def centre_lines(centre: Any) -> Iterator[str]:
    names = centre["priority_names"]
    yield f"modules       {', '.join(centre['modules'])}"
    yield f"roles         {', '.join(centre['roles'])}"
    for one in centre["amounts"]:
        yield f"amount        {one['who']}: at most {one['gpus']:g} GPU at {range_words(one['priorities'], names)}"
    for one in centre["ceilings"]:
        yield f"ceiling       {one['who']}: at most priority {range_words(one['priority'], names)}"
    yield f"longest run   {_times(centre['longest_run'])}"
    yield f"longest wait  {_times(centre['longest_wait'])}"


def _times(times: Any) -> str:
    if isinstance(times, dict):
        return ", ".join(f"{module} {time}" for module, time in times.items())
    return times or "no limit"
