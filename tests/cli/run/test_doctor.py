"""`doctor` looks at the machine if jobs are to run on it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.process import run
from tests.store.old import bring_up_to_date, fill


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


def data_and_books(directory: Path, status: int) -> dict[str, tuple[str, str]]:
    """What it says of a database that is there; there is no server."""
    env: dict[str, str | None] = {
        "XDG_CONFIG_HOME": str(directory), "QUOTATREE_URL": "http://127.0.0.1:1", "QUOTATREE_ENGINE": "timer"
    }  # fmt: skip
    answer = run("doctor", "--data", str(directory), "-o", "json", env=env, status=status)
    checks = json.loads(answer.stdout)["checks"]
    return {
        one["check"]: (one["state"], one["detail"]) for one in checks if one["check"] in ("data", "books")
    }


def test_doctor_finds_books_that_an_overlap_of_two_versions_ruined(tmp_path: Path):
    """It said `data ok` of a store with which no server could lead."""
    fill("ruined_by_overlap", f"sqlite:///{tmp_path}/quotatree.db", tmp_path)
    bring_up_to_date(f"sqlite:///{tmp_path}/quotatree.db")
    found = data_and_books(tmp_path, 1)
    assert found["data"][0] == "ok"
    assert found["books"][0] == "bad"
    assert "4 run(s) whose open stretches" in found["books"][1]
    assert "the next start mends it" in found["books"][1]
    run("migrate", "--data", str(tmp_path))
    assert list(data_and_books(tmp_path, 1)) == ["data"]


def test_doctor_says_who_brings_tables_of_an_older_version_up_to_date(tmp_path: Path):
    fill("of_b97389c", f"sqlite:///{tmp_path}/quotatree.db", tmp_path)
    state, detail = data_and_books(tmp_path, 1)["data"]
    assert state == "warning"
    assert "revision 0002" in detail
    assert "quotatree serve" in detail
