"""Policies of a quota in a few words, for lists and confirmations. Names of priorities stand beside their numbers (W6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def self_level_words(policies: Sequence[Any]) -> str:
    return "; ".join(_words(policy) for policy in policies) or "-"


def child_level_words(policy: Any) -> str:
    return "-" if policy is None else _words(policy)


def _words(value: Any) -> str:
    off = "" if value["enabled"] else " (off)"
    modules = ",".join(value["modules"])
    if "priorities" in value:
        return f"{value['priorities']} {modules}{off}"
    whom = "any over lower" if "any" in value else f"{value['high']} over {value['low']}"
    return f"{whom} {modules} in {value['scope']}{off}"
