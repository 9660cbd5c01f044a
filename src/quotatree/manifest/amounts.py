"""Amounts and times as people write them in files: as numbers that can be compared, and as text again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quotatree.manifest.errors import WrongManifest
from quotatree.scenario.amounts import Unreadable, as_duration_ms, as_memory_mib


def mib(value: object) -> float:
    """An amount of memory in MiB: "64Gi" -> 65536. Raises WrongManifest if it cannot be read."""
    try:
        return float(as_memory_mib(value))
    except Unreadable as error:
        raise WrongManifest(f"memory {value}: {error}") from None


def milliseconds(value: object) -> int:
    """A duration in milliseconds: "1h30m" -> 5400000. Raises WrongManifest if it cannot be read."""
    try:
        return as_duration_ms(value)
    except Unreadable as error:
        raise WrongManifest(f"{value}: {error}") from None


def plain(size: Mapping[str, Any]) -> dict[str, float]:
    """Return the amounts that are named as numbers, memory in MiB: 64Gi and 65536Mi compare as equal."""
    return {
        name: mib(value) if name == "memory" else float(value)
        for name, value in size.items()
        if value is not None
    }


def amount(of: Mapping[str, Any]) -> str:
    """An amount as text, without what it does not bound: 8 GPU, 16 CPU, 64Gi."""
    parts = []
    if of.get("gpus") is not None:
        parts.append(f"{of['gpus']:g} GPU")
    if of.get("cpu") is not None:
        parts.append(f"{of['cpu']:g} CPU")
    if of.get("memory") is not None:
        parts.append(str(of["memory"]))
    return ", ".join(parts)
