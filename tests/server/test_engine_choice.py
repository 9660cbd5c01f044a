"""Which nodes a server has from one start to the next: declared, found, kept, or let go (R2, R5)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quotatree.api.settings import ServerSettings
from quotatree.core.model.node import NodeSpec
from quotatree.server import engine_choice
from quotatree.server.assembly import Server
from quotatree.store import Store

ROOT = "root" if os.geteuid() == 0 else None
HERE = NodeSpec("this-machine", model="L20", gpus=2, labels=(engine_choice.FOUND_LABEL,))


@pytest.fixture(autouse=True)
def nothing_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine has."""
    monkeypatch.setattr(engine_choice, "_found", tuple)


def start(directory: Path, nodes: str | None, kind: str = "local") -> tuple[dict[str, str], list[str]]:
    """The nodes and their states after one start, and what was said."""
    store = Store.open(str(directory / "quotatree.db"))
    store.migrate()
    settings = ServerSettings(data=directory, engine=kind, nodes=nodes, run_as=ROOT)
    server = Server(store, settings, own_file=True)
    try:
        server.start()
        _, said = server.furnish()
        known = server.controller.ask(engine_choice._nodes).result(60)
        of_nodes = [line for line in said if "can read and stop each other" not in line]
        return {name: state.value for name, (_, state) in known.items()}, of_nodes
    finally:
        server.stop()
        store.close()


def test_virtual_nodes_stay_when_they_are_not_named_again(tmp_path: Path):
    assert start(tmp_path, "2x8:H100") == ({"node-0": "Ready", "node-1": "Ready"}, [])
    assert start(tmp_path, None) == ({"node-0": "Ready", "node-1": "Ready"}, [])


def test_another_declaration_joins_what_is_new_and_drains_what_is_gone(tmp_path: Path):
    """Not lost: a lost node's processes would not be stopped before their jobs run again elsewhere."""
    start(tmp_path, "2x8")
    states, said = start(tmp_path, "1x8")
    assert states == {"node-0": "Ready", "node-1": "Draining"}
    assert said == ["node node-1 is no longer there: draining (quotatree uncordon node-1 if it comes back)"]
    states, said = start(tmp_path, "3x4")
    assert states == {"node-0": "Ready", "node-1": "Draining", "node-2": "Ready"}
    assert [line.split(":")[0] for line in said] == [
        "node node-0 joined with 8 GPU(s) of model GPU and has 4 of model GPU now",
        "node node-1 joined with 8 GPU(s) of model GPU and has 4 of model GPU now",
    ]


def test_several_models_make_a_pool_each(tmp_path: Path):
    assert start(tmp_path, "1x8:H100,1x4:L20") == ({"node-0": "Ready", "node-1": "Ready"}, [])


def test_a_node_that_its_pool_refuses_is_told_and_the_others_join(tmp_path: Path):
    start(tmp_path, "1x8:H100")
    states, said = start(tmp_path, "1x8:A100,1x4:A100,1x8:A100")
    assert states == {"node-0": "Ready"}
    assert said == [
        "node node-0 joined with 8 GPU(s) of model H100 and has 8 of model A100 now: it stays as it joined",
        "node node-1 does not join: model = 'A100': pool default holds H100 nodes; declare it mixed or use another pool [R4]",
        "node node-2 does not join: model = 'A100': pool default holds H100 nodes; declare it mixed or use another pool [R4]",
    ]


def test_a_machine_whose_gpus_are_not_found_any_more_is_drained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patch:
        patch.setattr(engine_choice, "_found", lambda: (HERE,))
        assert start(tmp_path, None) == ({"this-machine": "Ready"}, [])
    assert start(tmp_path, None)[0] == {"this-machine": "Draining"}


def test_a_machine_without_gpus_is_told_what_to_do(tmp_path: Path):
    assert start(tmp_path, None) == ({}, ["no GPU was found here: --nodes 1x8 declares eight virtual ones"])


def test_timers_have_their_nodes_from_the_first_start(tmp_path: Path):
    assert start(tmp_path, "2x8", "timer") == ({"node-0": "Ready", "node-1": "Ready"}, [])
    assert start(tmp_path, "1x8", "timer") == ({"node-0": "Ready", "node-1": "Ready"}, [])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root must say as whom jobs run")
def test_root_must_say_as_whom_jobs_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tests.server.test_engine_choice.ROOT", None)
    _, said = start(tmp_path, "1x8")
    assert ["--run-as USER" in line for line in said] == [True]
