"""A value as data that `json.dumps` takes. Encoders are made once for each type."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from operator import attrgetter
from typing import Any

from quotatree.codec.kinds import (
    NOTHING,
    TAG,
    fields_of,
    is_mapping,
    is_record,
    items_of,
    members_of,
    plain,
    tag_of,
    tags_of,
    texts_of,
)
from quotatree.codec.stored_names import ALONE

Encoder = Callable[[Any], Any]


def encode(value: Any, hint: Any = None) -> Any:
    """The value as JSON-able data.

    `hint` is needed where the type of the value does not say it all: for a union, which is tagged, or a tuple.
    """
    encoder = _encoder(type(value) if hint is None else hint)
    return value if encoder is None else encoder(value)


_made: dict[Any, Encoder | None] = {}


def _encoder(hint: Any) -> Encoder | None:
    """The encoder of a type; None if its values are JSON as they stand."""
    if hint not in _made:
        _made[hint] = _make(hint)
    return _made[hint]


def _make(hint: Any) -> Encoder | None:
    hint = plain(hint)
    if hint in (int, str, bool, float, Any, object, type(None)):
        return None
    union = members_of(hint)
    if union is not None:
        return _union(*union, hint)
    if is_record(hint):
        return _record(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {member: texts[0] for member, texts in texts_of(hint).items()}.__getitem__
    origin, inside = items_of(hint)
    if origin in ALONE:
        return _alone(_sequence(inside, hint))
    if issubclass(origin, tuple):
        return _sequence(inside, hint)
    if origin is frozenset:
        items = _sequence((*inside, ...), hint)
        return lambda value: sorted(items(value))
    if is_mapping(origin):
        return _mapping(_encoder(inside[1]) if inside else None)
    raise TypeError(f"no way to write {hint} as JSON")


def _sequence(inside: tuple[Any, ...], hint: Any) -> Encoder:
    if not inside:
        raise TypeError(f"{hint}: of what?")
    if inside[-1] is not ...:
        each = [_encoder(one) for one in inside]
        if not any(each):
            return list
        return lambda value: [v if enc is None else enc(v) for enc, v in zip(each, value, strict=True)]
    encoder = _encoder(inside[0])
    if encoder is None:
        return list
    return lambda value: [encoder(one) for one in value]


def _alone(items: Encoder) -> Encoder:
    def one_or_several(value: Any) -> Any:
        found = items(value)
        return found[0] if len(found) == 1 else found

    return one_or_several


def _mapping(encoder: Encoder | None) -> Encoder:
    if encoder is None:
        return dict
    return lambda value: {key: encoder(one) for key, one in value.items()}


def _union(members: tuple[Any, ...], optional: bool, hint: Any) -> Encoder | None:
    if len(members) == 1:
        encoder = _encoder(members[0])
        return None if encoder is None else lambda value: None if value is None else encoder(value)
    tags_of(members, hint)  # raises TypeError if the members cannot be told apart
    tags = {member: tag_of(member) for member in members}

    def tagged(value: Any) -> Any:
        if value is None and optional:
            return None
        if type(value) not in tags:
            raise TypeError(f"{value!r} is none of {hint}")
        return {TAG: tags[type(value)], **encode(value)}

    return tagged


def _record(cls: type[Any]) -> Encoder:
    fields = fields_of(cls)
    if not fields:
        return lambda value: {}
    steps = [(field.keys[0], field.empty, _encoder(field.hint)) for field in fields]
    if issubclass(cls, tuple):
        return lambda value: _object(steps, value)
    names = [field.name for field in fields]
    if len(names) == 1:
        name = names[0]
        return lambda value: _object(steps, (getattr(value, name),))
    values = attrgetter(*names)
    return lambda value: _object(steps, values(value))


def _object(steps: list[tuple[str, Any, Encoder | None]], values: tuple[Any, ...]) -> dict[str, Any]:
    found = {}
    for (key, empty, encoder), value in zip(steps, values, strict=False):
        if empty is not NOTHING and value == empty:
            continue
        found[key] = value if encoder is None else encoder(value)
    return found
