"""Does a notebook still do anything? By the CPU time of all its processes and the use of its GPUs.

A rule names a time and two thresholds; below both for all of that time, the notebook is idle. CPU counts in percent of
one core. What cannot be read does not count: a notebook on declared GPUs is judged by its CPU alone.
"""

from __future__ import annotations

import ctypes
import os

from quotatree.engines.local.host import process_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

LOOKS_PER_PERIOD = 20
LONGEST_PAUSE_SECONDS = 30.0
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


class Rule:
    """Decides from samples when a notebook has been idle for long enough. Pure: it reads no clock and no process."""

    def __init__(self, stop: Mapping[str, Any]) -> None:
        self.seconds = float(stop["minutes"]) * 60
        self._cpu_percent = float(stop.get("cpu_percent", 5))
        self._gpu_percent = float(stop.get("gpu_percent", 5))
        self._since: float | None = None
        self._cpu: tuple[float, float] | None = None

    @property
    def pause_seconds(self) -> float:
        """Seconds between two samples."""
        return min(LONGEST_PAUSE_SECONDS, self.seconds / LOOKS_PER_PERIOD)

    def saw(self, now: float, cpu_seconds: float, gpu_percent: float | None) -> str | None:
        """Take in a sample; return what to report if the notebook was idle for the whole time, else None.

        `now` is in seconds, `cpu_seconds` the total so far; `gpu_percent` None means unknown. Work begins the time anew. An
        idle notebook is reported again after the same time, for a server that was away, or died before it wrote it down.
        """
        before, self._cpu = self._cpu, (now, cpu_seconds)
        if before is None or now <= before[0]:
            return None
        # The time of a process that ended without being waited for is lost, so the total may fall: that is no work.
        percent = max(0.0, cpu_seconds - before[1]) / (now - before[0]) * 100
        if percent > self._cpu_percent or (gpu_percent or 0.0) > self._gpu_percent:
            self._since = None
            return None
        if self._since is None:
            self._since = before[0]
        if now - self._since < self.seconds:
            return None
        self._since = now
        gpus = "" if gpu_percent is None else f" and {self._gpu_percent:g}% of its GPUs"
        return f"used less than {self._cpu_percent:g}% of a core{gpus} for {self.seconds / 60:g} minutes"


def cpu_seconds(roots: Iterable[int]) -> float:
    """CPU time of these processes, all below them, and those of their children that ended and were waited for."""
    return sum(_ticks(process.pid) for process in process_tree.below(roots)) / TICKS_A_SECOND


def _ticks(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            raw = file.read()
    except OSError:
        return 0
    fields = raw[raw.rfind(b")") + 2 :].split()
    return sum(int(field) for field in fields[11:15])  # utime, stime, and both of children waited for


class GpuUse:
    """How busy GPUs are, as the driver's own library tells it."""

    def __init__(self, library: Any = None) -> None:
        self._nvml = library if library is not None else _nvml()

    def percent(self, devices: Sequence[int]) -> float | None:
        """Use of the busiest of these GPUs, in percent; None if it cannot be read."""
        if self._nvml is None or not devices:
            return None
        found = [use for device in devices if (use := self._of(device)) is not None]
        return max(found) if found else None

    def _of(self, device: int) -> float | None:
        handle = ctypes.c_void_p()
        use = (ctypes.c_uint * 2)()  # of the GPU, of its memory
        if self._nvml.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(device), ctypes.byref(handle)):
            return None
        if self._nvml.nvmlDeviceGetUtilizationRates(handle, ctypes.byref(use)):
            return None
        return float(use[0])


def _nvml() -> Any:
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
        return None if library.nvmlInit_v2() else library
    except (OSError, AttributeError):
        return None
