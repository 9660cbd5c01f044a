"""Names of priorities over the API, and everywhere a priority may be said (W6)."""

from __future__ import annotations

from tests.api.serving import Api, job

NAMES = {"production": 8, "research": 5, "batch": 2}


def named(api: Api, names: dict[str, int]) -> int:
    return int(api.ask("PUT", "/api/v1/priorities", json={"names": names}).status_code)


def test_a_name_is_taken_wherever_a_number_is(api: Api):
    assert named(api, NAMES) == 200
    made = api.post("/jobs", job(on_hold=True, priority="production"), "ann").json()["id"]
    found = api.get(f"/jobs/{made}").json()
    assert (found["priority"], found["priority_name"]) == (8, "production")
    api.ask("PUT", f"/api/v1/jobs/{made}/priority", json={"priority": "batch"})
    policy = {"high": "production-9", "low": "batch-research"}
    api.ask("PATCH", "/api/v1/quotas/a", json={"self_level": policy, "child_level": {"priorities": "batch"}})
    quota = api.get("/quotas/a").json()
    assert (quota["self_level"][0]["high"], quota["self_level"][0]["low"]) == ("8-9", "2-5")
    assert quota["child_level"]["priorities"] == "2"
    centre = {
        "amounts": [{"who": "role:developer", "priorities": "batch-research", "gpus": 8}],
        "ceilings": [{"who": "role:developer", "priority": "production"}],
    }
    path = "/api/v1/workspaces/vision/quotas/a/centre"
    assert api.ask("PUT", path, json=centre, headers={"If-Match": "*"}).status_code == 200
    kept = api.ask("GET", path).json()
    assert (kept["amounts"][0]["priorities"], kept["ceilings"][0]["priority"]) == ("2-5", 8)
    change = {"change": "update-quota", "quota": "a", "to": {"self_level": policy}}
    assert api.ask("POST", "/api/v1/previews", json={"changes": [change]}).status_code == 200


def test_what_was_submitted_keeps_its_number_when_a_name_changes(api: Api):
    named(api, NAMES)
    made = api.post("/jobs", job(on_hold=True, priority="production"), "ann").json()["id"]
    named(api, {"production": 9})
    found = api.get(f"/jobs/{made}").json()
    assert (found["priority"], found["priority_name"]) == (8, None)
    assert api.get("/priorities").json() == {"names": {"production": 9}}


def test_an_unknown_name_is_refused_with_the_list(api: Api):
    named(api, NAMES)
    refused = api.post("/jobs", job(priority="urgent"), "ann")
    assert (refused.status_code, refused.json()["rule"]) == (422, "W6")
    assert "production (8), research (5), batch (2)" in refused.json()["detail"]
    assert api.ask("PUT", "/api/v1/priorities", json={"names": {"6-9": 8}}).json()["rule"] == "W6"
