"""What is wrong with a field of a request, and what is allowed? pydantic knows; this says it for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, get_args

from fastapi import Request
from pydantic import BaseModel

from quotatree.api.models.fields import JOB_ID, JOB_LABEL, TOKEN_ID, WHOLE_NAME

LONGEST_SHOWN: Final = 60
PATTERNS: Final[Mapping[str, str]] = {
    WHOLE_NAME: "must be 1 to 63 letters, digits, '.', '_' and '-', with a letter or digit at both ends",
    JOB_LABEL: "must be at most 63 lower-case letters, digits, '-' and '.', with a letter or digit at both ends",
    JOB_ID: "must be the id of a job, such as dlc-8k2m0qz4xa",
    TOKEN_ID: "must be the id of a token, ten letters and digits, as `get tokens` shows it",
}
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
        fields = _fields(request, error["loc"])
        return f"no such field; there are {', '.join(fields)}" if fields else "no such field"
    if kind == "string_pattern_mismatch":
        return PATTERNS.get(str(context.get("pattern")), f"must match {context.get('pattern')}")
    if kind in ("less_than_equal", "greater_than_equal"):
        return f"must be at {'most' if 'le' in context else 'least'} {context.get('le', context.get('ge'))}"
    said = str(error["msg"]).removeprefix("Value error, ")
    for begins in ("Input should ", "String should ", "List should ", "Dictionary should "):
        if said.startswith(begins):
            return "must " + said.removeprefix(begins)
    return said


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
    """Fields of the model in which an unknown field was found; none if the path to it cannot be followed."""
    body = getattr(request.scope.get("route"), "body_field", None)
    if where[:1] != ("body",) or body is None:
        return []
    reached = list(_models(body.field_info.annotation))
    for step in where[1:-1]:
        inside = [model.model_fields[step] for model in reached if step in model.model_fields]
        if inside:
            reached = [found for field in inside for found in _models(field.annotation)]
        else:  # an index in a list, or the tag of one of several models
            reached = [model for model in reached if _tag(model) == step] or reached
    return list(reached[0].model_fields) if len(reached) == 1 else []


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
