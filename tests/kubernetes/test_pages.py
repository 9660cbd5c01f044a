"""What a reader types from the pages about Kubernetes works: their blocks are run as they stand, in order, on a real control plane."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.test_pages import DOCS, FENCE
from tests.kubernetes.binary import program
from tests.kubernetes.processes import until
from tests.kubernetes.story import Story

SHELL_SECONDS = 90


class Reader:
    """Types what a page prints, as an admin of the cluster who is logged in to the server."""

    def __init__(self, told: Story, home: Path) -> None:
        self._told = told
        self._home = home
        for name, command in (
            ("quotatree", f"{sys.executable} -m quotatree"),
            ("kubectl", f"{program()} kubectl"),
        ):
            tool = home / "bin" / name
            tool.parent.mkdir(exist_ok=True)
            tool.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
            tool.chmod(0o755)

    def types(self, page: str) -> list[tuple[str, str]]:
        """All blocks of a page that are shell, each with what it printed; a block that is YAML and begins with a name is a file."""
        printed = []
        for language, block in FENCE.findall((DOCS / "how-to" / page).read_text(encoding="utf-8")):
            if language == "yaml":
                name, _, text = block.partition("\n")
                if name.startswith("# "):
                    (self._home / name.removeprefix("# ")).write_text(text)
            elif language == "sh":
                printed.append((block, self._run(block)))
        return printed

    def _run(self, block: str) -> str:
        server, kubeconfig = self._told.server, str(self._told.cluster.kubeconfig)
        environment = {
            **os.environ, "PATH": f"{self._home / 'bin'}:{os.environ['PATH']}", "KUBECONFIG": kubeconfig, "LC_ALL": "C.UTF-8",
            "QUOTATREE_URL": server.url, "QUOTATREE_TOKEN": server.token, "XDG_CONFIG_HOME": str(self._home / "config"),
        }  # fmt: skip
        done = subprocess.run(
            ["bash", "-euc", block], cwd=self._home, env=environment, capture_output=True, text=True, timeout=SHELL_SECONDS, check=False
        )  # fmt: skip
        assert done.returncode == 0, f"{block}\n--- printed\n{done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture
def reader(story: Callable[..., Story], tmp_path: Path) -> tuple[Story, Reader]:
    told = story(nodes=4)
    home = tmp_path / "reader"
    home.mkdir()
    return told, Reader(told, home)


def test_kubectl_jobs_are_brought_as_the_page_says(reader: tuple[Story, Reader]):
    told, types = reader
    printed = dict(types.types("bring-your-kubectl-jobs.md"))
    tables = [text for block, text in printed.items() if "kubectl get quotas" in block]
    assert [line.split()[:3] for line in tables[0].splitlines() if line.startswith("vision")] == [
        ["vision-train", "company", "32"]
    ]
    pods = "/api/v1/namespaces/team-vision/pods"

    def running() -> int:
        return sum(one["status"].get("phase") == "Running" for one in told.cluster.api.items(pods))

    until(lambda: running() == 4, "all four pods of the Job run")
    for pod in told.cluster.api.items(pods):
        told.play(pod, leaves_after="0s")
    told.cluster.kubectl("delete", "job", "train", "-n", "team-vision")
    until(
        lambda: not [one for one in told.server.client.jobs.list() if one["phase"] == "Running"],
        "its job too",
    )
    told.cluster.kubectl("delete", "workspace/vision", "quota/vision-train", "quota/company")


def test_a_program_is_submitted_as_the_page_says(reader: tuple[Story, Reader]):
    told, types = reader
    types.types("run-on-kubernetes.md")
    (job,) = told.server.client.jobs.list()
    told.runs(job["id"])
    assert {one["metadata"]["namespace"] for one in told.pods()} == {"quotatree-research"}


def test_a_restart_has_nothing_to_say_about_the_priority_class(story: Callable[..., Story]):
    told = story()
    told.server.stop()
    told.server.start()
    assert "priority_class" not in told.server.output()
