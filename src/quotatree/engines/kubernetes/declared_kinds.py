"""Which further kinds does an installation adopt, and where in them stands what we need? Read from the settings. Pure.

[kubernetes.other_kinds."widgets.example.org"]
version = "v1"
kind = "Widget"
suspend = "spec.suspend"
pods = [{ at = "spec.groups.*", template = "template", replicas = "replicas" }]
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from quotatree.engines.kubernetes.adopted import Adoptable, Part
from quotatree.engines.kubernetes.kinds import Kind

NAME: Final = re.compile(r"[a-z][a-z0-9]*(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+")
VERSION: Final = re.compile(r"v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?")
KIND: Final = re.compile(r"[A-Z][A-Za-z0-9]*")
STEP: Final = r"[A-Za-z_][A-Za-z0-9_-]*"
PATH: Final = re.compile(rf"{STEP}(\.{STEP})*")
MANY_PATH: Final = re.compile(rf"{STEP}(\.({STEP}|\*))*")
NEEDED: Final = ("version", "kind", "suspend", "pods")
FIELDS: Final = (*NEEDED, "succeeded", "failed", "phase")
PART_FIELDS: Final = ("at", "template", "replicas", "at_most")


class WrongKind(Exception):
    """What is wrong with a kind in the settings; the message names it and what is allowed."""


def declared_kinds(value: object) -> tuple[Adoptable, ...]:
    """The kinds of a table from names, such as widgets.example.org, to what they look like. Raises WrongKind."""
    if not isinstance(value, Mapping):
        raise WrongKind('must be a table with a table for each kind, such as "widgets.example.org"')
    return tuple(_kind(str(name), one) for name, one in sorted(value.items()))


def _kind(name: str, said: object) -> Adoptable:
    if NAME.fullmatch(name) is None:
        raise WrongKind(
            f"{name}: must be PLURAL.GROUP, as `kubectl get` takes it, such as widgets.example.org"
        )
    table = _table(name, said, FIELDS)
    for field in NEEDED:
        if field not in table:
            raise WrongKind(f"{name}.{field}: missing; a kind needs {', '.join(NEEDED)}")
    plural, _, group = name.partition(".")
    version = _text(f"{name}.version", table["version"], VERSION, "such as v1 or v1beta1")
    kind = _text(f"{name}.kind", table["kind"], KIND, "its name in manifests, such as Widget")
    more: dict[str, Any] = {
        field: _words(f"{name}.{field}", table[field]) for field in ("succeeded", "failed") if field in table
    }
    if "phase" in table:
        more["phase"] = _text(f"{name}.phase", table["phase"], PATH, "a path, such as status.phase")
    return Adoptable(
        Kind(f"{group}/{version}", plural, kind),
        _text(f"{name}.suspend", table["suspend"], PATH, "the path of a field, such as spec.suspend"),
        _parts(f"{name}.pods", table["pods"]),
        **more,
    )


def _parts(where: str, said: object) -> tuple[Part, ...]:
    if not isinstance(said, list) or not said:
        raise WrongKind(f"{where}: must be a list of tables, one for each place with pod templates")
    return tuple(_part(f"{where}[{number}]", one) for number, one in enumerate(said))


def _part(where: str, said: object) -> Part:
    table = _table(where, said, PART_FIELDS)
    if "at" not in table:
        raise WrongKind(f"{where}.at: missing; the path to what has the pod template, such as spec.groups.*")
    counts = table.get("replicas", ())
    counts = (counts,) if isinstance(counts, str) else counts
    if not isinstance(counts, list | tuple):
        raise WrongKind(
            f"{where}.replicas: must be a path below `at`, or a list of paths, which are multiplied"
        )
    path = "a path below `at`"
    return Part(
        _text(f"{where}.at", table["at"], MANY_PATH, "a path, with * for every entry of a table or list"),
        _text(f"{where}.template", table.get("template", "template"), PATH, path),
        tuple(_text(f"{where}.replicas", one, PATH, path) for one in counts),
        _text(f"{where}.at_most", table["at_most"], PATH, path) if "at_most" in table else "",
    )


def _table(where: str, said: object, fields: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(said, Mapping):
        raise WrongKind(f"{where}: must be a table with {', '.join(fields)}")
    unknown = sorted(set(map(str, said)) - set(fields))
    if unknown:
        raise WrongKind(f"{where}.{unknown[0]}: not known; there are {', '.join(fields)}")
    return said


def _text(where: str, said: object, form: re.Pattern[str], wanted: str) -> str:
    if not isinstance(said, str) or form.fullmatch(said) is None:
        raise WrongKind(f"{where}: must be {wanted}")
    return said


def _words(where: str, said: object) -> tuple[str, ...]:
    if not isinstance(said, list) or not said or not all(isinstance(one, str) and one for one in said):
        raise WrongKind(f"{where}: must be a list of words, conditions or values of `phase`")
    return tuple(said)
