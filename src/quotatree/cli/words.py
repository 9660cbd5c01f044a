"""How are times, spans, amounts and reasons of an answer written for people?"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

_UNITS: Final = (("d", 86_400), ("h", 3_600), ("m", 60))


def moment(ms: int | None) -> str:
    """A time in UTC, such as 2026-03-01 12:00:05; "" for None."""
    return "" if ms is None else datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def age(ms: int | None, until_ms: int | None = None) -> str:
    """How long from `ms` to `until_ms` (None: now), in at most two units: 45s, 3m20s, 2d4h. "" if
    `ms` is None.
    """
    if ms is None:
        return ""
    end = time.time() * 1000 if until_ms is None else until_ms
    return span(max(0, end - ms) / 1000)


def span(seconds: float) -> str:
    left, parts = int(seconds), []
    for unit, size in _UNITS:
        if left >= size:
            parts.append(f"{left // size}{unit}")
            left %= size
        if len(parts) == 2:
            break
    if len(parts) < 2 and (left or not parts):
        parts.append(f"{left}s")
    return "".join(parts[:2])


def why(reason: Mapping[str, Any]) -> str:
    """A reason as a sentence with its code and the rules behind it: fits nowhere [NoPlacement, P7]."""
    return f"{reason['text']} [{', '.join((reason['code'], *reason['rules']))}]"


def holder_line(holder: Mapping[str, Any], gpus: float) -> str:
    """Who holds capacity: lab: 3 jobs, 1 of them held, 8 GPU, priority 2-8 production."""
    low, high = holder["lowest_priority"], holder["highest_priority"]
    priorities = with_name(high, holder["highest_priority_name"])
    if low != high:
        lowest = holder["lowest_priority_name"]
        priorities = f"{low} {lowest} to {priorities}" if lowest else f"{low}-{priorities}"
    count, held = holder["jobs"], holder["held"]
    kind = "idle " if holder["claim"] == "idle" else "held " if held == count else ""
    jobs = f"{count} {kind}{'job' if count == 1 else 'jobs'}"
    if 0 < held < count:
        jobs += f", {held} of them held"
    return f"{holder['quota']}: {jobs}, {gpus:g} GPU, priority {priorities}"


def gpus(of: Mapping[str, Any]) -> str:
    """The GPUs of an amount; "" if it does not bound them."""
    return f"{of['gpus']:g}" if "gpus" in of else ""


def with_name(priority: int, name: str | None) -> str:
    """A priority with its name, if it has one: 8 production (W6)."""
    return f"{priority} {name}" if name else str(priority)


def devices_text(devices: Sequence[int]) -> str:
    """Which GPUs of the node: " GPU 0,1", or "" if there are none."""
    return f" GPU {','.join(str(one) for one in devices)}" if devices else ""


def gpu_seconds(value: float) -> str:
    return f"{value:,.0f} GPU-s"


def called(job: str, names: Mapping[str, str]) -> str:
    """A job's id with the name that its owner gave it, if you may know it: dlc-8k2m0qz4xa (train)."""
    return f"{job} ({names[job]})" if names.get(job) else job
