"""What changed about a quota, from what to what? In words, for its history: stored once, and read by people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypedDict

from quotatree.core import Bounds, ChildLevel, Module, QuotaSpec, Resources, SelfLevel, amount_text

NOTHING: Final = "none"


class Change(TypedDict):
    """`what`: the field, as the API calls it. `before` and `after` in words."""

    what: str
    before: str
    after: str


def settings_changed(before: QuotaSpec, after: QuotaSpec) -> list[Change]:
    """The settings that an update has changed (Q6)."""
    return _changes(
        (name, words(getattr(before, field)), words(getattr(after, field))) for name, field, words in SETTINGS
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


def _bounds(of: Bounds) -> str:
    return ", ".join(amount_text(i, amount) for i, amount in enumerate(of) if amount is not None) or NOTHING


def _weight(of: Bounds | None) -> str:
    return "its min" if of is None else _bounds(of)


def _resources(of: Resources) -> str:
    return ", ".join(amount_text(i, amount) for i, amount in enumerate(of) if amount) or NOTHING


def _gpus(milli: int | None) -> str:
    return NOTHING if milli is None else amount_text(0, milli)


def _span(ms: int | None) -> str:
    return NOTHING if ms is None else f"{ms / 1000:g} s"


def _switch(on: bool) -> str:
    return "on" if on else "off"


def _text(text: str) -> str:
    return text or NOTHING


def _labels(labels: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{name}={value}" for name, value in labels) or NOTHING


def _self_level(policies: Any) -> str:
    return "; ".join(_self_words(policy) for policy in policies) or NOTHING


def _self_words(policy: SelfLevel) -> str:
    pair = "any over lower" if policy.any_lower else f"{policy.high} over {policy.low}"
    return f"{pair} {_modules(policy.modules)} in {policy.scope.value}{_off(policy.off)}"


def _child_level(policy: ChildLevel | None) -> str:
    return NOTHING if policy is None else f"{policy.priorities} {_modules(policy.modules)}{_off(policy.off)}"


def _modules(modules: frozenset[Module]) -> str:
    return ",".join(sorted(module.value for module in modules))


def _off(off: bool) -> str:
    return " (off)" if off else ""


SETTINGS: Final[tuple[tuple[str, str, Callable[[Any], str]], ...]] = (
    ("name", "name", _text),
    ("description", "description", _text),
    ("labels", "labels", _labels),
    ("strategy", "strategy", lambda strategy: str(strategy.value)),
    ("self_level", "self_level", _self_level),
    ("child_level", "child_level", _child_level),
    ("reserved", "reserved", _resources),
    ("weight", "weight", _weight),
    ("fair_idle", "fair_idle", _switch),
    ("lending", "lending", _switch),
    ("idle_limit", "idle_limit_milli", _gpus),
    ("min_runtime", "min_runtime_ms", _span),
    ("preemption_delay", "preemption_delay_ms", _span),
)
"""What an update may change: the API's name, the core's, and how its value is told."""
