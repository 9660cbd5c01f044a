"""The tree as somebody sees it: their quotas, what is above them as stubs, and what they may do."""

from __future__ import annotations

from tests.api.serving import Api, wait_for


def test_who_sees_one_quota_sees_what_bounds_it_from_above(api: Api):
    """W2: of an ancestor a member learns its min and what of it is free and unused, and nothing of a sibling."""
    api.submit("eve", workspace="speech", quota="b", gpus=3)
    tree = api.get("/quotas", "ann").json()
    assert [one["id"] for one in tree["items"]] == ["a"]
    assert tree["ancestors"] == [
        {"id": "team", "parent": None, "depth": 1, "min": {"gpus": 8}, "free": {"gpus": 5, "cpu": 0, "memory": "0Gi"},
         "unused": {"gpus": 5}}
    ]  # fmt: skip
    whole = api.get("/quotas").json()
    assert ([one["id"] for one in whole["items"]], whole["ancestors"]) == (["team", "a", "b"], [])
    assert api.get("/quotas", "out").json() == {"items": [], "ancestors": []}


def test_a_quota_says_what_its_reader_may_do_to_it(api: Api):
    """W2: a quota admin may divide what is below their quota, never enlarge the quota itself."""
    own, below, _ = api.get("/quotas", "quinn").json()["items"]
    assert ("scale-quota" in own["allowed"], "create-child-quota" in own["allowed"]) == (False, True)
    assert {"scale-quota", "update-quota", "bind-quota"} <= set(below["allowed"])
    assert api.get("/quotas/a", "ann").json()["allowed"] == ["see-quota", "see-ledger"]
    assert "manage-nodes" in api.get("/whoami").json()["allowed"]
    assert api.get("/whoami", "ann").json()["allowed"] == ["see-pools"]
    assert api.get("/nodes/n0").json()["allowed"] == ["see-nodes", "manage-nodes"]
    assert "manage-members" in api.get("/workspaces/vision", "owen").json()["allowed"]
    assert api.get("/workspaces/vision", "ann").json()["allowed"] == ["see-workspace", "submit-job"]


def test_the_version_of_a_quota_counts_settings_only(api: Api):
    """What runs, waits, or is taken back must not make a save fail (P3, P15)."""
    policy = {"self_level": {"high": "6-9", "low": "1-5"}}
    assert api.ask("PATCH", "/api/v1/quotas/a", json=policy).status_code == 200
    before = api.get("/quotas/a").json()["version"]
    for priority in (1, 7):  # the second stands on what b leaves unused
        api.wait_phase(api.submit(gpus=4, priority=priority, grace="0s"), "Running")
    assert api.get("/quotas/a").json()["usage"]["loan"]["gpus"] == 4
    returned = api.post("/quotas/a/return-loan")
    assert (returned.status_code, returned.json()["version"]) == (200, before)
    wait_for(lambda: api.get("/quotas/a").json()["usage"]["loan"]["gpus"] == 0)
    assert api.get("/quotas/a").json()["version"] == before
    changed = {"description": "new"}
    done = api.ask("PATCH", "/api/v1/quotas/a", json=changed, headers={"If-Match": f'"{before}"'})
    assert (done.status_code, done.json()["version"]) == (200, before + 1)


def test_policies_keep_their_settings_while_they_are_off_and_may_be_several(api: Api):
    """P1, P2: a switch alone changes nothing but the switch."""
    several = [{"high": "6-9", "low": "1-5"}, {"high": 5, "low": 1, "scope": "own", "enabled": False}]
    told = {"self_level": several, "child_level": {"priorities": "1-3"}}
    assert api.ask("PATCH", "/api/v1/quotas/team", json=told).status_code == 200
    assert api.ask("PATCH", "/api/v1/quotas/team", json={"child_level": "off"}).status_code == 200
    found = api.get("/quotas/team").json()
    assert [(one["high"], one["enabled"]) for one in found["self_level"]] == [("6-9", True), ("5", False)]
    assert (found["child_level"]["priorities"], found["child_level"]["enabled"]) == ("1-3", False)
    settings = {"child_level": {"priorities": "1-3", "modules": ["DLC", "DSW"]}}
    assert api.ask("PATCH", "/api/v1/quotas/team", json=settings).status_code == 200
    assert not api.get("/quotas/team").json()["child_level"]["enabled"], "settings alone keep the switch"
    version = {"If-Match": f'"{api.get("/quotas/team").json()["version"]}"'}
    body = {**settings, "self_level": several}
    assert api.ask("PUT", "/api/v1/quotas/team/policies", json=body, headers=version).status_code == 200
    assert not api.get("/quotas/team").json()["child_level"]["enabled"], "also where all policies are said"
    assert api.ask("PATCH", "/api/v1/quotas/team", json={"child_level": True}).status_code == 200
    assert api.get("/quotas/team").json()["child_level"] == {
        "priorities": "1-3", "modules": ["DLC", "DSW"], "enabled": True,
    }  # fmt: skip
    more = {"weight": {"gpus": 3}, "fair_idle": True}
    assert api.ask("PATCH", "/api/v1/quotas/a", json=more).status_code == 200
    assert api.get("/quotas/a").json()["weight"] == {"gpus": 3}


def test_a_quota_names_the_bound_workspaces_that_its_reader_knows(api: Api):
    """W1, W2: a quota admin learns of none; two workspaces at one quota do not learn of each other."""
    assert api.ask("PUT", "/api/v1/workspaces/speech/quotas/a").status_code == 200
    assert api.get("/quotas/a").json()["workspaces"] == ["speech", "vision"]
    assert api.get("/quotas/a", "ann").json()["workspaces"] == ["vision"]
    assert api.get("/quotas/a", "eve").json()["workspaces"] == ["speech"]
    assert {one["id"]: one["workspaces"] for one in api.get("/quotas", "quinn").json()["items"]}["a"] == []


def test_what_waits_at_a_quota_and_what_waits_below_are_told_apart_q7(api: Api):
    api.submit(gpus=4)
    for _ in range(3):
        api.submit(gpus=4)
    figures = {one["id"]: one["usage"] for one in api.get("/quotas").json()["items"]}
    assert (figures["a"]["queued_jobs"], figures["a"]["queued"]["gpus"]) == (3, 12)
    assert (figures["a"]["queued_jobs_below"], figures["a"]["queued_below"]["gpus"]) == (0, 0)
    assert (figures["team"]["queued_jobs"], figures["team"]["queued"]["gpus"]) == (0, 0)
    assert (figures["team"]["queued_jobs_below"], figures["team"]["queued_below"]["gpus"]) == (3, 12)
