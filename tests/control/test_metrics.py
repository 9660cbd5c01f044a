"""Every metric of the server is described, and reason codes are its labels (A2)."""

from pathlib import Path

from quotatree.control.metrics import Metrics
from tests.control.server import Server

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "server.md"


def test_every_metric_is_described():
    page = PAGE.read_text()
    names = set()
    for family in Metrics().registry.collect():
        names.add(f"{family.name}_total" if family.type == "counter" else family.name)
    assert {name for name in names if f"`{name}`" not in page} == set()


def test_decisions_are_counted_by_reason_and_commands_by_outcome(tmp_path: Path):
    server = Server(tmp_path).furnish()
    server.submit()
    registry = server.controller.metrics.registry
    started = {"kind": "Start", "reason": "FitsFree"}
    assert registry.get_sample_value("quotatree_decisions_total", started) == 1
    done = {"command": "SubmitJob", "outcome": "done"}
    assert registry.get_sample_value("quotatree_commands_total", done) == 1
