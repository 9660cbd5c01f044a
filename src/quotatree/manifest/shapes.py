"""Is a value of a file what its field must be? Checks of texts, amounts, times, lists and tables, which can be put together.

A check takes the value and raises Wrong, which names the place inside the value, what stands there, and what is allowed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from quotatree.access.names import check_name
from quotatree.core import HIGHEST_PRIORITY, LOWEST_PRIORITY, Refused, parse_priorities
from quotatree.scenario.amounts import Unreadable, as_flag
from quotatree.scenario.limits import (
    bounded_cpu_milli,
    bounded_duration_ms,
    bounded_gpu_milli,
    bounded_memory_mib,
)

Check = Callable[[Any], None]
LONGEST_SHOWN: Final = 60
AMOUNTS: Final = "gpus, cpu, memory"


class Wrong(Exception):
    """A value is not what it must be. `place` begins with a dot or a bracket; "" is the value itself."""

    def __init__(self, place: str, value: object, allowed: str) -> None:
        self.place, self.value, self.allowed = place, value, allowed
        super().__init__(f"{place} {value}: {allowed}")


def shown(value: object) -> str:
    """The value as JSON says it, cut if it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def read_by(reader: Callable[[Any], object]) -> Check:
    """What this reader can read: it raises Unreadable or Refused."""

    def check(value: Any) -> None:
        try:
            reader(value)
        except Unreadable as error:
            raise Wrong("", value, str(error)) from None
        except Refused as refused:
            raise Wrong("", value, f"{refused.message} [{refused.rule}]") from None

    return check


def text(most: int, least: int = 0) -> Check:
    says = f"must be a text of {f'{least} to' if least else 'at most'} {most} characters"

    def check(value: Any) -> None:
        if not isinstance(value, str) or not least <= len(value) <= most:
            raise Wrong("", value, says)

    return check


def name(value: Any) -> None:
    if not isinstance(value, str):
        raise Wrong("", value, "must be a name; if a text is meant, put it in quotes")
    read_by(lambda said: check_name("name", said))(value)


flag: Final = read_by(as_flag)
gpus: Final = read_by(bounded_gpu_milli)
cpu: Final = read_by(bounded_cpu_milli)
memory: Final = read_by(bounded_memory_mib)
duration: Final = read_by(bounded_duration_ms)


def whole(least: int, most: int) -> Check:
    def check(value: Any) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise Wrong("", value, f"must be a whole number, {least} to {most}")

    return check


def one_of(*words: str) -> Check:
    def check(value: Any) -> None:
        if not isinstance(value, str) or value not in words:
            raise Wrong("", value, f"must be one of {', '.join(words)}")

    return check


def priority(value: Any) -> None:
    """A priority, after names have become numbers (W6)."""
    if (
        not isinstance(value, int)
        or isinstance(value, bool)
        or not LOWEST_PRIORITY <= value <= HIGHEST_PRIORITY
    ):
        raise Wrong("", value, "must be a priority, 1 to 9, or the name of one")


def priorities(value: Any) -> None:
    """One priority or one range, after names have become numbers (W6)."""
    if not isinstance(value, int | str) or isinstance(value, bool):
        raise Wrong("", value, "must be one priority or a range such as 6-9, or names of priorities")
    read_by(lambda said: parse_priorities("priorities", said))(value)


def amounts(value: Any) -> None:
    if isinstance(value, dict):
        _AMOUNTS(value)
        return
    try:
        bounded_gpu_milli(value)
        example = shown(value)
    except Unreadable:
        example = "8"
    raise Wrong("", value, f"must be a table with some of {AMOUNTS}, such as {{gpus: {example}}}")


def or_none(check: Check) -> Check:
    def checked(value: Any) -> None:
        if value is not None:
            check(value)

    return checked


def table(fields: Mapping[str, Check], needed: tuple[str, ...] = ()) -> Check:
    allowed = ", ".join(fields)

    def check(value: Any) -> None:
        if not isinstance(value, dict):
            raise Wrong("", value, f"must be a table with some of {allowed}")
        for key, inner in value.items():
            if key not in fields:
                raise Wrong(f".{key}", inner, f"no such field; allowed: {allowed}")
            _inside(f".{key}", fields[key], inner)
        for key in needed:
            if key not in value:
                raise Wrong(f".{key}", None, "is missing")

    return check


def table_of(key_check: Check, check: Check, such_as: str, least: int = 0, most: int | None = None) -> Check:
    """A table whose keys are free."""

    def checked(value: Any) -> None:
        if not isinstance(value, dict) or len(value) < least or (most is not None and len(value) > most):
            size = "" if most is None else f" of at most {most} entries"
            raise Wrong("", value, f"must be a table{size}, such as {such_as}")
        for key, inner in value.items():
            _inside(f".{key}", key_check, key)
            _inside(f".{key}", check, inner)

    return checked


def list_of(check: Check, such_as: str, least: int = 0, most: int | None = None) -> Check:
    def checked(value: Any) -> None:
        if not isinstance(value, list) or len(value) < least or (most is not None and len(value) > most):
            size = "" if most is None else f" of {least} to {most} entries"
            raise Wrong("", value, f"must be a list{size}, such as {such_as}")
        for number, inner in enumerate(value):
            _inside(f"[{number}]", check, inner)

    return checked


def _inside(place: str, check: Check, value: Any) -> None:
    try:
        check(value)
    except Wrong as wrong:
        raise Wrong(place + wrong.place, wrong.value, wrong.allowed) from None


_AMOUNTS: Final = table(
    {
        "gpus": or_none(gpus),
        "cpu": or_none(cpu),
        "memory": or_none(memory),
    }
)
labels: Final = table_of(text(253, 1), text(253), "{rack: r1}")
