"""`snapshot` and `export` against a real server: files that `plan` and `simulate` read."""

from __future__ import annotations

import json

from quotatree.sim.loaders import load_trace
from tests.cli.conftest import Cli


def test_snapshot_and_plan(cli: Cli):
    full = cli.submit("--gpus", "8")
    cli.wait_phase(full, "Running")
    job = cli.submit("--gpus", "8")
    path = str(cli.home / "now.json")
    cli.run("snapshot", "-f", path)
    assert cli.lines("plan", path) == ["nothing to decide"]
    snapshot = json.loads((cli.home / "now.json").read_text())
    for record in snapshot["snapshot"]["jobs"]:
        record.pop("told", None)
    untold = cli.file("untold.json", json.dumps(snapshot))
    assert cli.lines("plan", untold)[1].split()[:2] == ["wait", job]
    assert cli.json("plan", untold)["decisions"][0]["kind"] == "wait"
    cli.run("plan", untold, "--at", "5m", status=2)
    cli.run("snapshot", user="ann", status=4)
    cli.run("plan", cli.file("bad.json", "{}"), status=2)


def test_export_is_a_trace_the_simulator_reads(cli: Cli):
    job = cli.submit(
        "--gpus", "2", "--replicas", "2", "--priority", "4", "--seconds", "0.2", "--checkpoint-interval", "1m"
    )
    cli.wait_phase(job, "Succeeded")
    path = cli.home / "history.csv"
    cli.run("export", str(path), "--workspace", "vision", user="ann")
    found = {one.id: one for one in load_trace(path).jobs}[job]
    assert (found.replicas, found.gpu_milli, found.priority, found.team) == (2, 2000, 4, "vision")
    assert found.checkpoint_interval_ms == 60_000
    # A job of 0.2 s; its time counts from the start the engine confirmed, which is told a little late.
    assert 100 <= found.duration_ms < 5_000
    cli.run("export", "-", "--quota", "search", user="admin", status=2)
