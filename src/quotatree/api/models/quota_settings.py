"""How does the API take and show each kind of setting of a quota? Which settings there are says `QUOTA_SETTINGS`.

`takes_settings` and `shows_settings` add the fields of that table to the model of a request and of an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, NotRequired, TypeVar, cast, get_type_hints

from pydantic import Field, create_model
from typing_extensions import TypedDict

from quotatree.api.models.fields import (
    Amounts,
    Body,
    Duration,
    Gpus,
    Labels,
    Line,
    Title,
    amounts,
    number,
    span,
)
from quotatree.api.models.policies import ChildLevelOut, SelfLevelOut, child_level_out, self_levels_out
from quotatree.core import QUOTA_SETTINGS, UNBOUNDED, ZERO, Bounds, QuotaSpec, Resources, ValueKind

B = TypeVar("B", bound=Body)
T = TypeVar("T")


class AmountsOut(TypedDict):
    gpus: NotRequired[float]
    cpu: NotRequired[float]
    memory: NotRequired[str]


def shown(of: Bounds | Resources) -> AmountsOut:
    return cast(AmountsOut, amounts(of))  # a dict built field by field is no TypedDict to the checker


class Taken(NamedTuple):
    """The type of a field of a request, and how its value becomes the core's. null takes a setting away."""

    type: Any
    read: Callable[[Any], Any]


class Shown(NamedTuple):
    """The type of a field of an answer, and how the core's value becomes that. Not asked for None."""

    type: Any
    show: Callable[[Any], Any]


def _as_it_is(value: Any) -> Any:
    return value


def _bounds(said: Amounts | None) -> Bounds | None:
    """Return what is said; None, as if nothing were, if no resource is named."""
    return None if said is None or said.bounds() == UNBOUNDED else said.bounds()


def _resources(said: Amounts | None) -> Resources:
    return ZERO if said is None else said.resources()


def _labels(said: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(said.items()))


TAKEN: Final[Mapping[ValueKind, Taken]] = {
    ValueKind.FLAG: Taken(bool, _as_it_is),
    ValueKind.GPUS: Taken(Gpus, _as_it_is),
    ValueKind.DURATION: Taken(Duration, _as_it_is),
    ValueKind.RESOURCES: Taken(Amounts, _resources),
    ValueKind.BOUNDS: Taken(Amounts, _bounds),
    ValueKind.TITLE: Taken(Title, _as_it_is),
    ValueKind.TEXT: Taken(Line, _as_it_is),
    ValueKind.LABELS: Taken(Labels, _labels),
}
"""Strategy and policies are not here: they may be said in several ways (`PolicyFields`)."""

SHOWN: Final[Mapping[ValueKind, Shown]] = {
    ValueKind.FLAG: Shown(bool, _as_it_is),
    ValueKind.GPUS: Shown(float, number),
    ValueKind.DURATION: Shown(str, span),
    ValueKind.RESOURCES: Shown(AmountsOut, shown),
    ValueKind.BOUNDS: Shown(AmountsOut, shown),
    ValueKind.TITLE: Shown(str, _as_it_is),
    ValueKind.TEXT: Shown(str, _as_it_is),
    ValueKind.LABELS: Shown(dict[str, str], dict),
    ValueKind.STRATEGY: Shown(str, lambda strategy: strategy.value),
    ValueKind.SELF_LEVEL: Shown(list[SelfLevelOut], self_levels_out),
    ValueKind.CHILD_LEVEL: Shown(ChildLevelOut, child_level_out),
}

_PLAIN: Final = tuple(one for one in QUOTA_SETTINGS if one.kind in TAKEN)


def takes_settings(model: type[B]) -> type[B]:
    """Add the settings, but for strategy and policies, to the model of a request."""
    fields: dict[str, Any] = {}
    for one in _PLAIN:
        kind = TAKEN[one.kind].type
        if one.optional or one.kind is ValueKind.RESOURCES:
            fields[one.name] = (kind | None, None)
        else:
            fields[one.name] = (kind, Field(default=SHOWN[one.kind].show(one.default)))
    return create_model(
        model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, **fields
    )


def settings_said(body: Body) -> dict[str, Any]:
    """Return the settings that a request says, strategy and policies apart, as fields of the core's spec."""
    return {
        one.attribute: TAKEN[one.kind].read(getattr(body, one.name))
        for one in _PLAIN
        if one.name in body.model_fields_set
    }


def shows_settings(before: str) -> Callable[[type[T]], type[T]]:
    """Add the settings to the typed dictionary of an answer, in front of its field `before`."""

    def with_settings(answer: type[T]) -> type[T]:
        fields: dict[str, Any] = {}
        for name, hint in get_type_hints(answer, include_extras=True).items():
            if name == before:
                fields |= {one.name: _answered(one.optional, SHOWN[one.kind].type) for one in QUOTA_SETTINGS}
            fields[name] = hint
        made: Any = TypedDict(answer.__name__, fields)  # type: ignore[misc]  # the checker reads the class itself
        made.__doc__, made.__module__ = answer.__doc__, answer.__module__
        return cast(type[T], made)

    return with_settings


def _answered(optional: bool, hint: Any) -> Any:
    return hint | None if optional else hint


def settings_out(spec: QuotaSpec) -> dict[str, Any]:
    """Return all settings of a quota as they are answered."""
    values = {one: one.of(spec) for one in QUOTA_SETTINGS}
    return {one.name: None if value is None else SHOWN[one.kind].show(value) for one, value in values.items()}
