"""Which column of a trace is the team, which the priority, which the module?

A mapping is a small table of a TOML file, one line for each field that is not to be read as the loader would:

    [mapping]
    team       = "vc"                                                         # the text of a column
    priority   = { column = "qos", values = { LS = 7, BE = 1 }, default = 3 }  # its values, translated
    module     = { constant = "DSW" }                                         # the same for every job
    checkpoint = { constant = "1h" }

Every loader has a mapping of its own; what the user's says goes before it, field by field.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Final

from quotatree.core import HIGHEST_PRIORITY, LOWEST_PRIORITY, Module, QuotaTreeError

FieldValue = str | int | bool | tuple[str, ...] | None


class FieldError(QuotaTreeError):
    """A field of a simulation file cannot be used. The message names the field, its value and what is allowed."""

    table = ""

    def __init__(self, field: str, value: object, message: str) -> None:
        self.field = field
        self.value = value
        self.message = message
        super().__init__(field, value, message)

    def __str__(self) -> str:
        return f"{self.table}{self.field} = {self.value!r}: {self.message}"


class MappingError(FieldError):
    """A mapping that cannot be used."""

    table = "mapping."


@dataclass(frozen=True, slots=True)
class Source:
    """Where one field comes from: a column, perhaps translated, or a constant (`column` "", the value in `default`).

    With `values`, a text that is not among them becomes `default`; without a `default` it is an error. Without
    `values`, an empty cell becomes `default`, or else the field's own default. A column that is not `required` may be
    absent from the file.
    """

    column: str = ""
    values: tuple[tuple[str, str], ...] = ()
    default: str | None = None
    required: bool = True

    def text(self, raw: str) -> str:
        """The text that a cell's `raw` text stands for; ValueError if `values` lacks it and there is no default."""
        for known, meant in self.values:
            if raw == known:
                return meant
        if self.values:
            if self.default is None:
                raise ValueError(
                    "is not among the values of the mapping: " + ", ".join(k for k, _ in self.values)
                )
            return self.default
        return raw or self.default or ""


@dataclass(frozen=True, slots=True)
class Mapping:
    """The source of each field of a job. None leaves a field to the loader's own mapping."""

    team: Source | None = None
    user: Source | None = None
    module: Source | None = None
    priority: Source | None = None
    models: Source | None = None
    checkpoint: Source | None = None
    guaranteed: Source | None = None

    def over(self, defaults: Mapping) -> Mapping:
        """A mapping with this one's sources, and those of `defaults` where this one has none."""
        chosen = {name: getattr(self, name) or getattr(defaults, name) for name in FIELDS}
        return Mapping(**chosen)


def read_mapping(table: dict[str, object]) -> Mapping:
    """Read a mapping from its TOML table. Raises MappingError also for an unknown field: none is ignored."""
    for name in table:
        if name not in FIELDS:
            raise MappingError(name, table[name], f"is not a field; fields are {', '.join(FIELDS)}")
    return Mapping(**{name: _source(name, value) for name, value in table.items()})


def column(name: str, values: dict[str, str | int | bool] | None = None, *, required: bool = True) -> Source:
    """The source for a column, with its values translated if `values` is given; for the mappings of loaders."""
    translated = tuple((raw, _as_cell(meant)) for raw, meant in (values or {}).items())
    return Source(name, translated, required=required)


def parse(field: str, text: str) -> FieldValue:
    """The value of a field from its text; "" gives the field's default. The ValueError says what is allowed."""
    return _PARSERS[field](text)


def _source(field: str, value: object) -> Source:
    if isinstance(value, str) and value:
        return Source(value)
    if isinstance(value, int | float):
        return _constant(field, value)
    if not isinstance(value, dict):
        raise MappingError(
            field, value, "must be a column's name, a number, or a table with `column` or `constant`"
        )
    unknown = [key for key in value if key not in ("column", "values", "default", "constant")]
    if unknown:
        raise MappingError(
            field, value, f"{unknown[0]} is not known here; known are column, values, default, constant"
        )
    if ("constant" in value) == ("column" in value):
        raise MappingError(field, value, "needs either a `column` or a `constant`")
    if "constant" in value:
        if len(value) > 1:
            raise MappingError(field, value, "a constant stands alone")
        return _constant(field, value["constant"])
    return _translated(field, value)


def _constant(field: str, value: object) -> Source:
    return Source("", (), _checked(field, value))


def _translated(field: str, table: dict[str, object]) -> Source:
    name, values = table["column"], table.get("values", {})
    if not isinstance(name, str) or not name:
        raise MappingError(field, name, "column must be the name of a column")
    if not isinstance(values, dict):
        raise MappingError(field, values, "values must be a table such as { LS = 7, BE = 1 }")
    default = _checked(field, table["default"]) if "default" in table else None
    return Source(name, tuple((raw, _checked(field, meant)) for raw, meant in values.items()), default)


def _checked(field: str, value: object) -> str:
    """The value as the text of a cell, once the field's own parser has accepted it."""
    if not isinstance(value, str | int | float):
        raise MappingError(field, value, "must be a text, a number, or true or false")
    text = _as_cell(value)
    try:
        parse(field, text)
    except ValueError as error:
        raise MappingError(field, value, str(error)) from None
    return text


def _as_cell(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _module(text: str) -> str:
    name = text or Module.DLC.value
    if name not in _MODULES:
        raise ValueError("must be one of " + ", ".join(_MODULES))
    return name


def _priority(text: str) -> int:
    if not text:
        return LOWEST_PRIORITY
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not LOWEST_PRIORITY <= number <= HIGHEST_PRIORITY:
        raise ValueError(f"must be {LOWEST_PRIORITY} to {HIGHEST_PRIORITY}")
    return number


def _models(text: str) -> tuple[str, ...]:
    """ "V100M16|V100M32" -> both, each once, in the order of the text; "" -> any model."""
    return tuple(dict.fromkeys(name for name in text.split("|") if name))


def _checkpoint_ms(text: str) -> int | None:
    if text in ("", "never"):
        return None
    found = _SPAN.fullmatch(text)
    interval_ms = round(float(found[1]) * _UNIT_MS[found[2]]) if found else 0
    if interval_ms <= 0:
        raise ValueError('must be seconds, a time such as "90s", "10m" or "1h", or "never"')
    return interval_ms


def _guaranteed(text: str) -> bool | None:
    flag = text.lower()
    if flag not in _FLAGS:
        raise ValueError("must be yes or no, true or false, 1 or 0")
    return _FLAGS[flag]


_MODULES: Final = tuple(module.value for module in Module)
_SPAN: Final = re.compile(r"(\d+(?:\.\d+)?)(s|m|h|d|)")
_UNIT_MS: Final = {"": 1_000, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_FLAGS: Final = {"": None, "1": True, "yes": True, "true": True, "0": False, "no": False, "false": False}
_PARSERS: Final[dict[str, Callable[[str], FieldValue]]] = {
    "team": str,
    "user": str,
    "module": _module,
    "priority": _priority,
    "models": _models,
    "checkpoint": _checkpoint_ms,
    "guaranteed": _guaranteed,
}
FIELDS: Final = tuple(field.name for field in fields(Mapping))
