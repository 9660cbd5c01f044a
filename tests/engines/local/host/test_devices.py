"""GPUs by NVML: what is found, what counts as ill (a GPU that falls ill is cordoned). NVML itself is a stand-in here."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from quotatree.engines.base import DeviceReport, DeviceUse, Report
from quotatree.engines.local.host.devices import Gpus, HealthWatch, discover
from quotatree.engines.local.server.engine import LocalEngine
from tests.engines.local.harness import until

LOST, NOT_SUPPORTED, TIMEOUT = 15, 3, 10


class NvmlError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(f"error {value}")
        self.value = value


class FakeNvml:
    """Two GPUs that a test makes ill. Names as in the module pynvml."""

    NVMLError = NvmlError
    NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 1
    NVML_VOLATILE_ECC = 0
    nvmlEventTypeXidCriticalError = 8  # noqa: N815

    def __init__(self, names: tuple[str | bytes, ...] = ("NVIDIA H100 80GB HBM3",) * 2) -> None:
        self.names = names
        self.fails: dict[int, int] = {}
        self.ecc: dict[int, int] = {}
        self.busy: dict[int, int] = {}
        self.xids: list[tuple[int, int]] = []
        self.open = 0
        self.driver = True

    def nvmlInit(self) -> None:  # noqa: N802
        if not self.driver:
            raise NvmlError(9)
        self.open += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.open -= 1

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.names)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        return index

    def nvmlDeviceGetIndex(self, handle: int) -> int:  # noqa: N802
        return handle

    def nvmlDeviceGetName(self, handle: int) -> str | bytes:  # noqa: N802
        return self.names[handle]

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> SimpleNamespace:  # noqa: N802
        if handle in self.fails:
            raise NvmlError(self.fails[handle])
        return SimpleNamespace(total=81_920 * 1024 * 1024, used=(handle + 1) * 1024 * 1024)

    def nvmlDeviceGetUtilizationRates(self, handle: int) -> SimpleNamespace:  # noqa: N802
        if handle not in self.busy:
            raise NvmlError(NOT_SUPPORTED)
        return SimpleNamespace(gpu=self.busy[handle])

    def nvmlDeviceGetTotalEccErrors(self, handle: int, kind: int, counter: int) -> int:  # noqa: N802
        assert (kind, counter) == (1, 0)
        if handle not in self.ecc:
            raise NvmlError(NOT_SUPPORTED)
        return self.ecc[handle]

    def nvmlEventSetCreate(self) -> object:  # noqa: N802
        return object()

    def nvmlDeviceRegisterEvents(self, handle: int, kinds: int, events: object) -> None:  # noqa: N802
        assert kinds == 8

    def nvmlEventSetWait_v2(self, events: object, timeout_ms: int) -> SimpleNamespace:  # noqa: N802
        assert timeout_ms == 0, "the engine's thread must not wait for a GPU"
        if not self.xids:
            raise NvmlError(TIMEOUT)
        device, xid = self.xids.pop(0)
        return SimpleNamespace(device=device, eventData=xid)


def test_this_machine_becomes_a_node_with_its_gpus():
    nvml = FakeNvml()
    node = discover(nvml)
    assert node is not None
    assert (node.gpus, node.model, node.labels) == (2, "H100-80GB-HBM3", (("gpu_memory_mib", "81920"),))
    assert node.cpu_milli >= 1000
    assert node.memory_mib > 0
    assert nvml.open == 0, "whoever asks leaves nothing open"


def test_old_bindings_name_models_in_bytes_and_mixed_ones_are_both_named():
    node = discover(FakeNvml((b"Tesla T4", "NVIDIA L20")))
    assert node is not None
    assert node.model == "Tesla-T4+L20"


def test_without_driver_binding_or_gpu_there_is_no_node():
    nvml = FakeNvml()
    nvml.driver = False
    assert discover(nvml) is None
    assert discover(FakeNvml(())) is None


def test_the_first_look_reports_all_and_later_ones_what_changed_or_is_ill():
    nvml = FakeNvml()
    watch = watched(nvml)
    assert watch.look() == [DeviceReport("box", 0, True), DeviceReport("box", 1, True)]
    assert watch.look() == []
    nvml.fails[1] = LOST
    for _ in range(2):
        assert watch.look() == [DeviceReport("box", 1, False, "the driver has lost the GPU")]
    del nvml.fails[1]
    assert watch.look() == [DeviceReport("box", 1, True)]


@pytest.mark.parametrize(
    ("make_ill", "detail"),
    [
        (lambda nvml: nvml.ecc.update({0: 2}), "2 memory errors that could not be corrected"),
        (lambda nvml: nvml.fails.update({0: 16}), "the GPU must be reset"),
        (lambda nvml: nvml.xids.append((0, 79)), "XID 79"),
    ],
)
def test_what_makes_a_gpu_ill(make_ill, detail):
    nvml = FakeNvml()
    watch = watched(nvml)
    watch.look()
    make_ill(nvml)
    assert watch.look() == [DeviceReport("box", 0, False, detail)]


def test_a_program_that_crashes_on_a_gpu_does_not_make_it_ill():
    nvml = FakeNvml()
    watch = watched(nvml)
    watch.look()
    nvml.xids += [(0, 31), (1, 13)]
    assert watch.look() == []


def test_what_the_card_cannot_tell_is_no_illness():
    nvml = FakeNvml()
    nvml.fails[0] = NOT_SUPPORTED
    assert all(report.healthy for report in watched(nvml).look())


def test_a_machine_with_a_lost_gpu_still_becomes_a_node():
    nvml = FakeNvml()
    nvml.fails[0] = LOST
    node = discover(nvml)
    assert node is not None
    assert node.gpus == 2, "the others keep their numbers"


def test_the_engine_tells_of_a_gpu_that_falls_ill(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("quotatree.engines.local.server.engine.HEALTH_SECONDS", 0.01)
    nvml = FakeNvml()
    reports: list[Report] = []
    engine = LocalEngine(tmp_path, health=watched(nvml))
    engine.open(reports.append)
    until(lambda: len(reports) == 2)
    nvml.xids.append((1, 79))
    until(lambda: len(reports) >= 3)
    engine.close()
    assert reports[2] == DeviceReport("box", 1, False, "XID 79")


def test_the_engine_tells_what_gpus_do_as_far_as_they_say(tmp_path: Path):
    nvml = FakeNvml(("A", "A", "A"))
    nvml.busy[0] = 87
    nvml.fails[2] = LOST
    engine = LocalEngine(tmp_path, health=watched(nvml))
    mib = 1024 * 1024
    assert engine.device_uses() == [
        DeviceUse("box", 0, 0.87, mib, 81_920 * mib),
        DeviceUse("box", 1, None, 2 * mib, 81_920 * mib),
    ]
    engine.close()
    virtual = LocalEngine(tmp_path / "virtual")
    assert virtual.device_uses() == []
    virtual.close()


def watched(nvml: FakeNvml) -> HealthWatch:
    gpus = Gpus.open(nvml)
    assert gpus is not None
    return HealthWatch(gpus, gpus.node("box"))
