"""What is wrong with a field of a request, and what is allowed? pydantic knows; this says it for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, get_args

from fastapi import Request
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from quotatree.api.models.fields import JOB_ID, JOB_LABEL, TOKEN_ID, WHO, WHOLE_NAME

LONGEST_SHOWN: Final = 60
PATTERNS: Final[Mapping[str, str]] = {
    WHOLE_NAME: "must be 1 to 63 letters, digits, '.', '_' and '-', with a letter or digit at both ends",
    JOB_LABEL: "must be at most 63 lower-case letters, digits, '-' and '.', with a letter or digit at both ends",
    JOB_ID: "must be the id of a job, such as dlc-8k2m0qz4xa",
    TOKEN_ID: "must be the id of a token, ten letters and digits, as `get tokens` shows it",
    WHO: "must be role:<role> or user:<name>",
}
TYPES: Final[Mapping[str, str]] = {
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be a text",
    "list_type": "must be a list",
    "dict_type": "must be an object",
}
OBJECTS: Final = ("model_type", "model_attributes_type")
UNTOLD: Final = ("password", "secret", "token", "program", "code")
"""Words in the names of fields whose values are not sent back, lest a secret ends up in a log."""


def place(error: Mapping[str, Any]) -> tuple[str, ...]:
    """The way to the field, without the names that pydantic has for the kinds of value a field may have."""
    where = [str(part) for part in error["loc"]]
    return tuple(part for part in (where[1:] if where[:1] == ["body"] else where) if "[" not in part)


def furthest(errors: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The errors without those of another kind of value than was sent: one time, where times of modules are wrong."""
    places = [place(error) for error in errors]
    return [
        error
        for error, where in zip(errors, places, strict=True)
        if not any(other[: len(where)] == where != other for other in places)
    ]


def message(error: Mapping[str, Any], request: Request) -> str:
    kind, context = str(error["type"]), error.get("ctx") or {}
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        name = str(context.get("discriminator")).strip("'")
        kinds = context.get("expected_tags")
        return f"{name}: must be one of {kinds}" if kinds else f"{name}: is missing"
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        fields = _fields(request, error["loc"][:-1])
        return f"no such field; there are {', '.join(fields)}" if fields else "no such field"
    if kind in OBJECTS:
        fields = _fields(request, error["loc"])
        return f"must be an object with some of {', '.join(fields)}" if fields else "must be an object"
    if kind in TYPES:
        return TYPES[kind] + _not_a_text(kind, error.get("input"))
    if kind == "string_pattern_mismatch":
        return PATTERNS.get(str(context.get("pattern")), f"must match {context.get('pattern')}")
    if kind in ("less_than_equal", "greater_than_equal"):
        return f"must be at {'most' if 'le' in context else 'least'} {context.get('le', context.get('ge'))}"
    said = str(error["msg"]).removeprefix("Value error, ")
    for begins in ("Input should ", "String should ", "List should ", "Dictionary should "):
        if said.startswith(begins):
            return "must " + said.removeprefix(begins)
    return said


def _not_a_text(kind: str, sent: object) -> str:
    """What to add for a number or switch that was sent as a text: shown without quotes it looks right."""
    return ", not a text" if isinstance(sent, str) and kind != "string_type" else ""


def value(error: Mapping[str, Any]) -> str | int | float | None:
    """The value that was sent; None if it is long or may be secret. An unknown field may be a misspelt secret one."""
    sent = error.get("input")
    if error["type"] == "extra_forbidden" or any(
        word in str(part).lower() for part in error["loc"] for word in UNTOLD
    ):
        return None
    if isinstance(sent, str):
        return sent if len(sent) <= LONGEST_SHOWN else None
    return sent if isinstance(sent, int | float) else None


def _fields(request: Request, where: Sequence[Any]) -> list[str]:
    """Fields of the model that stands there, as requests spell them; none if the path to it cannot be followed."""
    body = getattr(request.scope.get("route"), "body_field", None)
    if where[:1] != ("body",) or body is None:
        return []
    reached = list(_models(body.field_info.annotation))
    for step in where[1:]:
        inside = [
            field
            for model in reached
            for name, field in model.model_fields.items()
            if _spelt(name, field) == step
        ]
        if inside:
            reached = [found for field in inside for found in _models(field.annotation)]
        else:  # an index in a list, or the tag of one of several models
            reached = [model for model in reached if _tag(model) == step] or reached
    if len(reached) != 1:
        return []
    return [_spelt(name, field) for name, field in _of_the_request(reached[0]).model_fields.items()]


def _of_the_request(model: type[BaseModel]) -> type[BaseModel]:
    """The model whose fields are told: of a change that is previewed, the one of the request it stands for."""
    base = model.__bases__[0]
    request = issubclass(base, BaseModel) and base.model_fields and _tag(model) is not None
    return base if request else model


def _spelt(name: str, field: FieldInfo) -> str:
    return field.alias or name


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models X, Y in a field's annotation: X, list[X], X | None, Annotated[X | Y, …]."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        return
    for part in get_args(annotation):
        yield from _models(part)


def _tag(model: type[BaseModel]) -> str | None:
    """The value of `change` by which a union of models tells this one from the others; None: it has no such field."""
    field = model.model_fields.get("change")
    found = get_args(field.annotation) if field is not None else ()
    return str(found[0]) if found else None
