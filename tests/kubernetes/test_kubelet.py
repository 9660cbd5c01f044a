"""Containers on a real kubelet: a victim gets its notice, saves in its grace, and goes on from there (P14). Needs root and containerd."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kubernetes.cluster import Cluster
from tests.kubernetes.kubelet import GPUS, IMAGE, real_node
from tests.kubernetes.processes import until
from tests.kubernetes.runtime import missing
from tests.kubernetes.serving import Server
from tests.kubernetes.story import Story

TRAINING = """
trap 'echo $step >/save/checkpoint; echo "notice at $step" >>/save/story; exit 143' TERM
step=$(cat /save/checkpoint 2>/dev/null || echo 0)
echo "begins at $step" >>/save/story
while [ ! -e /save/finish ]; do step=$((step + 1)); sleep 0.1; done
echo "ends at $step" >>/save/story
"""

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


@pytest.fixture
def told(cluster: Cluster, account: Path, tmp_path: Path) -> Iterator[Story]:
    with real_node(cluster):
        server = Server(tmp_path / "server", account)
        server.start()
        found = Story(cluster, server)
        until(lambda: sum(node["gpus"] for node in server.client.nodes.list()) == GPUS, "its GPUs are known")
        yield found
        server.stop()


def test_a_victim_saves_in_its_grace_and_goes_on_where_it_was(told: Story, tmp_path: Path):
    told.tree(GPUS, {}, self_level={"high": "6-9", "low": "1-5"})
    save = tmp_path / "save"
    save.mkdir()
    program = {
        "image": IMAGE,
        "command": TRAINING,
        "volumes": [{"name": "save", "hostPath": {"path": str(save)}}],
        "mounts": [{"name": "save", "mountPath": "/save"}],
    }
    victim = told.submit("training", "root", GPUS, priority=1, grace="20s", program=program)
    told.runs(victim, 120)

    def story() -> list[str]:
        return (save / "story").read_text().splitlines() if (save / "story").exists() else []

    until(lambda: story() == ["begins at 0"], "it begins")
    boss = {"image": IMAGE, "command": "sleep 2"}
    preemptor = told.submit("boss", "root", GPUS, priority=9, program=boss)
    until(lambda: len(story()) > 1, "it got its notice")
    saved = int(story()[1].removeprefix("notice at "))
    assert saved > 0
    told.becomes(preemptor, "Succeeded", 120)
    until(lambda: story()[2:] == [f"begins at {saved}"], "it goes on where it was", 120)
    assert told.job(victim)["preempted"] == 1
    (save / "finish").touch()
    told.becomes(victim, "Succeeded", 120)
    assert story()[-1].startswith("ends at ")
    assert told.broken_promises([victim, preemptor]) == []
