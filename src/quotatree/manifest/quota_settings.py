"""How does a file say each kind of setting of a quota? Which settings there are says `QUOTA_SETTINGS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from quotatree.core import (
    QUOTA_SETTINGS,
    STRATEGY_ALIASES,
    NounField,
    Strategy,
    ValueKind,
    parse_strategy,
    read_child_level,
    read_self_level,
)
from quotatree.manifest import shapes as shape
from quotatree.manifest.amounts import milliseconds, plain
from quotatree.scenario.amounts import span_text

POLICIES: Final = (ValueKind.SELF_LEVEL, ValueKind.CHILD_LEVEL)


def _as_it_is(value: Any) -> Any:
    return value


class Written(NamedTuple):
    """A kind of value as files write it.

    `check` raises Wrong; policies are checked as a whole, by the core's readers. `compared`: the value in one spelling,
    so that 90s and 1m30s are the same. `usual`: a default of the core's as a file writes it. None is asked of neither.
    """

    check: shape.Check | None
    compared: Callable[[Any], Any] = _as_it_is
    usual: Callable[[Any], Any] = _as_it_is


def _named(size: Any) -> dict[str, float] | None:
    """Return the amounts that are named; None, as if nothing were said, if none is."""
    return plain(size) or None


def _not_zero(size: Any) -> dict[str, float]:
    return {name: amount for name, amount in plain(size).items() if amount}


WRITTEN: Final[Mapping[ValueKind, Written]] = {
    ValueKind.FLAG: Written(shape.flag),
    ValueKind.GPUS: Written(shape.gpus, usual=lambda milli: milli / 1000),
    ValueKind.DURATION: Written(shape.duration, milliseconds, span_text),
    ValueKind.RESOURCES: Written(shape.or_none(shape.amounts), _not_zero, lambda _: {}),
    ValueKind.BOUNDS: Written(shape.amounts, _named),
    ValueKind.TITLE: Written(shape.text(253)),
    ValueKind.TEXT: Written(shape.text(1000)),
    ValueKind.LABELS: Written(shape.labels, usual=dict),
    ValueKind.STRATEGY: Written(
        shape.one_of(*(one.value for one in Strategy), *STRATEGY_ALIASES),
        lambda said: parse_strategy(said).value,
        lambda strategy: strategy.value,
    ),
    ValueKind.SELF_LEVEL: Written(None, usual=lambda _: None),
    ValueKind.CHILD_LEVEL: Written(None),
}

DEFAULTS: Final[Mapping[str, Any]] = {
    one.name: None if one.optional else WRITTEN[one.kind].usual(one.default) for one in QUOTA_SETTINGS
}
"""What a quota has that says nothing, as a file would write it."""


def checks() -> dict[str, shape.Check]:
    """Return the check of each setting; policies have none here."""
    found = {one: WRITTEN[one.kind].check for one in QUOTA_SETTINGS}
    return {
        one.name: shape.or_none(check) if one.optional else check
        for one, check in found.items()
        if check is not None
    }


def is_changed(setting: NounField, value: Any, before: Any) -> bool:
    """Return whether the file says something else of a quota than what is there.

    A policy's switch alone keeps its settings.
    """
    if setting.kind is ValueKind.SELF_LEVEL:
        policies = read_self_level(before)
        return read_self_level(value, policies) != policies
    if setting.kind is ValueKind.CHILD_LEVEL:
        policy = read_child_level(before)
        return read_child_level(value, policy) != policy
    return bool(_compared(setting, value) != _compared(setting, before))


def _compared(setting: NounField, value: Any) -> Any:
    """Return the value in one spelling; null stands for the default."""
    said = DEFAULTS[setting.name] if value is None else value
    return None if said is None else WRITTEN[setting.kind].compared(said)
