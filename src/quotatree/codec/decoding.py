"""Data as `json.loads` gives it, back as a value; what does not fit is named by its path. Decoders are made once for each type."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Final, TypeVar

from quotatree.codec.kinds import (
    NOTHING,
    TAG,
    fields_of,
    is_mapping,
    is_record,
    items_of,
    members_of,
    old_keys_of,
    plain,
    tags_of,
    texts_of,
)
from quotatree.codec.stored_names import ALONE
from quotatree.core import QuotaTreeError

T = TypeVar("T")
Decoder = Callable[[Any], Any]

SHOWN: Final = 60


class DecodeError(QuotaTreeError):
    """Data does not fit its type: `path` says where, `message` what is wrong."""

    def __init__(self, message: str, path: str = "") -> None:
        self.message = message
        self.path = path
        super().__init__(message)

    def below(self, step: str) -> DecodeError:
        """The same error with `step` in front of its path."""
        glue = "." if self.path and not self.path.startswith("[") else ""
        return DecodeError(self.message, f"{step}{glue}{self.path}")

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def decode(hint: type[T], data: Any) -> T:
    """The value of type `hint` that the data describes. Raises DecodeError if the data does not fit."""
    found: T = _decoder(hint)(data)
    return found


_made: dict[Any, Decoder] = {}


def _decoder(hint: Any) -> Decoder:
    if hint not in _made:
        _made[hint] = _make(hint)
    return _made[hint]


def _make(hint: Any) -> Decoder:
    hint = plain(hint)
    if hint in _PRIMITIVES:
        return _PRIMITIVES[hint]
    if hint in (Any, object):
        return lambda data: data
    union = members_of(hint)
    if union is not None:
        return _union(*union, hint)
    if is_record(hint):
        return _record(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum(hint)
    origin, inside = items_of(hint)
    if issubclass(origin, tuple) and inside:
        if inside[-1] is not ...:
            return _fixed([_decoder(one) for one in inside])
        several = _sequence(_decoder(inside[0]), origin)
        return _alone(_decoder(inside[0]), several, origin) if origin in ALONE else several
    if origin is frozenset and inside:
        return _sequence(_decoder(inside[0]), frozenset)
    if is_mapping(origin):
        return _mapping(_decoder(inside[1]) if inside else lambda data: data)
    raise TypeError(f"no way to read {hint} from JSON")


def _wrong(wanted: str, data: Any) -> DecodeError:
    shown = repr(data)
    return DecodeError(f"must be {wanted}, is {shown if len(shown) <= SHOWN else shown[:SHOWN] + '…'}")


def _int(data: Any) -> int:
    if type(data) is not int:
        raise _wrong("an integer", data)
    return data


def _str(data: Any) -> str:
    if type(data) is not str:
        raise _wrong("a text", data)
    return data


def _bool(data: Any) -> bool:
    if type(data) is not bool:
        raise _wrong("true or false", data)
    return data


def _float(data: Any) -> float:
    if type(data) not in (int, float):
        raise _wrong("a number", data)
    return float(data)


def _none(data: Any) -> None:
    if data is not None:
        raise _wrong("null", data)


_PRIMITIVES: Final[dict[Any, Decoder]] = {
    int: _int, str: _str, bool: _bool, float: _float, type(None): _none,
}  # fmt: skip


def _enum(enum: type[Enum]) -> Decoder:
    members = {text: member for member, texts in texts_of(enum).items() for text in texts}

    def one(data: Any) -> Enum:
        found = members.get(data) if type(data) is str else None
        if found is None:
            raise _wrong(f"one of {', '.join(list(members)[:20])}", data)
        return found

    return one


def _items(data: Any) -> Any:
    if type(data) not in (list, tuple):
        raise _wrong("a list", data)
    return data


def _sequence(decoder: Decoder, make: Callable[[list[Any]], Any]) -> Decoder:
    def several(data: Any) -> Any:
        found: list[Any] = []
        try:
            for one in _items(data):
                found.append(decoder(one))
        except DecodeError as problem:
            raise problem.below(f"[{len(found)}]") if type(data) in (list, tuple) else problem from None
        return make(found)

    return several


def _alone(decoder: Decoder, several: Decoder, make: Callable[[list[Any]], Any]) -> Decoder:
    return lambda data: make([decoder(data)]) if type(data) is dict else several(data)


def _fixed(decoders: list[Decoder]) -> Decoder:
    def several(data: Any) -> Any:
        if len(_items(data)) != len(decoders):
            raise _wrong(f"a list of {len(decoders)}", data)
        found: list[Any] = []
        try:
            for decoder, one in zip(decoders, data, strict=True):
                found.append(decoder(one))
        except DecodeError as problem:
            raise problem.below(f"[{len(found)}]") from None
        return tuple(found)

    return several


def _object(data: Any) -> dict[str, Any]:
    if type(data) is not dict:
        raise _wrong("an object", data)
    return data


def _mapping(decoder: Decoder) -> Decoder:
    def mapping(data: Any) -> Any:
        found = {}
        for key, one in _object(data).items():
            try:
                found[_str(key)] = decoder(one)
            except DecodeError as problem:
                raise problem.below(str(key)) from None
        return found

    return mapping


def _union(members: tuple[Any, ...], optional: bool, hint: Any) -> Decoder:
    if len(members) == 1:
        decoder = _decoder(members[0])
        return lambda data: None if data is None else decoder(data)
    tags = {tag: _decoder(member) for tag, member in tags_of(members, hint).items()}

    def tagged(data: Any) -> Any:
        if data is None and optional:
            return None
        rest = dict(_object(data))
        tag = rest.pop(TAG, None)
        found = tags.get(tag) if type(tag) is str else None
        if found is None:
            raise _wrong(f"one of {', '.join(tags)}", tag).below(TAG)
        return found(rest)

    return tagged


def _record(cls: type[Any]) -> Decoder:
    fields = [(field.keys[0], field.default, _decoder(field.hint)) for field in fields_of(cls)]
    known = {key for key, _, _ in fields}
    old = old_keys_of(cls)

    def record(data: Any) -> Any:
        data = _with_new_keys(_object(data), old) if old else _object(data)
        values = []
        for key, default, decoder in fields:
            try:
                one = data[key]
            except KeyError:
                if default is NOTHING:
                    raise DecodeError("is missing", key) from None
                values.append(default)
                continue
            try:
                values.append(decoder(one))
            except DecodeError as problem:
                raise problem.below(key) from None
        if len(data) > len(known) or not known.issuperset(data):
            unknown = sorted(str(key) for key in data if key not in known)[0]
            raise DecodeError(f"is not known here; known are {', '.join(sorted(known))}", unknown)
        try:
            return cls(*values)
        except QuotaTreeError as problem:
            raise DecodeError(str(problem)) from problem

    return record


def _with_new_keys(data: dict[str, Any], old: dict[str, str | None]) -> dict[str, Any]:
    """The data with each old key replaced by the one written today, without keys that mean nothing any more."""
    found: dict[str, Any] = {}
    for key, one in data.items():
        new = old.get(key, key)
        if new in found:
            raise DecodeError(f"stands there twice, also as {new}", key)
        if new is not None:
            found[new] = one
    return found
