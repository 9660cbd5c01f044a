"""What does a type hint mean for a value on its way to JSON and back?

A record (frozen dataclass or NamedTuple) is an object with a key for each field; a field that stands at an *empty*
default (None, (), 0, False, "") is left out. Other defaults are always written: they may change, what was written may
not. A union of several records is tagged with the name of the class. An enum is told by its values, or by its names
where its values are sentences.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from enum import Enum
from types import UnionType
from typing import Any, Final, NamedTuple, Union, get_args, get_origin, get_type_hints

TAG: Final = "type"
WORD: Final = re.compile(r"[\w.+-]+")


class Nothing(Enum):
    """No default, or none that may be left out."""

    HERE = 0


NOTHING: Final = Nothing.HERE


class Field(NamedTuple):
    """`default` is what a missing key means; `empty` is what is left out."""

    name: str
    hint: Any
    default: Any
    empty: Any


def is_record(cls: Any) -> bool:
    return isinstance(cls, type) and (
        dataclasses.is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))
    )


def fields_of(cls: type[Any]) -> list[Field]:
    """The fields of a record in the order its constructor takes them."""
    hints = get_type_hints(cls)
    found = []
    if dataclasses.is_dataclass(cls):
        for one in dataclasses.fields(cls):
            default = NOTHING if one.default is dataclasses.MISSING else one.default
            if default is NOTHING and one.default_factory is not dataclasses.MISSING:
                default = one.default_factory()
            found.append(Field(one.name, hints[one.name], default, _empty(default)))
        return found
    defaults = cls._field_defaults
    for name in cls._fields:
        default = defaults.get(name, NOTHING)
        found.append(Field(name, hints[name], default, _empty(default)))
    return found


def _empty(default: Any) -> Any:
    return default if default is None or default in ((), 0, "", False) else NOTHING


def members_of(hint: Any) -> tuple[tuple[Any, ...], bool] | None:
    """For a union: its members without None, and whether None is one of them."""
    if get_origin(hint) not in (Union, UnionType):
        return None
    members = get_args(hint)
    rest = tuple(member for member in members if member is not type(None))
    return rest, len(rest) < len(members)


def tags_of(members: tuple[Any, ...], hint: Any) -> dict[str, type[Any]]:
    """Several records in one union, by the name that tells them apart."""
    if not all(is_record(member) for member in members):
        raise TypeError(f"{hint}: only a union of records can be told apart")
    for member in members:
        if any(field.name == TAG for field in fields_of(member)):
            raise TypeError(f"{member.__name__} has a field named {TAG!r}, which is the tag of a union")
    return {member.__name__: member for member in members}


def plain(hint: Any) -> Any:
    """A NewType is what it was made of."""
    while hasattr(hint, "__supertype__"):
        hint = hint.__supertype__
    return hint


def texts_of(enum: type[Enum]) -> dict[Enum, str]:
    """What each member of an enum is told by."""
    by_value = all(isinstance(member.value, str) and WORD.fullmatch(member.value) for member in enum)
    return {member: member.value if by_value else member.name for member in enum}


def is_mapping(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)
