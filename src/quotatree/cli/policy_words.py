"""Policies of a quota in a few words, for lists and confirmations. Names of priorities stand beside
their numbers (W6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

PriorityNames = Mapping[str, int]


def self_level_words(policies: Sequence[Any], names: PriorityNames) -> str:
    return "; ".join(_words(policy, names) for policy in policies) or "-"


def child_level_words(policy: Any, names: PriorityNames) -> str:
    return "-" if policy is None else _words(policy, names)


def range_words(priorities: str | int, names: PriorityNames) -> str:
    """A range with the names of priorities in it: 6-9 (production 8); one priority with its name: 8
    (production).
    """
    low, _, high = str(priorities).partition("-")
    inside = {name: number for name, number in names.items() if int(low) <= number <= int(high or low)}
    if not inside:
        return str(priorities)
    told = [
        f"{name} {number}" if high else name for name, number in sorted(inside.items(), key=lambda n: n[1])
    ]
    return f"{priorities} ({', '.join(told)})"


def _words(value: Any, names: PriorityNames) -> str:
    off = "" if value["enabled"] else " (off)"
    modules = ",".join(value["modules"])
    if "priorities" in value:
        return f"{range_words(value['priorities'], names)} {modules}{off}"
    if "any" in value:
        return f"any over lower {modules} in {value['scope']}{off}"
    pair = f"{range_words(value['high'], names)} over {range_words(value['low'], names)}"
    return f"{pair} {modules} in {value['scope']}{off}"
