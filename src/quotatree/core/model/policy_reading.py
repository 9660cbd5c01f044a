"""How may a quota's policies be said? One or several, on or off, in numbers or by names (P1, P2, W6).

What comes in is data as JSON, YAML or TOML gives it. Every edge reads policies here, so that a file, a request and a
scenario mean the same. A bare switch (`on`, `{enabled: false}`) keeps the settings there are; anything else replaces them, and
settings that say no switch keep the one there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from typing import Any, Final

from quotatree.core.errors import Refused
from quotatree.core.model.policy import (
    HIGHEST_PRIORITY,
    LOWEST_PRIORITY,
    NO_SELF_LEVEL,
    ChildLevel,
    Module,
    Priorities,
    Scope,
    SelfLevel,
    SelfLevels,
    parse_modules,
    parse_priorities,
)
from quotatree.core.model.priority_names import PriorityNames, in_numbers

USUAL_MODULES: Final = frozenset({Module.DLC, Module.DSW})
USUAL_HIGH: Final = Priorities(6, HIGHEST_PRIORITY)
USUAL_LOW: Final = Priorities(LOWEST_PRIORITY, 5)
EVERY_PRIORITY: Final = Priorities(LOWEST_PRIORITY, HIGHEST_PRIORITY)
MOST_POLICIES: Final = 20

SELF_FIELDS: Final = ("high", "low", "any", "modules", "scope", "enabled")
CHILD_FIELDS: Final = ("priorities", "modules", "enabled")
_PRIORITIES: Final = (
    "high", "low", "priorities", "PreemptorPriorities", "PreemptedPriorities", "PreemptedPriorityUpperBound",
)  # fmt: skip
_SWITCH: Final = {True: True, False: False, "on": True, "off": False}


def read_self_level(said: object, kept: SelfLevels = NO_SELF_LEVEL) -> SelfLevels:
    """Return the self-level policies that are said, or raise Refused.

    `kept`: those there are, for a bare switch, and for settings that say none.
    """
    if said is None:
        return SelfLevels()
    on = _switched("self_level", said, "P1")
    if on is not None:
        return SelfLevels(replace(policy, off=not on) for policy in kept or _usual_self_level(on))
    if isinstance(said, Mapping):
        return SelfLevels(_self_level("self_level", said, kept))
    if not isinstance(said, list | tuple):
        raise Refused("self_level", said, "P1", "must be on, off, a policy or a list of policies")
    found = [
        policy
        for number, one in enumerate(said)
        for policy in _self_level(f"self_level[{number}]", _with_settings(number, one), kept)
    ]
    if len(found) > MOST_POLICIES:
        raise Refused("self_level", len(found), "P1", f"a quota may have {MOST_POLICIES} policies")
    return SelfLevels(found)


def read_child_level(said: object, kept: ChildLevel | None = None) -> ChildLevel | None:
    """Return the child-level policy that is said, or raise Refused. `kept`: the one there is, as for self-level."""
    if said is None:
        return None
    on = _switched("child_level", said, "P2")
    if on is not None:
        usual = ChildLevel(EVERY_PRIORITY, USUAL_MODULES) if on else None
        kept = kept or usual
        return None if kept is None else replace(kept, off=not on)
    table = policy_table("child_level", said, CHILD_FIELDS, "P2")
    stays_off = kept is not None and kept.off
    return ChildLevel(
        one_range("child_level.priorities", table["priorities"], "P2")
        if "priorities" in table
        else EVERY_PRIORITY,
        _modules("child_level.modules", table, "P2"),
        off=not _enabled("child_level", table, "P2") if "enabled" in table else stays_off,
    )


def policies_in_numbers(field: str, said: object, names: PriorityNames) -> object:
    """Return a policy, or a list of them, with numbers where names of priorities stand (W6), or raise Refused."""
    if isinstance(said, list | tuple):
        return [policies_in_numbers(f"{field}[{number}]", one, names) for number, one in enumerate(said)]
    if not isinstance(said, Mapping):
        return said
    return {
        name: in_numbers(f"{field}.{name}", value, names) if name in _PRIORITIES else value
        for name, value in said.items()
    }


def _switched(field: str, said: object, rule: str) -> bool | None:
    """Return what a bare switch says; None if there is more than that."""
    if isinstance(said, bool | str):
        if said not in _SWITCH:
            raise Refused(field, said, rule, "must be on, off, or a policy with its settings")
        return _SWITCH[said]
    if isinstance(said, Mapping) and not set(said) - {"enabled"}:
        return _enabled(field, said, rule)
    return None


def _enabled(field: str, table: Mapping[str, Any], rule: str) -> bool:
    enabled = table.get("enabled", True)
    if not isinstance(enabled, bool | str) or enabled not in _SWITCH:
        raise Refused(f"{field}.enabled", enabled, rule, "must be true or false")
    return _SWITCH[enabled]


def _usual_self_level(on: bool) -> tuple[SelfLevel, ...]:
    return (SelfLevel(USUAL_HIGH, USUAL_LOW, USUAL_MODULES),) if on else ()


def _self_level(field: str, said: object, kept: SelfLevels) -> list[SelfLevel]:
    """Return the policies that one table says, with the switch that they have if it says none."""
    table = policy_table(field, said, SELF_FIELDS, "P1")
    found = _self_level_settings(field, table)
    if "enabled" in table:
        return found
    return [replace(policy, off=_stays_off(policy, kept)) for policy in found]


def _with_settings(number: int, said: object) -> object:
    """Return an entry of a list, or raise Refused if it says no more than a switch: of which policy, nobody knows."""
    if isinstance(said, Mapping) and not set(said) - {"enabled"}:
        raise Refused(
            f"self_level[{number}]", dict(said), "P1",
            "a policy of a list must say its priorities, or any: lower; a switch alone stands without a list",
        )  # fmt: skip
    return said


def _stays_off(policy: SelfLevel, kept: SelfLevels) -> bool:
    """Return whether these settings are off as things are: the same policy is, or all there are."""
    switches = [one.off for one in kept if replace(one, off=False) == policy] or [one.off for one in kept]
    return bool(switches) and all(switches)


def _self_level_settings(field: str, table: Mapping[str, Any]) -> list[SelfLevel]:
    """Return the policies that one table says: several if its priorities have gaps, one for each pair of runs."""
    modules, scope = _modules(f"{field}.modules", table, "P1"), _scope(f"{field}.scope", table)
    off = not _enabled(field, table, "P1")
    named = [name for name in ("high", "low") if name in table]
    if "any" in table:
        if table["any"] != "lower":
            raise Refused(f"{field}.any", table["any"], "P1", "must be lower")
        if named:
            raise Refused(f"{field}.{named[0]}", table[named[0]], "P1", "does not go with any: lower")
        return [SelfLevel.over_any_lower(modules, scope, off)]
    if not named:
        return [SelfLevel(USUAL_HIGH, USUAL_LOW, modules, scope, off=off)]
    for name in ("high", "low"):
        if name not in named:
            raise Refused(f"{field}.{name}", None, "P1", f"is missing beside {named[0]}")
    pairs = product(_runs(f"{field}.high", table["high"], "P1"), _runs(f"{field}.low", table["low"], "P1"))
    return [SelfLevel(high, low, modules, scope, off=off) for high, low in pairs]


def policy_table(field: str, said: object, fields: tuple[str, ...], rule: str) -> Mapping[str, Any]:
    if not isinstance(said, Mapping):
        raise Refused(field, said, rule, f"must be a policy with some of {', '.join(fields)}")
    for name, value in said.items():
        if name not in fields:
            raise Refused(f"{field}.{name}", value, rule, f"no such field; allowed: {', '.join(fields)}")
        if value is None:
            raise Refused(f"{field}.{name}", None, rule, "null says nothing; leave it out for the default")
    return said


def _modules(field: str, table: Mapping[str, Any], rule: str) -> frozenset[Module]:
    if "modules" not in table:
        return USUAL_MODULES
    said = table["modules"]
    if not isinstance(said, list | tuple):
        raise Refused(field, said, rule, "must be a list of DLC, DSW, EAS")
    return parse_modules(field, said)


def _scope(field: str, table: Mapping[str, Any]) -> Scope:
    said = table.get("scope")
    for scope in Scope:
        if said == scope.value:
            return scope
    if said is not None:
        raise Refused(field, said, "P1", "must be own, siblings or level")
    return Scope.LEVEL


def one_range(field: str, said: object, rule: str) -> Priorities:
    """Return the one range that is said, also as a list in any order; a list with a gap is refused."""
    runs = _runs(field, said, rule)
    if len(runs) > 1:
        gap = runs[0].high + 1
        raise Refused(field, said, rule, f"has a gap at {gap}; it must be one priority or one range")
    return runs[0]


def _runs(field: str, said: object, rule: str) -> list[Priorities]:
    """Return the ranges without gaps that a priority, a range or a list of priorities consists of, lowest first."""
    if not isinstance(said, list | tuple):
        return [_range(field, said, rule, "must be a priority, a range such as 6-9, or a list of priorities")]
    if not said:
        raise Refused(field, said, rule, "must name at least one priority")
    ranges = [
        _range(f"{field}[{number}]", one, rule, "must be a priority, 1 to 9")
        for number, one in enumerate(said)
    ]
    return _without_gaps(ranges)


def _range(field: str, said: object, rule: str, allowed: str) -> Priorities:
    if isinstance(said, bool) or not isinstance(said, int | str):
        raise Refused(field, said, rule, allowed)
    return parse_priorities(field, said)


def _without_gaps(ranges: Iterable[Priorities]) -> list[Priorities]:
    found: list[Priorities] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1].high + 1:
            found[-1] = Priorities(found[-1].low, max(found[-1].high, high))
        else:
            found.append(Priorities(low, high))
    return found
