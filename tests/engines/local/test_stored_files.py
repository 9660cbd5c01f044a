"""Supervisors outlive an upgrade of the server: the files between them, and what a proxy is told, stay as they are.

The files of `golden/` are what today's server and supervisors write. A later server reads them, and writes orders that a
supervisor of today obeys.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

import quotatree.engines.local
from quotatree.core.model.job import JobId, Shape
from quotatree.core.model.policy import Module
from quotatree.engines.base import (
    Checkpointed,
    Confirmed,
    Endpoint,
    Exited,
    Idled,
    Left,
    Lost,
    Outcome,
    ReplicaOrder,
    Report,
    RestartOrder,
    StartOrder,
    StopOrder,
    Unready,
)
from quotatree.engines.local.files import journal
from quotatree.engines.local.files.layout import EngineDir, RunDir, segment_name
from quotatree.engines.local.host.environment import MARK, mark
from quotatree.engines.local.host.users import User
from quotatree.engines.local.proxy.backends import Backend, Backends, Health
from quotatree.engines.local.proxy.process import obey
from quotatree.engines.local.server import disk_use
from quotatree.engines.local.server.birth import write_spec
from quotatree.engines.local.server.disk_use import Held
from quotatree.engines.local.server.engine import LocalEngine
from quotatree.engines.local.server.known import _HEARERS, KnownRun, read_run
from quotatree.engines.local.server.orders import specification
from quotatree.engines.local.server.premises import Premises
from quotatree.engines.local.server.program import parse
from quotatree.engines.local.supervisor.address import Kept
from quotatree.engines.local.supervisor.proxy_link import CODE

GOLDEN: Final = Path(__file__).parent / "golden"
SOURCE: Final = Path(quotatree.engines.local.__file__).parent
KEY: Final = (JobId("eas/1"), 2)
REPLICAS: Final = (
    ReplicaOrder(0, "n1", (0, 1), Shape(2_000, 16_000, 131_072)),
    ReplicaOrder(1, "n1", (), Shape(0, 1_000, 1_024)),
)
PROGRAM: Final = {
    "command": ["serve", "--port", "{port}"],
    "workdir": "/",
    "env": {"LEVEL": "3"},
    "secrets": {"KEY": "s3cret"},
    "backoff_seconds": 2.0,
    "max_seconds": 86_400.0,
    "port": 8_080,
    "service_port": 8_000,
    "health": {"path": "/healthz", "interval_seconds": 0.5, "timeout_seconds": 1.5},
    "log_mib": 20,
}
NOTEBOOK: Final = {
    "command": "notebook",
    "idle_stop": {"minutes": 30.0, "cpu_percent": 2.0, "gpu_percent": 3.0},
}


@pytest.fixture
def engine(tmp_path: Path) -> LocalEngine:
    """On a directory that another server left, not opened: nothing is started or cleared away."""
    shutil.copy(GOLDEN / "engine.json", tmp_path / "engine.json")
    return LocalEngine(tmp_path, run_as="root")


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    found = EngineDir(tmp_path).run(*KEY)
    shutil.copytree(GOLDEN / "run", found.path)
    return found


def test_a_run_that_an_older_server_began_is_read(run: RunDir) -> None:
    known = read_run(run)
    assert known is not None
    assert known.key == KEY
    assert known.module is Module.EAS
    assert known.replicas == {0}
    assert known.confirmed == {0}
    assert known.ready == set()
    hangs = Unready(0, 1_700_000_000_010, "exit code 1")
    assert known.endpoint == Endpoint("http://127.0.0.1:10042/", "t0ken", 0, None, (hangs,))
    assert known.notices == ["limits cannot be kept"]
    assert known.supervisor is not None
    assert known.supervisor.fields() == {"pid": 4711, "started": 123456, "boot": "b007"}
    assert known.processes[1].fields() == {"pid": 4713, "started": 123458, "boot": "b007"}
    assert known.groups == {0: ["/sys/fs/cgroup/quotatree/a"], 1: []}


def test_a_training_run_that_is_tried_again_is_read(run: RunDir) -> None:
    known = KnownRun(*KEY, Module.DLC, run, {0, 1})
    assert known.hear({"is": "restarting", "replica": None, "detail": "exit code 1", "in_seconds": 1}) == []
    assert known.unready == {}


def test_what_an_older_supervisor_tells_is_understood(run: RunDir) -> None:
    known = KnownRun(*KEY, Module.EAS, run, {0, 1})
    assert known.read_on() == [
        Confirmed(*KEY, (0, 1)),
        Checkpointed(*KEY),
        Idled(*KEY, "no cell ran for 30 minutes"),
        Left(*KEY, (1,)),
    ]


@pytest.mark.parametrize(
    ("line", "report"),
    [
        (0, Exited(*KEY, Outcome.SUCCEEDED)),
        (1, Exited(*KEY, Outcome.FAILED, "replica 0 exit code 1")),
        (2, Lost(*KEY, (0,), "its supervisor was killed")),
        (3, Lost(*KEY, (0,), "ordered when the run was over")),
    ],
)
def test_how_an_older_supervisor_ends_is_understood(run: RunDir, line: int, report: Report) -> None:
    known = KnownRun(*KEY, Module.EAS, run, {0})
    assert known.hear(lines("run/ends")[line]) == [report]
    assert known.over


def test_orders_are_written_as_older_supervisors_read_them(
    engine: LocalEngine, run: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(run.orders).unlink()
    engine._runs[KEY] = KnownRun(*KEY, Module.EAS, run)
    engine.start(StartOrder(*KEY, Module.EAS, REPLICAS, PROGRAM, 30_000))
    engine.stop(StopOrder(*KEY, 30_000))
    engine.restart(RestartOrder(*KEY, "again-1"))
    engine._runs[KEY].replicas = {0}
    monkeypatch.setattr(disk_use, "held", lambda *_: Held(3 * 2**20))
    engine.end_large_jobs(2)
    written = Path(run.orders).read_text(encoding="utf-8")
    assert re.sub(r'"at_ms":\d{13}', '"at_ms":1700000000000', written) == golden_text("run/orders")


ANN = User("ann", 1000, 1000, "/home/ann")


@pytest.mark.parametrize(
    ("file", "module", "program"), [("run/spec.json", Module.EAS, PROGRAM), ("notebook.json", Module.DSW, NOTEBOOK)]
)  # fmt: skip
def test_what_is_to_run_is_written_as_supervisors_read_it(
    run: RunDir, file: str, module: Module, program: dict[str, Any]
) -> None:
    order = StartOrder(*KEY, module, REPLICAS, program, 30_000)
    spec = specification("0123456789abcdef", order, ANN, limits=True, apart=False)
    assert spec["source"] == str(SOURCE.parents[2])
    spec["source"] = "/usr/lib/quotatree"
    if module is Module.DSW:
        spec["token"] = "t0ken"
    write_spec(run, {**spec, "program": parse(program, module).public()}, [])
    assert Path(run.spec).read_text(encoding="utf-8") == golden_text(file)


def test_the_name_of_an_engine_and_the_address_of_a_service_are_kept(tmp_path: Path) -> None:
    for name in ("engine.json", "service.json"):
        shutil.copy(GOLDEN / name, tmp_path / name)
    assert Premises(tmp_path, "root").engine_id == "0123456789abcdef"
    kept = Kept(str(tmp_path / "service.json"))
    assert (kept.port, kept.token) == (10_042, "t0ken")
    kept.save()
    assert (tmp_path / "service.json").read_text(encoding="utf-8") == golden_text("service.json")


def test_everything_lies_where_it_always_lay() -> None:
    home = EngineDir("/e")
    job, run = home.job("eas/1"), home.run("eas/1", 2)
    assert [home.engine_file, home.wake] == ["/e/engine.json", "/e/wake"]
    assert [job.work, job.checkpoints, job.checkpoint_file, job.service_file] == [
        "/e/jobs/eas%2F1/work",
        "/e/jobs/eas%2F1/checkpoints",
        "/e/jobs/eas%2F1/checkpoints/.checkpointed",
        "/e/jobs/eas%2F1/service.json",
    ]
    at = "/e/jobs/eas%2F1/runs/2"
    assert [run.spec, run.orders, run.journal, run.lock, run.crash, run.forgotten] == [
        f"{at}/{name}" for name in ("spec.json", "orders", "journal", "lock", "crash", "forgotten")
    ]
    assert (run.replica_logs(1), segment_name(4096)) == (f"{at}/logs/1", "00000000000000004096.log")


def test_processes_are_marked_as_they_always_were() -> None:
    assert (MARK, mark("0123", "eas/1", 2)) == ("QUOTATREE_MARK", "0123:eas/1:2:")
    assert mark("0123", "eas/1", 2, 1) == "0123:eas/1:2:1"


# -- a proxy of the new version under an old supervisor --------------------------------------------------------------


def test_a_proxy_is_found_where_older_supervisors_look_for_it() -> None:
    """The names by which supervisors of any version start one."""
    names = ("quotatree.engines.local.proxy", "quotatree.engines.local.proxy.process")
    for name in names:
        assert callable(importlib.import_module(name).main)
    assert any(f"from {name} import main" in CODE for name in names)


def test_a_proxy_understands_an_older_supervisor() -> None:
    said = json.loads(golden_text("proxy.json"))
    assert set(said["options"]) == {"listen", "health", "user"}
    assert Health(**said["options"]["health"]) == Health("/healthz", 0.5, 1.5)
    heard = Heard()
    for order in said["orders"]:
        obey(heard, order)  # type: ignore[arg-type]
    assert heard.calls == [("add", "0.1", 10_101), ("drain", "0.1"), ("remove", "0.1"), ("hold", 30.0)]


def test_a_proxy_tells_what_older_supervisors_understand() -> None:
    told: list[dict[str, Any]] = []
    backends = Backends(Health(), told.append)
    backend = backends._all["0.1"] = Backend("0.1", 10_101)
    backends._set_ready(backend, True)
    backends._set_ready(backend, False, "answers 503")
    backends.drain("0.1")
    assert told == json.loads(golden_text("proxy.json"))["told"]


class Heard:
    """Backends that only note what they were told."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *args: self.calls.append((name, *args))


