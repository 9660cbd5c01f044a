"""What-if runs over HTTP: who may, what comes out, and that nothing is changed (X3)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.serving import Api, wait_for


@pytest.fixture
def busy(api: Api) -> Api:
    """Two teams have run some jobs; one of them is over, and one waits."""
    done = api.submit(gpus=2, seconds=0.01)
    api.wait_phase(done, "Succeeded")
    for user, workspace, quota in (("ann", "vision", "a"), ("eve", "speech", "b")):
        api.wait_phase(api.submit(user, workspace=workspace, quota=quota, gpus=3), "Running")
    api.submit(gpus=4, priority=6)
    return api


def asked(api: Api, *changes: Any, **more: Any) -> dict[str, Any]:
    return {
        "quota": "team", "from_ms": api.services.clock() - 3_600_000, "before_ms": api.services.clock() + 1,
        "variants": [{"name": "now"}, {"name": "other", "changes": list(changes)}], **more,
    }  # fmt: skip


SCALED = {"change": "transfer", "source": "b", "target": "a", "amount": {"gpus": 1}, "mode": "lazy"}


def test_a_stretch_of_history_is_replayed_with_another_tree_beside_the_present_one(busy: Api):
    before = busy.get("/quotas").json()
    made = busy.post("/simulations", asked(busy, SCALED), "quinn")
    assert made.status_code == 201, made.text
    where = f"/simulations/{made.json()['id']}"
    wait_for(lambda: busy.get(where, "quinn").json()["ended_ms"], 60)
    found = busy.get(where, "quinn").json()
    assert (found["state"], found["error"], found["jobs"]) == ("done", None, 3)
    assert found["skipped"] == ["1 jobs: have not run"]
    assert [one["name"] for one in found["variants"]] == ["now", "other"]
    for one in found["variants"]:
        assert (one["result"]["complete"], one["result"]["overall"]["done"]) == (True, 3)
        assert set(one["result"]["by_quota"]) == {"a", "b"}
        series = one["result"]["series"]
        assert len(series["at_ms"]) == len(series["running"]) == len(series["by_quota"]["a"])
    assert busy.get("/quotas").json() == before
    (listed,) = busy.get("/simulations", "quinn").json()["items"]
    assert (listed["id"], listed["variants"][0]["result"]) == (found["id"], None)
    assert busy.ask("DELETE", f"/api/v1{where}", "quinn").status_code == 200
    assert busy.get(where, "quinn").status_code == 404


def test_only_who_has_the_tree_may_and_only_with_the_rights_for_the_changes(busy: Api):
    """W2: a simulation tells about all teams of a tree, and a change needs the right to make it."""
    for user, status in (("ann", 404), ("eve", 404), ("out", 404)):
        assert busy.post("/simulations", asked(busy), user).status_code == status, user
    not_root = busy.post("/simulations", asked(busy, quota="a"))
    assert (not_root.status_code, not_root.json()["rule"]) == (422, "Q1")
    larger = {"change": "scale", "quota": "team", "draws": {"p": {"gpus": 4}}, "mode": "lazy"}
    assert busy.post("/simulations", asked(busy, larger), "quinn").status_code == 403
    refused = busy.post("/simulations", asked(busy, {**SCALED, "amount": {"gpus": 9}}))
    assert (refused.status_code, refused.json()["code"]) == (422, "Refused")
    assert busy.get("/simulations").json()["items"] == []


def test_a_run_is_for_its_maker_and_for_platform_admins(busy: Api):
    made = busy.post("/simulations", asked(busy), "quinn").json()["id"]
    assert busy.get(f"/simulations/{made}", "root").status_code == 200
    for user in ("ann", "out"):
        assert busy.get(f"/simulations/{made}", user).status_code == 404
        assert busy.ask("DELETE", f"/api/v1/simulations/{made}", user).status_code == 404
        assert busy.get("/simulations", user).json()["items"] == []
    assert busy.ask("DELETE", f"/api/v1/simulations/{made}").status_code == 200


def test_a_time_without_jobs_and_a_wrong_one_are_refused(busy: Api):
    empty = busy.post("/simulations", asked(busy, from_ms=1, before_ms=2))
    assert (empty.status_code, empty.json()["field"]) == (422, "from_ms")
    assert busy.post("/simulations", asked(busy, from_ms=5, before_ms=5)).status_code == 422
    same = [{"name": "x"}, {"name": "x"}]
    assert busy.post("/simulations", asked(busy, variants=same)).status_code == 422
