"""How does PAI say a quota's strategy, policies and switches (P1, P2, S7)? Its words become ours; what is wrong is told in its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from quotatree.core.errors import Refused
from quotatree.core.model.policy import HIGHEST_PRIORITY, LOWEST_PRIORITY, parse_priorities, parse_strategy
from quotatree.core.model.policy_reading import policy_table, read_child_level, read_self_level

PAI_FIELDS: Final = (
    "QueueStrategy", "SelfQuotaPreemptionConfig", "EnableSelfQuotaPreemption", "SubQuotaPreemptionConfig",
    "EnableSubQuotaPreemption",
)  # fmt: skip
"""What PAI calls the strategy, the two policies and their switches."""

_SELF: Final = {
    "PreemptorPriorities": "high",
    "PreemptedPriorities": "low",
    "PreemptedProducts": "modules",
}
_CHILD: Final = {"PreemptedPriorityUpperBound": "priorities", "PreemptedProducts": "modules"}
_BOUND: Final = "PreemptedPriorityUpperBound"


def in_our_words(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a quota with PAI's strategy, policies and switches under our names, or raise Refused.

    A configuration without its switch keeps that as it is, as one in our words does; a switch alone keeps the settings.
    """
    found = {name: value for name, value in fields.items() if name not in PAI_FIELDS}
    for ours, config, switch, words, rule in (
        ("self_level", "SelfQuotaPreemptionConfig", "EnableSelfQuotaPreemption", _SELF, "P1"),
        ("child_level", "SubQuotaPreemptionConfig", "EnableSubQuotaPreemption", _CHILD, "P2"),
    ):
        said = [name for name in (config, switch) if name in fields]
        if said:
            _not_twice(ours, said[0], found)
            found[ours] = _policy(fields, config, switch, words, rule)
    if "QueueStrategy" in fields:
        _not_twice("strategy", "QueueStrategy", found)
        found["strategy"] = _strategy(fields["QueueStrategy"])
    return found


def _not_twice(ours: str, theirs: str, found: Mapping[str, Any]) -> None:
    if ours in found:
        raise Refused(
            theirs, ours, "S7", f"says the same as {ours}, which is there too; leave one of them out"
        )


def _strategy(said: object) -> str:
    try:
        return parse_strategy(str(said)).value
    except Refused as refused:
        raise Refused("QueueStrategy", said, refused.rule, refused.message) from None


def _policy(
    fields: Mapping[str, Any], config: str, switch: str, words: Mapping[str, str], rule: str
) -> object:
    on = fields.get(switch)
    if on is not None and not isinstance(on, bool):
        raise Refused(switch, on, rule, "must be true or false")
    settings = fields.get(config)
    if settings is None:
        return None if on is None or (config in fields and not on) else {"enabled": on}
    ours = _settings(config, settings, words, rule)
    _check_settings(config, ours, words)
    return ours if on is None else {**ours, "enabled": on}


def _settings(config: str, said: object, words: Mapping[str, str], rule: str) -> dict[str, Any]:
    table = policy_table(config, said, tuple(words), rule)
    missing = [name for name in words if name not in table]
    if missing:
        raise Refused(f"{config}.{missing[0]}", None, rule, "is missing")
    ours = {words[name]: value for name, value in table.items()}
    if "priorities" in ours:
        ours["priorities"] = f"{LOWEST_PRIORITY}-{_bound(f'{config}.{_BOUND}', ours['priorities'])}"
    return ours


def _bound(field: str, said: object) -> int:
    wrong = Refused(field, said, "P2", f"must be a priority, {LOWEST_PRIORITY} to {HIGHEST_PRIORITY}")
    if isinstance(said, bool) or not isinstance(said, int | str):
        raise wrong
    found = parse_priorities(field, said)
    if found.low != found.high:
        raise wrong
    return found.high


def _check_settings(config: str, ours: dict[str, Any], words: Mapping[str, str]) -> None:
    """Raise Refused for what our reader refuses, with PAI's name for the field."""
    theirs = {name: f"{config}.{word}" for word, name in words.items()}
    try:
        (read_self_level if words is _SELF else read_child_level)(ours)
    except Refused as refused:
        _, _, place = refused.field.partition(".")
        name, bracket, index = place.partition("[")
        field = theirs.get(name, config) + bracket + index
        raise Refused(field, refused.value, refused.rule, refused.message) from None
