"""`doctor` looks at the machine if jobs are to run on it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.process import run


def test_doctor_looks_at_the_machine_if_jobs_are_to_run_on_it(tmp_path: Path):
    env: dict[str, str | None] = {
        "XDG_CONFIG_HOME": str(tmp_path), "QUOTATREE_URL": "http://127.0.0.1:1", "QUOTATREE_DATA": str(tmp_path / "d"),
        "QUOTATREE_RUN_AS": "no-such-user", "QUOTATREE_CGROUPS": "false",
    }  # fmt: skip
    checks = json.loads(run("doctor", "-o", "json", env=env, status=1).stdout)["checks"]
    found = {one["check"]: (one["state"], one["detail"]) for one in checks}
    assert found["gpus"][0] in ("ok", "warning")
    assert found["run as"][0] == "warning"
    assert "no user no-such-user" in found["run as"][1]
    assert found["limits"] == ("warning", "switched off by the setting cgroups")
    assert "gpus" not in run("doctor", env={**env, "QUOTATREE_ENGINE": "timer"}, status=1).stdout
