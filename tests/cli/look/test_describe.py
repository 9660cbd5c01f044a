"""`describe` against a real server: everything about one thing."""

from __future__ import annotations

import yaml

from tests.cli.conftest import Cli


def test_describe(cli: Cli):
    job = cli.submit("--gpus", "8", "--name", "big")
    cli.wait_phase(job, "Running")
    text = cli.run("describe", "job", job, user="ann").stdout
    assert "_ms " not in text, "a moment is not told in milliseconds"
    for part in (f"job {job}", "name ", "runs:", "node-", "decisions, newest first:", "start: on node-"):
        assert part in text
    assert "figures:" in cli.run("describe", "quota", "vision").stdout
    assert "ann  developer" in cli.run("describe", "workspace", "vision").stdout
    assert yaml.safe_load(cli.run("describe", "quota", "vision", "-o", "yaml").stdout)["id"] == "vision"
    for noun, name in (("node", "node-0"), ("pool", "default"), ("user", "ann")):
        assert cli.lines("describe", noun, name)[0] == f"{noun} {name}"
