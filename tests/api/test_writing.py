"""Two writers never overwrite each other, a repeated create is done once, and PAI's spelling goes in and out."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.api.serving import Api, job


def test_of_two_writers_of_one_version_one_is_told(api: Api):
    """ETag and If-Match on quotas, workspaces, nodes, centres, users."""
    for path, body in (
        ("/quotas/a", {"description": "x"}),
        ("/workspaces/vision", {"description": "x"}),
        ("/users/ann", {"display": "x"}),
    ):
        tag = api.get(path).headers["etag"]
        first = api.ask("PATCH", f"/api/v1{path}", json=body, headers={"If-Match": tag})
        second = api.ask("PATCH", f"/api/v1{path}", json=body, headers={"If-Match": tag})
        assert (first.status_code, second.status_code) == (200, 412), path
        assert first.headers["etag"] == api.get(path).headers["etag"] != tag
        assert second.json()["code"] == "PreconditionFailed"
    tag = api.get("/nodes/n0").headers["etag"]
    states = [
        api.ask("POST", f"/api/v1/nodes/n0/{do}", headers={"If-Match": tag}).status_code
        for do in ("cordon", "drain")
    ]
    assert states == [200, 412]


def test_a_scale_and_a_delete_honour_the_version_too(api: Api):
    tag = api.get("/quotas/b").headers["etag"]
    assert api.post("/quotas/b/scale", {"min": {"gpus": 3}}, headers={"If-Match": tag}).status_code == 200
    assert api.post("/quotas/b/scale", {"min": {"gpus": 2}}, headers={"If-Match": tag}).status_code == 412
    assert api.ask("DELETE", "/api/v1/quotas/b", headers={"If-Match": tag}).status_code == 412
    assert api.get("/quotas/b").json()["min"] == {"gpus": 3}


def test_put_replaces_all_and_so_must_say_what(api: Api):
    path = "/api/v1/workspaces/vision/quotas/a/centre"
    centre = {"longest_run": "1h", "amounts": [{"who": "user:ann", "priorities": "1-5", "gpus": 2}]}
    assert api.ask("PUT", path, json=centre).status_code == 428
    assert api.ask("GET", path).headers["etag"] == '"0"'
    assert api.ask("PUT", path, json=centre, headers={"If-Match": '"0"'}).status_code == 200
    assert api.ask("PUT", path, json=centre, headers={"If-Match": '"0"'}).status_code == 412
    assert api.ask("PUT", path, json=centre, headers={"If-Match": "W/x"}).status_code == 412
    found = api.ask("GET", path).json()
    assert (found["longest_run"], found["amounts"]) == ("1h", centre["amounts"])
    assert api.ask("PUT", path, json={}, headers={"If-Match": "*"}).status_code == 200
    assert api.ask("GET", path).json()["longest_run"] is None


def test_patches_without_a_version_all_get_in(api: Api):
    """Each is read, changed and written back; who came second tries again on the new version."""
    got: list[int] = []

    def patch(number: int) -> None:
        body = {"labels": {f"k{number}": "v"}} if number % 2 else {"description": str(number)}
        got.append(api.ask("PATCH", "/api/v1/quotas/a", json=body).status_code)

    threads = [threading.Thread(target=patch, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [200] * 4
    found = api.get("/quotas/a").json()
    assert found["labels"]
    assert found["description"]


def test_a_patch_leaves_the_rest_and_null_takes_away(api: Api):
    policy = {"high": "6-9", "low": "1-5", "modules": ["DLC"], "scope": "own"}
    api.ask(
        "PATCH",
        "/api/v1/quotas/a",
        json={"self_level": policy, "min_runtime": "10m", "reserved": {"gpus": 1}},
    )
    api.ask("PATCH", "/api/v1/quotas/a", json={"strategy": "fifo"})
    found = api.get("/quotas/a").json()
    assert found["self_level"] == [{**policy, "enabled": True}]
    assert (found["min_runtime"], found["strategy"]) == ("10m", "fifo")
    assert found["reserved"]["gpus"] == 1
    api.ask("PATCH", "/api/v1/quotas/a", json={"self_level": None})
    assert api.get("/quotas/a").json()["self_level"] == []


@pytest.mark.parametrize("path", ["/jobs", "/jobs/batch"])
def test_a_repeated_submit_makes_no_second_job(api: Api, path: str):
    body: Any = job(on_hold=True) if path == "/jobs" else {"jobs": [job(on_hold=True)] * 2}
    key = {"Idempotency-Key": "one"}
    before = len(api.get("/jobs").json()["items"])
    first, again = (api.post(path, body, "ann", headers=key).json() for _ in range(2))
    assert (first.pop("repeated"), again.pop("repeated")) == (False, True)
    assert first == again
    made = 1 if path == "/jobs" else 2
    assert len(api.get("/jobs").json()["items"]) == before + made
    changed = {**body, "priority": 2} if path == "/jobs" else {"jobs": [job()]}
    other = api.post(path, changed, "ann", headers=key)
    assert (other.status_code, other.json()["code"]) == (409, "KeyReused")
    assert api.post(path, body, "pat", headers=key).json()["repeated"] is False  # keys are each user's own


def test_submits_with_one_key_at_the_same_moment_make_one_job(api: Api):
    ids: list[str] = []

    def submit() -> None:
        ids.append(api.post("/jobs", job(), "ann", headers={"Idempotency-Key": "race"}).json()["id"])

    threads = [threading.Thread(target=submit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(ids), len(set(ids))) == (8, 1)


def test_creates_of_everything_can_be_repeated(api: Api):
    made = (
        ("/quotas", {"id": "c", "parent": "team", "min": {"gpus": 0}}),
        ("/workspaces", {"id": "more"}),
        ("/users", {"name": "new"}),
        ("/nodes", {"name": "n9", "pool": "spare"}),
        ("/pools", {"name": "other"}),
    )
    for path, body in made:
        codes = [api.post(path, body, headers={"Idempotency-Key": path}).status_code for _ in range(2)]
        assert codes == [201, 201], path
    for path, body in made[:3]:
        assert api.post(path, body).status_code in (409, 422), path


PAI: dict[str, Any] = {
    "QueueStrategy": "PaiStrategyBalance",
    "SelfQuotaPreemptionConfig": {
        "PreemptorPriorities": [6, 7, 8, 9],
        "PreemptedPriorities": [1, 2, 3],
        "PreemptedProducts": ["DLC", "DSW"],
    },
    "SubQuotaPreemptionConfig": {"PreemptedPriorityUpperBound": 4, "PreemptedProducts": ["DLC"]},
}


def test_policies_go_in_and_out_in_pais_spelling(api: Api):
    put = {"If-Match": "*"}
    path = "/api/v1/quotas/a/policies"
    assert api.ask("PUT", path, json=PAI, headers=put).status_code == 200
    shown = {**PAI, "EnableSelfQuotaPreemption": True, "EnableSubQuotaPreemption": True}
    assert api.ask("GET", f"{path}?spelling=pai").json() == shown
    assert api.ask("GET", path).json() == {
        "strategy": "balance",
        "self_level": [
            {"high": "6-9", "low": "1-3", "modules": ["DLC", "DSW"], "scope": "level", "enabled": True}
        ],
        "child_level": {"priorities": "1-4", "modules": ["DLC"], "enabled": True},
    }
    gap = {
        **PAI,
        "SelfQuotaPreemptionConfig": {**PAI["SelfQuotaPreemptionConfig"], "PreemptorPriorities": [6, 8]},
    }
    assert api.ask("PUT", path, json=gap, headers=put).status_code == 200
    assert [one["high"] for one in api.ask("GET", path).json()["self_level"]] == ["6", "8"]
    assert (
        api.ask("GET", f"{path}?spelling=pai").json()["SelfQuotaPreemptionConfig"]
        == gap["SelfQuotaPreemptionConfig"]
    )
    own = {"self_level": {"high": "6-9", "low": "1-5", "scope": "own"}}
    assert api.ask("PUT", path, json=own, headers=put).status_code == 200
    assert api.ask("GET", f"{path}?spelling=pai").json()["field"] == "self_level.scope"
    assert api.ask("PUT", path, json={**own, "QueueStrategy": "x"}, headers=put).status_code == 422
    several = {"self_level": [{"high": "8-9", "low": "1-7"}, {"high": "5-7", "low": "1-2"}]}
    assert api.ask("PUT", path, json=several, headers=put).status_code == 200
    assert api.ask("GET", f"{path}?spelling=pai").json()["rule"] == "P1"


def test_a_weight_and_fair_borrowing_are_kept_and_taken_away(api: Api):
    """S6: null is the min."""
    assert (api.get("/quotas/a").json()["weight"], api.get("/quotas/a").json()["fair_idle"]) == (None, False)
    api.ask("PATCH", "/api/v1/quotas/a", json={"weight": {"gpus": 48, "memory": "64Gi"}, "fair_idle": True})
    found = api.get("/quotas/a").json()
    assert (found["weight"], found["fair_idle"]) == ({"gpus": 48, "memory": "64Gi"}, True)
    assert api.ask("PATCH", "/api/v1/quotas/a", json={"weight": {"gpus": -1}}).status_code == 422
    api.ask("PATCH", "/api/v1/quotas/a", json={"weight": {}, "fair_idle": False})
    assert api.get("/quotas/a").json()["weight"] is None


def test_a_policy_is_switched_without_its_settings(api: Api):
    """P1, P2: on, off, several, and a clear refusal of everything else."""
    api.ask("PATCH", "/api/v1/quotas/a", json={"self_level": True, "child_level": {}})
    found = api.get("/quotas/a").json()
    usual = {"high": "6-9", "low": "1-5", "modules": ["DLC", "DSW"], "scope": "level", "enabled": True}
    assert found["self_level"] == [usual]
    assert found["child_level"] == {"priorities": "1-9", "modules": ["DLC", "DSW"], "enabled": True}
    api.ask("PATCH", "/api/v1/quotas/a", json={"self_level": "off", "EnableSubQuotaPreemption": False})
    found = api.get("/quotas/a").json()
    assert found["self_level"] == [{**usual, "enabled": False}]
    assert found["child_level"]["enabled"] is False
    said = [{"any": "lower", "scope": "own"}, {"high": 9, "low": "1-3", "modules": ["EAS"], "enabled": False}]
    api.ask("PATCH", "/api/v1/quotas/a", json={"self_level": said})
    assert [one.get("any") for one in api.get("/quotas/a").json()["self_level"]] == ["lower", None]
    for wrong in (1, "yes", [1], {"high": 9}, {"high": {}, "low": 1}):
        refused = api.ask("PATCH", "/api/v1/quotas/a", json={"self_level": wrong})
        assert (refused.status_code, refused.json()["rule"]) == (422, "P1")