# -- nothing is forgotten --------------------------------------------------------------------------------------------


def test_every_line_that_is_written_or_read_is_in_a_golden_file() -> None:
    """Lines are literal dicts in the sources: of those with "is" or "do", the golden files have the same keys."""
    golden: dict[tuple[str, str], set[str]] = {}
    for name, word in (("run/journal", "is"), ("run/ends", "is"), ("run/orders", "do")):
        for line in lines(name):
            golden.setdefault((word, line[word]), set()).update(line)
    assert {("is", kind) for kind in _HEARERS} <= set(golden)
    written = literal_lines()
    assert len(written) > 10
    unknown = [(kind, keys) for kind, keys in written if not keys <= golden.get(kind, set())]
    assert unknown == []


def literal_lines() -> list[tuple[tuple[str, str], set[str]]]:
    """What each line says it is, and its keys, as far as they are written out."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Dict):
                said = {text(key): text(value) for key, value in zip(node.keys, node.values, strict=True)}
                keys = set(said) - {""}
                found += [((word, said[word]), keys) for word in ("is", "do") if said.get(word)]
    return found


def text(node: ast.expr | None) -> str:
    """Of a literal text; empty for all else."""
    return str(node.value) if isinstance(node, ast.Constant) else ""


def lines(name: str) -> list[dict[str, Any]]:
    return journal.read(str(GOLDEN / name))[0]


def golden_text(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8")
