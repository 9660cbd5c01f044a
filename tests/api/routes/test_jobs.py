"""Lists of jobs: in any order, by priority, by a part of the name, with what is below a quota, counted."""

from __future__ import annotations

from typing import Any

from tests.api.serving import Api


def listed(api: Api, query: str, user: str = "ann") -> list[str]:
    return [one["name"] for one in api.get(f"/jobs?{query}", user).json()["items"]]


def test_a_list_has_the_order_and_the_filters_that_are_asked_for(api: Api):
    for name, gpus, priority in (("big", 4, 2), ("mid", 2, 9), ("small", 1, 5)):
        api.submit(name=name, gpus=gpus, priority=priority, on_hold=True)
    assert listed(api, "sort=-submitted") == ["small", "mid", "big"]
    assert listed(api, "sort=gpus") == ["small", "mid", "big"]
    assert listed(api, "sort=-priority") == ["mid", "small", "big"]
    assert listed(api, "sort=name&priority=5&priority=2") == ["big", "small"]
    assert listed(api, "part=mal") == ["small"]
    first = api.get("/jobs?sort=gpus&limit=2&total=true", "ann").json()
    assert ([one["name"] for one in first["items"]], first["total"]) == (["small", "mid"], 3)
    assert listed(api, f"sort=gpus&limit=2&cursor={first['next']}") == ["big"]
    assert api.get("/jobs", "ann").json()["total"] is None
    assert api.get("/jobs?sort=secret", "ann").status_code == 422


def test_a_quota_is_listed_with_what_is_below_and_never_with_others_work(api: Api):
    """W2: naming the root shows nobody more than their own."""
    api.submit(name="mine", on_hold=True)
    api.submit("eve", workspace="speech", quota="b", name="theirs", on_hold=True)
    assert listed(api, "quota=team") == []
    assert listed(api, "quota=team&below=true") == ["mine"]
    assert listed(api, "quota=team&below=true&sort=name", "root") == ["mine", "theirs"]
    assert listed(api, "quota=nothing&below=true") == []
    found = api.get("/jobs?total=true&quota=team&below=true", "ann").json()
    assert found["total"] == 1


def test_a_job_says_what_its_reader_may_do_to_it(api: Api):
    """W2: the console has no table of roles of its own."""
    mine = api.submit()

    def allowed(user: str, **extra: Any) -> set[str]:
        return set(api.get(f"/jobs/{mine}", user, **extra).json()["allowed"])

    assert {"cancel-job", "see-logs", "set-priority"} <= allowed("ann")
    assert allowed("vic") == {"see-job", "explain-job", "see-exposure", "see-endpoint"}
    assert allowed("pat") == allowed("ann")
    read_only = {"Authorization": f"Bearer {api.token('ann', read_only=True)}"}
    assert api.client.get(f"/api/v1/jobs/{mine}", headers=read_only).json()["allowed"] == [
        "see-job", "explain-job", "see-exposure", "see-endpoint", "see-logs",
    ]  # fmt: skip


def test_a_running_job_says_how_many_replicas_run_of_those_it_wants_p12(api: Api):
    job = api.submit(groups=[{"gpus": 1, "replicas": 6}], min_replicas=1)
    api.wait_phase(job, "Running")
    found = api.get(f"/jobs/{job}", "ann").json()
    assert (found["running_replicas"], found["reason_code"]) == (4, "ReplicasRun")
    assert found["reason"]["text"] == "4 replica(s) run; it wants 6 and can use 6"
    whole = api.submit("eve", workspace="speech", gpus=1, quota="b")
    api.wait_phase(whole, "Running")
    assert api.get(f"/jobs/{whole}", "eve").json()["reason"] is None


def test_a_victim_waits_since_it_was_evicted_and_longest_waiting_sorts_by_that(on_both: Api):
    api = on_both
    victim = api.submit(gpus=4, name="victim")
    api.wait_phase(victim, "Running")
    patient = api.submit(gpus=4, name="patient")
    api.wait_phase(patient, "Waiting")
    child_level = {"priorities": "1-9", "modules": ["DLC"]}
    changed = api.ask("PATCH", "/api/v1/quotas/team", json={"child_level": child_level})
    assert changed.status_code == 200, changed.text
    bound = api.ask("PUT", "/api/v1/workspaces/vision/quotas/team", "root")
    assert bound.is_success, bound.text
    taker = api.submit("ada", gpus=8, name="taker", quota="team", priority=9)
    api.wait_phase(taker, "Running")
    found = {one["name"]: one for one in api.get("/jobs").json()["items"]}
    began = found["victim"]["waiting_since_ms"]
    assert found["victim"]["started_ms"] < began <= found["taker"]["started_ms"]
    assert found["taker"]["waiting_since_ms"] is None
    assert found["patient"]["waiting_since_ms"] == found["patient"]["submitted_ms"]
    assert found["victim"]["waited_before_ms"] == 0, "it started at once, and its run is no wait"
    listed = api.get("/jobs", params={"phase": "Waiting", "sort": "waiting_since"}).json()["items"]
    assert [one["name"] for one in listed] == ["patient", "victim"]
    told = [one for one in api.get("/summary").json()["attention"] if one["kind"] == "waiting"]
    assert [(one["name"], one["since_ms"]) for one in told] == [
        ("patient", found["patient"]["submitted_ms"]), ("victim", began),
    ]  # fmt: skip
