"""`cordon`, `drain` and `uncordon` against a real server."""

from __future__ import annotations

from tests.cli.conftest import Cli, until


def test_nodes_out_of_use_and_back(cli: Cli):
    job = cli.submit("--gpus", "8", "--requeue")
    cli.wait_phase(job, "Running")
    node = cli.json("get", "job", job)["places"][0]["node"]
    cli.run("cordon", node)
    assert cli.json("get", "node", node)["state"] == "Cordoned"
    assert "no answer" in cli.run("drain", node, status=1).stderr
    cli.run("drain", node, "-y")
    until(lambda: cli.json("get", "job", job)["run"] == 2)
    cli.run("uncordon", node)
    assert cli.json("get", "node", node)["state"] == "Ready"
