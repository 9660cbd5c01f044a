"""Which GPUs does this machine have, and are they well? By NVML, through nvidia-ml-py where it is installed.

A GPU is ill when the driver has lost it or wants it reset, when it counted memory errors that could not be corrected
since it was last reset, or when it raised an XID that is not a program's own fault. An XID leaves no lasting trace in the
driver, so that illness lasts until the server is started anew; the others end when NVML no longer shows them.
"""

from __future__ import annotations

import importlib
import os
import re
import socket
from collections import Counter
from typing import Any, Final

from quotatree.core import NodeSpec
from quotatree.engines.base import DeviceReport, DeviceUse

PROGRAM_XIDS: Final = frozenset({13, 31, 43, 45, 68, 109})
"""XIDs that come of a program that did something wrong, or was killed; the GPU itself is fine."""
MIB: Final = 1024 * 1024

# NVML's own error numbers; spelled out because old bindings lack some of the names.
_NOT_SUPPORTED: Final = 3
_GPU_IS_LOST: Final = 15
_RESET_REQUIRED: Final = 16


class Gpus:
    """The GPUs of this machine, numbered as NVML does: by their place on the bus."""

    def __init__(self, nvml: Any) -> None:
        """`nvml` is the module pynvml, initialised."""
        self._nvml = nvml
        self._xids: dict[int, int] = {}
        self._count = int(nvml.nvmlDeviceGetCount())
        self._events = self._listen()

    @staticmethod
    def open(nvml: Any = None) -> Gpus | None:
        """The GPUs of this machine; None where there is no binding, no driver or no GPU."""
        try:
            module = importlib.import_module("pynvml") if nvml is None else nvml
            module.nvmlInit()
        except Exception:  # no module, no library, no driver: all the same to us
            return None
        try:
            found = Gpus(module)
        except module.NVMLError:
            return None
        return found if found._count else None

    def node(self, name: str | None = None, pool: str = "default") -> NodeSpec:
        """This machine as a node."""
        models = Counter(model for index in range(self._count) if (model := self._model(index)))
        sizes_mib = [size for index in range(self._count) if (size := self._memory_mib(index))]
        labels = (("gpu_memory_mib", str(min(sizes_mib))),) if sizes_mib else ()
        return NodeSpec(
            name=name or socket.gethostname(),
            pool=pool,
            model="+".join(models) or "GPU",
            gpus=self._count,
            cpu_milli=(os.cpu_count() or 1) * 1000,
            memory_mib=_memory_mib(),
            labels=labels,
        )

    def illnesses(self) -> dict[int, str]:
        """What is wrong with each GPU that is ill, by index."""
        self._hear_xids()
        found = {}
        for index in range(self._count):
            illness = self._illness(index)
            if illness:
                found[index] = illness
        return found

    def uses(self, node: str) -> list[DeviceUse]:
        """What each GPU does now, as GPUs of this node; one that does not answer is left out."""
        nvml, found = self._nvml, []
        for index in range(self._count):
            try:
                handle = nvml.nvmlDeviceGetHandleByIndex(index)
                memory = nvml.nvmlDeviceGetMemoryInfo(handle)
            except nvml.NVMLError:
                continue
            try:
                busy = int(nvml.nvmlDeviceGetUtilizationRates(handle).gpu) / 100
            except nvml.NVMLError:
                busy = None
            found.append(DeviceUse(node, index, busy, int(memory.used), int(memory.total)))
        return found

    def close(self) -> None:
        self._nvml.nvmlShutdown()

    # -- one GPU -----------------------------------------------------------------------------------------------------

    def _illness(self, index: int) -> str:
        nvml = self._nvml
        try:
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            nvml.nvmlDeviceGetMemoryInfo(handle)
        except nvml.NVMLError as error:
            if error.value != _NOT_SUPPORTED:
                return _in_words(error)
        try:
            errors = nvml.nvmlDeviceGetTotalEccErrors(
                handle, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
            )
        except nvml.NVMLError as error:
            if error.value in (_GPU_IS_LOST, _RESET_REQUIRED):
                return _in_words(error)
            errors = 0  # this model counts none
        if errors:
            return f"{errors} memory errors that could not be corrected"
        xid = self._xids.get(index)
        return "" if xid is None else f"XID {xid}"

    def _model(self, index: int) -> str:
        """Name of the model; "" if the GPU is too ill to tell it."""
        try:
            name = self._nvml.nvmlDeviceGetName(self._nvml.nvmlDeviceGetHandleByIndex(index))
        except self._nvml.NVMLError:
            return ""
        text = name.decode() if isinstance(name, bytes) else str(name)
        return re.sub(r"[^A-Za-z0-9._-]+", "-", text.removeprefix("NVIDIA ")).strip("-")

    def _memory_mib(self, index: int) -> int:
        try:
            handle = self._nvml.nvmlDeviceGetHandleByIndex(index)
            return int(self._nvml.nvmlDeviceGetMemoryInfo(handle).total) // MIB
        except self._nvml.NVMLError:
            return 0

    # -- XIDs --------------------------------------------------------------------------------------------------------

    def _listen(self) -> Any:
        """Subscribe to the XIDs of all GPUs; return the event set, or None where the driver tells no events."""
        nvml = self._nvml
        try:
            events = nvml.nvmlEventSetCreate()
            for index in range(self._count):
                handle = nvml.nvmlDeviceGetHandleByIndex(index)
                nvml.nvmlDeviceRegisterEvents(handle, nvml.nvmlEventTypeXidCriticalError, events)
        except nvml.NVMLError:
            return None
        return events

    def _hear_xids(self) -> None:
        """Note all XIDs since the last call, without waiting for one."""
        nvml = self._nvml
        while self._events is not None:
            try:
                event = nvml.nvmlEventSetWait_v2(self._events, 0)
                xid = int(event.eventData)
                if xid not in PROGRAM_XIDS:
                    self._xids[int(nvml.nvmlDeviceGetIndex(event.device))] = xid
            except nvml.NVMLError:
                return  # most often: nothing more has come


class HealthWatch:
    """Turns what is ill now into reports: of every GPU at first, then of those that changed, and always of the ill ones.

    Ill GPUs are reported each time, because a report that arrives before the node has joined cannot be noted.
    """

    def __init__(self, gpus: Gpus, node: NodeSpec) -> None:
        self._gpus = gpus
        self._node = node
        self._known: dict[int, str] | None = None

    def uses(self) -> list[DeviceUse]:
        return self._gpus.uses(self._node.name)

    def look(self) -> list[DeviceReport]:
        ill = self._gpus.illnesses()
        reports = []
        for index in range(self._node.gpus):
            detail = ill.get(index, "")
            if self._known is None or detail or self._known.get(index):
                reports.append(DeviceReport(self._node.name, index, not detail, detail))
        self._known = ill
        return reports


def discover(nvml: Any = None) -> NodeSpec | None:
    """This machine as a node with its real GPUs; None where there are none."""
    gpus = Gpus.open(nvml)
    if gpus is None:
        return None
    try:
        return gpus.node()
    finally:
        gpus.close()


def _in_words(error: Any) -> str:
    words = {_GPU_IS_LOST: "the driver has lost the GPU", _RESET_REQUIRED: "the GPU must be reset"}
    return words.get(error.value, f"NVML: {error}")


def _memory_mib() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MIB
