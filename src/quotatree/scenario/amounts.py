"""How does a file write a duration, a number of GPUs, an amount of memory? One small reader for each.

A reader takes the raw TOML value and returns what the core counts in (milliseconds, milli-GPU, milli-CPU, MiB), or
raises Unreadable with what would have been allowed. Table adds the file, the table and the field to the message.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from math import inf, isfinite
from typing import Final, TypeVar

from quotatree.core import HIGHEST_PRIORITY, LOWEST_PRIORITY, WHOLE_GPU, Bounds

ORIGIN_MS: Final = 10_000 * 3_600_000
"""The core's clock at a scenario's time "0s": late enough that "-2h" is not negative."""

_UNIT_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SPAN: Final = re.compile(r"(-?)((?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+)")
_MEMORY: Final = re.compile(r"(\d+(?:\.\d+)?)(Mi|Gi|Ti)")
_UNIT_MIB: Final = {"Mi": 1, "Gi": 1024, "Ti": 1024 * 1024}

E = TypeVar("E", bound=Enum)
T = TypeVar("T")


class Unreadable(Exception):
    """A value is not of the wanted kind; the message says what is allowed. Table turns it into a ScenarioError."""


def as_text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise Unreadable("must be a text")
    return value


def as_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise Unreadable("must be true or false")
    return value


def as_count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Unreadable("must be a whole number, 0 or more")
    return value


def as_priority(value: object) -> int:
    """A number, which the core then holds to be a priority or not: a story may tell that it is refused."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise Unreadable(f"must be a priority, {LOWEST_PRIORITY} to {HIGHEST_PRIORITY}")
    return value


def as_gpu_milli(value: object) -> int:
    """A number of GPUs in milli-GPU: 8 -> 8000, 0.5 -> 500."""
    return _thousandths(value, "must be a number of GPUs such as 8 or 0.5, in steps of 0.001")


def as_cpu_milli(value: object) -> int:
    return _thousandths(value, "must be a number of CPUs such as 16 or 0.5, in steps of 0.001")


def as_gpu_seconds(value: object) -> int:
    """GPU-seconds in the core's unit, milli-GPU x milliseconds."""
    return _thousandths(value, "must be a number of GPU-seconds, in steps of 0.001") * 1000


def as_memory_mib(value: object) -> int:
    """An amount of memory in MiB: "64Gi" -> 65536."""
    found = _MEMORY.fullmatch(value) if isinstance(value, str) else None
    mib = float(found[1]) * _UNIT_MIB[found[2]] if found is not None else inf
    if not isfinite(mib):
        raise Unreadable('must be an amount of memory such as "512Mi", "64Gi" or "2Ti"')
    if mib != int(mib):
        raise Unreadable("must be whole MiB")
    return int(mib)


def as_amounts(value: object) -> Bounds:
    """A number of GPUs, or a table with some of gpus, cpu, memory."""
    if not isinstance(value, dict):
        return Bounds(as_gpu_milli(value))
    read = {"gpus": as_gpu_milli, "cpu": as_cpu_milli, "memory": as_memory_mib}
    if not value or not set(value) <= set(read):
        raise Unreadable("must be a number of GPUs, or a table with some of gpus, cpu, memory")
    return Bounds(*(read[name](value[name]) if name in value else None for name in read))


def as_duration_ms(value: object) -> int:
    """A duration in milliseconds: "90s", "10m", "1h30m"."""
    span_ms = _span_ms(value, 'must be a duration such as "90s", "10m" or "1h30m"')
    if span_ms < 0:
        raise Unreadable("must not be negative")
    return span_ms


def as_moment_ms(value: object) -> int:
    """A time on the core's clock from one relative to the scenario's start: "5m", "-2h"."""
    moment_ms = ORIGIN_MS + _span_ms(value, 'must be a time such as "0s", "5m" or, before the start, "-2h"')
    if moment_ms < 0:
        raise Unreadable("must not be more than 10000 hours before the start")
    return moment_ms


def as_time_ms(value: object) -> int:
    """A time on the core's clock that is not before the scenario's start."""
    moment_ms = as_moment_ms(value)
    if moment_ms < ORIGIN_MS:
        raise Unreadable("must not be before the start, 0s")
    return moment_ms


def as_texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise Unreadable("must be a list of texts")
    return tuple(value)


def as_text_or_texts(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) and value else as_texts(value)


def as_labels(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise Unreadable('must be a table of texts such as {rack = "r1"}')
    return tuple(value.items())


def as_map(read: Callable[[object], T]) -> Callable[[object], tuple[tuple[str, T], ...]]:
    """A reader of a table whose values are all read by `read`."""

    def read_map(value: object) -> tuple[tuple[str, T], ...]:
        if not isinstance(value, dict) or not value:
            raise Unreadable("must be a table with at least one entry")
        return tuple((key, read(item)) for key, item in value.items())

    return read_map


def one_of(kind: type[E]) -> Callable[[object], E]:
    """A reader of the values of an enumeration; it returns the member."""

    def read_member(value: object) -> E:
        for member in kind:
            if member.value == value:
                return member
        raise Unreadable("must be one of " + ", ".join(str(member.value) for member in kind))

    return read_member


def span_text(span_ms: int) -> str:
    """A duration as a file writes it: 90000 -> "1m30s"."""
    sign, left = ("-", -span_ms) if span_ms < 0 else ("", span_ms)
    parts = []
    for unit in ("h", "m", "s", "ms"):
        count, left = divmod(left, _UNIT_MS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return sign + "".join(parts) if parts else "0s"


def moment_text(moment_ms: int) -> str:
    """A time on the core's clock as a file writes it, relative to the scenario's start."""
    return span_text(moment_ms - ORIGIN_MS)


def _span_ms(value: object, allowed: str) -> int:
    found = _SPAN.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise Unreadable(allowed)
    span_ms = sum(float(count) * _UNIT_MS[unit] for count, unit in _PART.findall(found[2]))
    if not isfinite(span_ms):
        raise Unreadable(allowed)
    return -round(span_ms) if found[1] else round(span_ms)


def _thousandths(value: object, allowed: str) -> int:
    if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
        raise Unreadable(allowed)
    if isinstance(value, float) and not isfinite(value * WHOLE_GPU):
        raise Unreadable(allowed)
    milli = round(value * WHOLE_GPU)
    if abs(milli - value * WHOLE_GPU) > 1e-6:
        raise Unreadable(allowed)
    return milli
