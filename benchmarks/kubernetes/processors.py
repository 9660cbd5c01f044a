"""Who used the processors meanwhile? Each part of the row, and everything else on the machine, which the row had to wait for."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

OTHERS = "others"


class Meter:
    """Counts from when it is made. `parts`: processor seconds that each has used since it began."""

    def __init__(self, parts: Mapping[str, Callable[[], float]]) -> None:
        self._parts = parts
        self._before = {name: used() for name, used in parts.items()}
        self._machine = _machine_seconds()

    def spent(self) -> dict[str, float]:
        found = {name: used() - self._before[name] for name, used in self._parts.items()}
        others = _machine_seconds() - self._machine - sum(found.values())
        return {**found, OTHERS: max(0.0, others)}


def _machine_seconds() -> float:
    """Processor seconds that all processes and the kernel have used since the machine started; idle and stolen ones are not."""
    words = Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0].split()
    user, nice, system, _, _, irq, softirq = map(int, words[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
