"""How does the API take and show each kind of value? Which fields a noun has, its table in the core says.

`takes` and `shows` add the fields of a table to the model of a request and of an answer. A field that the class says
itself stays as it says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Final, Literal, NamedTuple, NotRequired, TypeVar, cast, get_type_hints

from pydantic import BaseModel, Field, create_model
from typing_extensions import TypedDict

from quotatree.api.models.fields import (
    Amounts,
    Body,
    Duration,
    Gpus,
    Labels,
    Line,
    Priority,
    ReplicaCount,
    Title,
    amounts,
    number,
    span,
)
from quotatree.api.models.policies import ChildLevelOut, SelfLevelOut, child_level_out, self_levels_out
from quotatree.core import UNBOUNDED, ZERO, Bounds, NounField, Resources, ValueKind

B = TypeVar("B", bound=Body)
T = TypeVar("T")


class AmountsOut(TypedDict):
    gpus: NotRequired[float]
    cpu: NotRequired[float]
    memory: NotRequired[str]


def shown(of: Bounds | Resources) -> AmountsOut:
    return cast(AmountsOut, amounts(of))  # a dict built field by field is no TypedDict to the checker


class Taken(NamedTuple):
    """The type of a field of a request, and how its value becomes the core's. Not asked for None.

    `reads_none`: null is another word for nothing, which the core does not say by None.
    """

    type: Any
    read: Callable[[Any], Any]
    reads_none: bool = False


class Shown(NamedTuple):
    """The type of a field of an answer, and how the core's value becomes that. Not asked for None."""

    type: Any
    show: Callable[[Any], Any]


def _word(member: Enum) -> Any:
    return member.value


def _as_it_is(value: Any) -> Any:
    return value


def _bounds(said: Amounts) -> Bounds | None:
    """Return what is said; None, as if nothing were, if no resource is named."""
    return None if said.bounds() == UNBOUNDED else said.bounds()


def _resources(said: Amounts | None) -> Resources:
    return ZERO if said is None else said.resources()


def _labels(said: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(said.items()))


TAKEN: Final[Mapping[ValueKind, Taken]] = {
    ValueKind.FLAG: Taken(bool, _as_it_is),
    ValueKind.GPUS: Taken(Gpus, _as_it_is),
    ValueKind.DURATION: Taken(Duration, _as_it_is),
    ValueKind.RESOURCES: Taken(Amounts, _resources, reads_none=True),
    ValueKind.BOUNDS: Taken(Amounts, _bounds),
    ValueKind.TITLE: Taken(Title, _as_it_is),
    ValueKind.TEXT: Taken(Line, _as_it_is),
    ValueKind.LABELS: Taken(Labels, _labels),
    ValueKind.REPLICAS: Taken(ReplicaCount, _as_it_is),
    ValueKind.COUNT: Taken(Annotated[int, Field(ge=0, le=1_000_000)], _as_it_is),
    ValueKind.PRIORITY: Taken(Priority, _as_it_is),
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
    ValueKind.REPLICAS: Shown(int, _as_it_is),
    ValueKind.COUNT: Shown(int, _as_it_is),
    ValueKind.PRIORITY: Shown(int, _as_it_is),
    ValueKind.CHOICE: Shown(str, _word),
    ValueKind.STRATEGY: Shown(str, _word),
    ValueKind.SELF_LEVEL: Shown(list[SelfLevelOut], self_levels_out),
    ValueKind.CHILD_LEVEL: Shown(ChildLevelOut, child_level_out),
}

Table = Sequence[NounField]


def takes(table: Table) -> Callable[[type[B]], type[B]]:
    """Add to the model of a request those fields of a table that have one type, with their defaults."""

    def with_fields(model: type[B]) -> type[B]:
        fields: dict[str, Any] = {}
        for one in _addable(table, model):
            hint = _taken(one).type
            default = None if _may_be_null(one) else SHOWN[one.kind].show(one.default)
            fields[one.name] = (hint | None if _may_be_null(one) else hint, _default(one, default))
        return create_model(
            model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, **fields
        )

    return with_fields


def _addable(table: Table, model: type[BaseModel]) -> list[NounField]:
    return [
        one
        for one in table
        if one.name not in model.model_fields and (one.kind in TAKEN or one.kind is ValueKind.CHOICE)
    ]


def _taken(one: NounField) -> Taken:
    """Return how a field is taken; a choice is one of the words of the enumeration that its default is of."""
    if one.kind is not ValueKind.CHOICE:
        return TAKEN[one.kind]
    words = type(one.default)
    return Taken(Literal[tuple(word.value for word in words)], words)


def _may_be_null(one: NounField) -> bool:
    return one.optional or (one.kind in TAKEN and TAKEN[one.kind].reads_none)


def _default(one: NounField, default: Any) -> Any:
    """Return the default in a request: in the core's unit, and told as people write it."""
    if one.kind is ValueKind.DURATION and default is not None:
        return Field(default=one.default, json_schema_extra={"default": default})
    return Field(default=default)


def fields_said(body: Body, table: Table) -> dict[str, Any]:
    """Return the fields of a table that a request says, as the core's; not those that the class says itself."""
    found: dict[str, Any] = {}
    for one in table:
        if one.name in body.model_fields_set and (one.kind in TAKEN or one.kind is ValueKind.CHOICE):
            value, taken = getattr(body, one.name), _taken(one)
            found[one.attribute] = None if value is None and not taken.reads_none else taken.read(value)
    return found


def shows(table: Table, before: str) -> Callable[[type[T]], type[T]]:
    """Add the fields of a table to the typed dictionary of an answer, in front of its field `before`."""

    def with_fields(answer: type[T]) -> type[T]:
        said = get_type_hints(answer, include_extras=True)
        fields: dict[str, Any] = {}
        for name, hint in said.items():
            if name == before:
                fields |= {one.name: _answered(one) for one in table if one.name not in said}
            fields[name] = hint
        made: Any = TypedDict(answer.__name__, fields)  # type: ignore[misc]  # the checker reads the class itself
        made.__doc__, made.__module__ = answer.__doc__, answer.__module__
        return cast(type[T], made)

    return with_fields


def _answered(one: NounField) -> Any:
    hint = SHOWN[one.kind].type
    return hint | None if one.optional else hint


def fields_shown(of: object, table: Table) -> dict[str, Any]:
    """Return the fields of a table as they are answered."""
    values = {one: one.of(of) for one in table}
    return {one.name: None if value is None else SHOWN[one.kind].show(value) for one, value in values.items()}
