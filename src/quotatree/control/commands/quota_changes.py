"""What changed about a quota, from what to what? In words, for its history: stored once, and read by people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypedDict

from quotatree.core import (
    QUOTA_SETTINGS,
    Bounds,
    ChildLevel,
    Module,
    NounField,
    QuotaSpec,
    Resources,
    SelfLevel,
    ValueKind,
    amount_text,
)

NOTHING: Final = "none"


class Change(TypedDict):
    """`what`: the field, as the API calls it. `before` and `after` in words."""

    what: str
    before: str
    after: str


def settings_changed(before: QuotaSpec, after: QuotaSpec) -> list[Change]:
    """The settings that an update has changed (Q6)."""
    return _changes(
        (one.name, _told(one, one.of(before)), _told(one, one.of(after))) for one in QUOTA_SETTINGS
    )


def size_changed(before: QuotaSpec, min_before: Bounds, after: QuotaSpec, min_after: Bounds) -> list[Change]:
    """What a scaling or a transfer has changed: the min, and of a root what it draws from each pool (Q5)."""
    old, new = dict(before.draws), dict(after.draws)
    draws = [
        (f"draws from {pool}", _bounds(old.get(pool, Bounds())), _bounds(new.get(pool, Bounds())))
        for pool in sorted({*old, *new})
    ]
    return _changes([("min", _bounds(min_before), _bounds(min_after)), *draws])


def _changes(found: Any) -> list[Change]:
    return [{"what": what, "before": old, "after": new} for what, old, new in found if old != new]


def _told(setting: NounField, value: Any) -> str:
    return setting.unset if value is None else WORDS[setting.kind](value)


def _bounds(of: Bounds) -> str:
    return ", ".join(amount_text(i, amount) for i, amount in enumerate(of) if amount is not None) or NOTHING


def _resources(of: Resources) -> str:
    return ", ".join(amount_text(i, amount) for i, amount in enumerate(of) if amount) or NOTHING


def _self_words(policy: SelfLevel) -> str:
    pair = "any over lower" if policy.any_lower else f"{policy.high} over {policy.low}"
    return f"{pair} {_modules(policy.modules)} in {policy.scope.value}{_off(policy.off)}"


def _child_level(policy: ChildLevel) -> str:
    return f"{policy.priorities} {_modules(policy.modules)}{_off(policy.off)}"


def _modules(modules: frozenset[Module]) -> str:
    return ",".join(sorted(module.value for module in modules))


def _off(off: bool) -> str:
    return " (off)" if off else ""


WORDS: Final[Mapping[ValueKind, Callable[[Any], str]]] = {
    ValueKind.FLAG: lambda on: "on" if on else "off",
    ValueKind.GPUS: lambda milli: amount_text(0, milli),
    ValueKind.DURATION: lambda ms: f"{ms / 1000:g} s",
    ValueKind.RESOURCES: _resources,
    ValueKind.BOUNDS: _bounds,
    ValueKind.TITLE: lambda text: text or NOTHING,
    ValueKind.TEXT: lambda text: text or NOTHING,
    ValueKind.LABELS: lambda labels: ", ".join(f"{name}={value}" for name, value in labels) or NOTHING,
    ValueKind.STRATEGY: lambda strategy: str(strategy.value),
    ValueKind.SELF_LEVEL: lambda policies: "; ".join(map(_self_words, policies)) or NOTHING,
    ValueKind.CHILD_LEVEL: _child_level,
}
"""How a value of each kind is told."""
