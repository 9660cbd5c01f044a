"""How much may be said at most? Readers of amounts and times for requests and apply files, which bound what they take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from quotatree.scenario.amounts import Unreadable, as_cpu_milli, as_duration_ms, as_gpu_milli, as_memory_mib

MOST_GPUS: Final = 1_000_000
MOST_CPUS: Final = 100_000_000
MOST_MIB: Final = 1 << 40
LONGEST_MS: Final = 10 * 366 * 86_400_000
LONGEST_TEXT: Final = 32

Reader = Callable[[object], int]


def _bounded(read: Reader, most: int, says: str) -> Reader:
    def checked(value: object) -> int:
        too_long = isinstance(value, str) and len(value) > LONGEST_TEXT
        found = read(None if too_long else value)  # None is refused with what is allowed
        if found > most:
            raise Unreadable(says)
        return found

    return checked


bounded_gpu_milli: Final = _bounded(as_gpu_milli, MOST_GPUS * 1000, f"must be at most {MOST_GPUS} GPUs")
bounded_cpu_milli: Final = _bounded(as_cpu_milli, MOST_CPUS * 1000, f"must be at most {MOST_CPUS} CPUs")
bounded_memory_mib: Final = _bounded(as_memory_mib, MOST_MIB, "must be at most 1048576Ti")
bounded_duration_ms: Final = _bounded(as_duration_ms, LONGEST_MS, "must be at most ten years")
