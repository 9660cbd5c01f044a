"""Which names of priorities does a file declare, and where are they used (W6)?

A scenario describes no installation, so that it says itself what its names mean: `priority_names = { production = 8 }`. They are
replaced by numbers before anything else is read, as the server's names are at its edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from quotatree.core import PriorityNames, Refused, check_names, in_numbers, policies_in_numbers
from quotatree.scenario.errors import RuleBroken, ScenarioError

DECLARED: Final = "priority_names"
PRIORITIES: Final = ("priority", "priorities")
POLICIES: Final = ("self_level", "child_level")
PAI_POLICIES: Final = ("SelfQuotaPreemptionConfig", "SubQuotaPreemptionConfig")


def declared_names(raw: Mapping[str, Any], name: str) -> PriorityNames:
    """Return the names of priorities that a file declares; raise RuleBroken for one that is none. The file is called `name`."""
    said = raw.get(DECLARED, {})
    if not isinstance(said, Mapping):
        raise ScenarioError(name, f"{DECLARED} {said!r}: must be a table such as {{ production = 8 }}")
    try:
        check_names(said)
    except Refused as why:
        raise RuleBroken(f"{name}: {DECLARED}", why) from None
    return dict(said)


def with_numbers(raw: Mapping[str, Any], names: PriorityNames, name: str) -> dict[str, Any]:
    """Return the contents of a file with numbers for the names of priorities, and without their declaration."""
    if not names:
        return {key: value for key, value in raw.items() if key != DECLARED}
    try:
        found: dict[str, Any] = _numbered({key: raw[key] for key in raw if key != DECLARED}, names)
    except Refused as why:
        raise RuleBroken(name, why) from None
    return found


def _numbered(said: Any, names: PriorityNames) -> Any:
    if isinstance(said, list):
        return [_numbered(one, names) for one in said]
    if not isinstance(said, Mapping):
        return said
    return {key: _value(key, value, names) for key, value in said.items()}


def _value(key: str, value: Any, names: PriorityNames) -> Any:
    if key in POLICIES:
        return policies_in_numbers(key, value, names)
    if key in PAI_POLICIES and isinstance(value, Mapping):
        return {
            word: in_numbers(word, one, names) if "Priorit" in word else one for word, one in value.items()
        }
    if key in PRIORITIES and isinstance(value, str):
        return in_numbers(key, value, names)
    return _numbered(value, names)
