"""What does a type hint mean for a value on its way to JSON and back?

A record (frozen dataclass or NamedTuple) is an object with a key for each field; a field that stands at an *empty*
default (None, (), 0, False, "") is left out. Other defaults are always written: they may change, what was written may
not. A union of several records is tagged. An enum is a text. Tags, keys and texts: see stored_names.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from types import UnionType
from typing import Any, Final, NamedTuple, Union, get_args, get_origin, get_type_hints

from quotatree.codec.stored_names import GONE_KEYS, KEYS, NAMED_BY_MEMBER, TAGS, TEXTS, Names

TAG: Final = "type"


class Nothing(Enum):
    """Marks a field that has no default, or no empty one."""

    HERE = 0


NOTHING: Final = Nothing.HERE


class Field(NamedTuple):
    """A field of a record. Of its `keys` the first is written, all are read.

    `default` is the value if the key is missing, `empty` the value that is not written; NOTHING: there is none.
    """

    name: str
    keys: Names
    hint: Any
    default: Any
    empty: Any


def is_record(cls: Any) -> bool:
    return isinstance(cls, type) and (
        dataclasses.is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))
    )


def fields_of(cls: type[Any]) -> list[Field]:
    """The fields of a record in the order its constructor takes them."""
    hints, keys = get_type_hints(cls), KEYS.get(cls, {})
    return [
        Field(name, keys.get(name, (name,)), hints[name], default, _empty(default))
        for name, default in _defaults(cls)
    ]


def _defaults(cls: type[Any]) -> list[tuple[str, Any]]:
    """Each field by name, with its default or NOTHING."""
    if not dataclasses.is_dataclass(cls):
        return [(name, cls._field_defaults.get(name, NOTHING)) for name in cls._fields]
    found = []
    for one in dataclasses.fields(cls):
        if not one.init:  # it follows from the others
            continue
        default = NOTHING if one.default is dataclasses.MISSING else one.default
        if default is NOTHING and one.default_factory is not dataclasses.MISSING:
            default = one.default_factory()
        found.append((one.name, default))
    return found


def _empty(default: Any) -> Any:
    return default if default is None or default in ((), 0, "", False) else NOTHING


def items_of(hint: Any) -> tuple[type[Any], tuple[Any, ...]]:
    """The class of a tuple, set or mapping, and what is in it; a class derived from `tuple[X, ...]` holds what that does."""
    origin, inside = get_origin(hint) or hint, get_args(hint)
    if not inside and isinstance(origin, type) and issubclass(origin, tuple):
        for base in getattr(origin, "__orig_bases__", ()):
            inside = get_args(base)
    return origin, inside


def members_of(hint: Any) -> tuple[tuple[Any, ...], bool] | None:
    """The members of a union without None, and whether None is one of them; None if the hint is not a union."""
    if get_origin(hint) not in (Union, UnionType):
        return None
    members = get_args(hint)
    rest = tuple(member for member in members if member is not type(None))
    return rest, len(rest) < len(members)


def tags_of(members: tuple[Any, ...], hint: Any) -> dict[str, type[Any]]:
    """The records of a union by tag, for every tag that is read. Raises TypeError if they cannot be told apart."""
    found: dict[str, type[Any]] = {}
    for member in members:
        if not is_record(member):
            raise TypeError(f"{hint}: only a union of records can be told apart")
        if any(TAG in field.keys for field in fields_of(member)):
            raise TypeError(f"{member.__name__} has a key {TAG!r}, which is the tag of a union")
        for tag in _tags(member):
            if found.setdefault(tag, member) is not member:
                raise TypeError(f"{hint}: two members have the tag {tag!r}")
    return found


def tag_of(cls: type[Any]) -> str:
    """The tag with which values of this class are written in a union."""
    return _tags(cls)[0]


def _tags(cls: type[Any]) -> Names:
    if cls not in TAGS:
        raise TypeError(f"{cls.__name__} is stored in a union: give it a tag in codec/stored_names.py")
    return TAGS[cls]


def old_keys_of(cls: type[Any]) -> dict[str, str | None]:
    """Keys that are read and not written, each with the key that is written instead; None: no key is."""
    old: dict[str, str | None] = dict.fromkeys(GONE_KEYS.get(cls, ()))
    return old | {key: field.keys[0] for field in fields_of(cls) for key in field.keys[1:]}


def plain(hint: Any) -> Any:
    """The type that a NewType was made of; any other hint as it is."""
    while hasattr(hint, "__supertype__"):
        hint = hint.__supertype__
    return hint


def texts_of(enum: type[Enum]) -> dict[Enum, Names]:
    """The texts of each member of an enum; the first is written, all are read."""
    said = TEXTS.get(enum, {})
    return {member: said.get(member.name) or (_text(enum, member),) for member in enum}


def _text(enum: type[Enum], member: Enum) -> str:
    text = member.name if enum in NAMED_BY_MEMBER else member.value
    if not isinstance(text, str):
        raise TypeError(f"{enum.__name__}.{member.name}: only an enum of texts can be written as JSON")
    return text


def is_mapping(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)
