"""The wheel takes over from a server of 86fe075: its jobs run on as the same processes, its queue goes on, its books fit.

86fe075 is the last commit before versions waited for each other (ADR 0055). It is taken from this repository's history and run with
this checkout's Python packages.
"""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from quotatree.client import Client
from release.sources import ROOT
from tests.cli.process import Process
from tests.release.conftest import Installed
from tests.store import postgres

OLD = "86fe075"
TREE = {"id": "company", "draws": {"default": {"gpus": 16}}, "child_level": {"priorities": "1-3"}}
TEAM = {"id": "vision", "parent": "company", "min": {"gpus": 16}}
STAYS = "import os, time; open('pid', 'a').write(f'{os.getpid()} '); time.sleep(600)"
NUMBERS = count(1)


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of 86fe075."""
    known = subprocess.run(
        ["git", "cat-file", "-e", f"{OLD}^{{commit}}"], cwd=ROOT, capture_output=True, check=False
    )
    if known.returncode:
        pytest.skip(f"the history here does not reach back to {OLD}: fetch all of it")
    directory = tmp_path_factory.mktemp("old")
    packed = subprocess.run(
        ["git", "archive", OLD, "src", "docs/reference/rules.md"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    subprocess.run(["tar", "-x", "-C", str(directory)], input=packed.stdout, check=True)
    return directory / "src"


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "data" / "quotatree.db")
        return
    home = request.getfixturevalue("postgres_home")
    name = f"release_{next(NUMBERS)}"
    yield postgres.create(home, name)
    postgres.drop(home, name)


def test_jobs_of_86fe075_run_on_under_the_wheel_and_its_queue_goes_on(
    old: Path, installed: Installed, database: str, tmp_path: Path
):
    words = ("--engine", "local", "--nodes", "2x8", "--database", database, "--run-as", _me())
    before = Process(tmp_path / "data", *words, env={"PYTHONPATH": str(old)})
    with before.client(before.token) as admin:
        fill(admin)
        until(lambda: phases(admin) == {"one": "Running", "two": "Running", "three": "Waiting"})
        until(lambda: len(pids(tmp_path)) == 2)
    running, token = pids(tmp_path), before.token
    before.end()

    after = Process(
        tmp_path / "data", *words, env=installed.environment | {"PYTHONPATH": ""}, program=[installed.command]
    )
    try:
        with after.client(token) as admin:
            until(lambda: admin.health()["writable"])
            assert phases(admin) == {"one": "Running", "two": "Running", "three": "Waiting"}
            assert pids(tmp_path) == running, "nothing was started anew"
            (one,) = [job for job in admin.jobs.list() if job["name"] == "one"]
            admin.jobs.cancel(one["id"])
            until(lambda: phases(admin) == {"one": "Cancelled", "two": "Running", "three": "Running"})
            assert pids(tmp_path) > running
            assert {job["run"] for job in admin.jobs.list()} == {1}
            found = installed.run(
                "doctor", "--database", database, "-o", "json", env=after.env(tmp_path, token)
            )
            checks = {one["check"]: one["state"] for one in json.loads(found.stdout)["checks"]}
            assert checks["data"] == "ok"
            assert "books" not in checks
            for job in admin.jobs.list(active=True):
                admin.jobs.cancel(job["id"])
            until(lambda: set(phases(admin).values()) == {"Cancelled"})
    finally:
        after.end()


def fill(admin: Client) -> None:
    """Two jobs that fill the quota, and a third that waits."""
    admin.quotas.create(TREE)  # type: ignore[arg-type]  # literals of this page, checked by the server
    admin.quotas.create(TEAM)  # type: ignore[arg-type]
    admin.workspaces.create({"id": "vision", "owners": ["admin"]})
    admin.workspaces.bind("vision", "vision")
    for name in ("one", "two", "three"):
        admin.jobs.submit(
            {
                "name": name,
                "workspace": "vision",
                "quota": "vision",
                "groups": [{"replicas": 1, "gpus": 8}],
                "grace": "2s",
                "program": {"command": [sys.executable, "-c", STAYS]},
            }
        )


def phases(admin: Client) -> dict[str, str]:
    return {job["name"]: job["phase"] for job in admin.jobs.list()}


def pids(directory: Path) -> set[str]:
    """The processes that the jobs' programs wrote down, each start one."""
    return {pid for path in (directory / "data").rglob("pid") for pid in path.read_text().split()}


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def _me() -> str:
    return pwd.getpwuid(os.getuid()).pw_name
