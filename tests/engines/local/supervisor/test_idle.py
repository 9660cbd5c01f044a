"""When is a notebook idle (P14)? The rule by itself."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from typing import Any

from quotatree.engines.local.supervisor.idle import GpuUse, Rule, cpu_seconds

RULE = {"minutes": 10, "cpu_percent": 5, "gpu_percent": 5}


def told_at(*seen: tuple[int, float, float | None]) -> list[int]:
    """(minute, CPU seconds so far, GPU percent) … -> the minutes at which it was told."""
    rule = Rule(RULE)
    return [minute for minute, cpu, gpu in seen if rule.saw(minute * 60.0, cpu, gpu)]


def test_idle_is_told_when_the_time_is_full_and_again_for_whoever_was_away():
    assert told_at(*((minute, 0.1 * minute, None) for minute in range(30))) == [10, 20]


def test_work_lets_the_time_begin_anew():
    assert told_at(*((minute, 0.0 if minute < 8 else 30.0, None) for minute in range(28))) == [18]


def test_a_busy_gpu_is_work_whatever_the_cpu_does():
    assert told_at(*((minute, 0.0, 90.0) for minute in range(30))) == []


def test_idle_again_after_work_is_told_again():
    assert told_at(*((minute, 0.0 if minute < 15 else 30.0, 0.0) for minute in range(35))) == [10, 25]


def test_cpu_time_of_children_that_ended_counts():
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    code = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {burn!r}]); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert cpu_seconds([process.pid]) >= 0.25  # counted in ticks
        process.kill()


class FakeNvml:
    """Two GPUs as the driver's library would tell of them: device 0 at 7%, device 1 at 63%."""

    def nvmlDeviceGetHandleByIndex_v2(self, index: Any, handle: Any) -> int:  # noqa: N802 — its name
        handle._obj.value = index.value + 1
        return 0 if index.value < 2 else 2

    def nvmlDeviceGetUtilizationRates(self, handle: ctypes.c_void_p, use: Any) -> int:  # noqa: N802 — its name
        use._obj[0] = {1: 7, 2: 63}[handle.value or 0]
        return 0


def test_the_busiest_gpu_counts_and_what_cannot_be_read_does_not():
    gpus = GpuUse(FakeNvml())
    assert gpus.percent([0, 1]) == 63
    assert gpus.percent([0, 9]) == 7
    assert gpus.percent([9]) is None
    assert gpus.percent([]) is None
