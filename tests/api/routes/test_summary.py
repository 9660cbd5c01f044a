"""The whole at a glance, as far as the reader sees it (Q7, W2)."""

from __future__ import annotations

import time
from typing import Any

import pytest

from quotatree.engines.base import Endpoint, Unready
from tests.api.serving import Api


def modules(summary: dict[str, Any]) -> dict[str, tuple[float, ...]]:
    names = ("running_jobs", "gpus", "idle_gpus", "waiting_jobs", "waiting_gpus")
    return {one["module"]: tuple(one[name] for name in names) for one in summary["modules"]}


def test_each_sees_the_modules_of_their_own_quotas(api: Api):
    running = api.submit(gpus=3)
    api.submit(gpus=4, module="DSW", name="later")
    theirs = api.submit("eve", workspace="speech", quota="b", gpus=2, module="EAS")
    for job in (running, theirs):
        api.wait_phase(job, "Running")
    mine = api.get("/summary", "ann").json()
    assert modules(mine) == {"DLC": (1, 3, 0, 0, 0), "DSW": (0, 0, 0, 1, 4), "EAS": (0, 0, 0, 0, 0)}
    assert mine["cluster"] is None
    assert modules(api.get("/summary").json())["EAS"] == (1, 2, 0, 0, 0)
    assert modules(api.get("/summary", "out").json()) == dict.fromkeys(("DLC", "DSW", "EAS"), (0,) * 5)
    assert theirs not in api.get("/summary", "ann").text


def test_attention_is_drawn_to_nodes_quotas_and_jobs_by_who_sees_them(api: Api):
    """Q4: work of the parent stands on what a child could use."""
    api.post("/workspaces", {"id": "top", "owners": ["root"]})
    assert api.ask("PUT", "/api/v1/workspaces/top/quotas/team").status_code == 200
    api.wait_phase(api.submit("root", workspace="top", quota="team", gpus=6), "Running")
    waiting = api.submit(gpus=4, name="mine")
    api.post("/nodes", {"name": "s0", "pool": "spare"})
    api.post("/nodes/s0/cordon")
    whole = api.get("/summary").json()
    assert [(one["kind"], one["quota"] or one["node"], one["gpus"]) for one in whole["attention"]] == [
        ("out-node", "s0", 8), ("squeezed", "a", 2), ("squeezed", "b", 2), ("waiting", "a", 4),
    ]  # fmt: skip
    assert (whole["cluster"]["gpus"], whole["cluster"]["free_gpus"], whole["cluster"]["out_gpus"]) == (
        16,
        2,
        8,
    )
    assert whole["cluster"]["states"] == {"Ready": 1, "Cordoned": 1}
    mine = api.get("/summary", "ann").json()["attention"]
    assert [(one["kind"], one["quota"]) for one in mine] == [("squeezed", "a"), ("waiting", "a")]
    assert (mine[1]["job"], mine[1]["name"]) == (waiting, "mine")
    theirs = api.get("/summary", "eve").json()["attention"]
    assert [(one["kind"], one["quota"]) for one in theirs] == [("squeezed", "b")]


def test_attention_is_drawn_to_a_service_that_does_not_get_ready(api: Api, monkeypatch: pytest.MonkeyPatch):
    """After five minutes, and to those who see the job: before, it may be loading its model."""
    job = api.submit(gpus=1, module="EAS", name="answers")
    api.wait_phase(job, "Running")
    now_ms = time.time_ns() // 1_000_000
    hangs = (Unready(0, now_ms - 720_000, "/health answered 500"), Unready(1, now_ms - 60_000, "it refused"))
    monkeypatch.setattr(api.engine, "endpoint", lambda job, run: Endpoint("http://x/", "", 0, None, hangs))
    (told,) = api.get("/summary", "ann").json()["attention"]
    assert (told["kind"], told["job"], told["since_ms"]) == ("unready-service", job, now_ms - 720_000)
    assert told["text"] == "answers: replica 0 is not ready for 12 min: /health answered 500"
    assert [one["job"] for one in api.get("/summary").json()["attention"]] == [job]
    assert api.get("/summary", "eve").json()["attention"] == []
    assert len(api.get(f"/jobs/{job}/endpoint", "ann").json()["unready"]) == 2
