"""What is in a database, a backup or a snapshot file today can be read for ever, and is written as it is today.

Renaming a class, a field or a member of an enum must not turn these tests red: `codec/stored_names.py` keeps the name
on disk. docs/reference/store.md says what to do when they are red with reason.
"""

from __future__ import annotations

import ast
import importlib
import json
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Final, get_args

import pytest

import quotatree
from quotatree.codec import decode, encode
from quotatree.codec.kinds import NOTHING, fields_of, is_record, plain
from quotatree.codec.snapshot_file import read_snapshot_text, snapshot_text
from tests.codec.stored_values import ENUMS, GOLDEN, OLD, SNAPSHOTS

FILES: Final = Path(__file__).parent / "golden"
SOURCE: Final = Path(quotatree.__file__).parent
STORED: Final = {hint for hint, _ in GOLDEN.values()}


@pytest.mark.parametrize("kind", GOLDEN)
def test_what_is_stored_is_read_as_the_value_it_was(kind: str) -> None:
    hint, values = GOLDEN[kind]
    assert tuple(decode(hint, one) for one in json.loads(golden_text(kind))) == values


@pytest.mark.parametrize("kind", GOLDEN)
def test_a_value_is_written_byte_for_byte_as_it_always_was(kind: str) -> None:
    hint, values = GOLDEN[kind]
    assert as_text([encode(one, hint) for one in values]) == golden_text(kind)


@pytest.mark.parametrize("kind", OLD)
def test_what_is_not_written_any_more_is_still_read(kind: str) -> None:
    hint, values = OLD[kind]
    assert tuple(decode(hint, one) for one in json.loads(golden_text(f"old/{kind}"))) == values


def test_the_texts_of_enums_stay() -> None:
    """In the order of their members; the file goes by what an enum is about, not by the name of its class."""
    found = {kind: [encode(member) for member in enum] for kind, enum in ENUMS.items()}
    assert as_text(found) == golden_text("enums")
    for kind, texts in json.loads(golden_text("enums")).items():
        assert [decode(ENUMS[kind], text) for text in texts] == list(ENUMS[kind])


def test_a_snapshot_file_stays_as_it_is() -> None:
    text = golden_text("snapshot_file")
    assert read_snapshot_text(text) == (SNAPSHOTS[1], 1_700_000_000_000)
    assert snapshot_text(SNAPSHOTS[1], 1_700_000_000_000) == text


# -- nothing is forgotten --------------------------------------------------------------------------------------------


def test_every_file_is_compared_with_something() -> None:
    named = {*GOLDEN, *(f"old/{kind}" for kind in OLD), "enums", "snapshot_file"}
    assert {str(path.relative_to(FILES).with_suffix("")) for path in FILES.rglob("*.json")} == named


def test_whatever_the_server_reads_back_has_a_golden_file() -> None:
    """Every type that some module hands to `decode`."""
    found = set(decoded_types())
    assert found - STORED - {int} == set()
    assert len(found) > 5


def test_every_stored_class_and_enum_is_in_a_golden_file() -> None:
    """By the type hints, from the stored types down."""
    classes, enums = parts_of(STORED)
    seen = {type(record) for record in golden_records()}
    assert {cls.__name__ for cls in classes - seen} == set(), "has no golden file"
    assert {enum.__name__ for enum in enums - set(ENUMS.values())} == set(), "is not in golden/enums.json"


def test_every_field_has_been_stored_with_something_in_it_and_left_out_where_it_may() -> None:
    """A golden file that never fills a field would not notice that it is read from another key."""
    records = list(golden_records())
    unfilled, always_there = set(), set()
    for cls in {type(record) for record in records}:
        values = [record for record in records if type(record) is cls]
        for field in fields_of(cls):
            told = [getattr(value, field.name) for value in values]
            if all(one == field.default or one in (None, (), frozenset()) for one in told):
                unfilled.add(f"{cls.__name__}.{field.name}")
            if field.empty is not NOTHING and all(one != field.empty for one in told):
                always_there.add(f"{cls.__name__}.{field.name}")
    assert unfilled == set()
    assert always_there == set()


# -- how they are compared -------------------------------------------------------------------------------------------


def golden_text(name: str) -> str:
    return (FILES / f"{name}.json").read_text(encoding="utf-8")


def as_text(data: Any) -> str:
    return json.dumps(data, indent=1) + "\n"


def parts_of(hints: set[Any]) -> tuple[set[type[Any]], set[type[Enum]]]:
    """All records and enums that values of these types consist of."""
    classes: set[type[Any]] = set()
    enums: set[type[Enum]] = set()
    to_do = list(hints)
    while to_do:
        hint = plain(to_do.pop())
        if is_record(hint) and hint not in classes:
            classes.add(hint)
            to_do += [field.hint for field in fields_of(hint)]
        elif isinstance(hint, type) and issubclass(hint, Enum):
            enums.add(hint)
        to_do += get_args(hint)
    return classes, enums


def golden_records(values: Any = None) -> Iterator[Any]:
    """Every record in the golden values, at whatever depth."""
    if values is None:
        values = tuple(one for _, several in GOLDEN.values() for one in several)
    if is_record(type(values)):
        yield values
        for field in fields_of(type(values)):
            yield from golden_records(getattr(values, field.name) or ())
    elif isinstance(values, tuple | frozenset):
        for one in values:
            yield from golden_records(one or ())


def decoded_types() -> Iterator[Any]:
    """The first arguments of all calls of `decode` in the sources."""
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = [
            node.args[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "decode"
        ]
        if named:
            module = importlib.import_module(
                ".".join(("quotatree", *path.relative_to(SOURCE).with_suffix("").parts))
            )
            for node in named:
                yield eval(ast.unparse(node), vars(module))
