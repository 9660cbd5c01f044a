"""Who uses a quota, over HTTP."""

from __future__ import annotations

import pytest

from tests.api.serving import Api


def test_a_quota_tells_who_uses_it_and_other_teams_as_one_row(api: Api):
    """W2: of people whose jobs the reader may not see there are sums, and no name."""
    mine = api.submit(gpus=4)
    theirs = api.submit("eve", workspace="speech", quota="b", gpus=1)
    for job in (mine, theirs):
        api.wait_phase(job, "Running")
    waits = api.submit(gpus=3)
    since_ms = api.get(f"/jobs/{waits}").json()["submitted_ms"]
    ann = {
        "user": "ann", "workspace": "vision", "running_jobs": 1, "regular_gpus": 4, "idle_gpus": 0, "waiting_jobs": 1,
        "waiting_gpus": 3, "oldest_waiting_since_ms": since_ms,
    }  # fmt: skip
    assert api.get("/quotas/a/users", "vic").json() == {"items": [ann]}
    both = api.get("/quotas/team/users?below=true").json()["items"]
    assert [(one["user"], one["regular_gpus"]) for one in both] == [("ann", 4), ("eve", 1)]
    assert api.get("/quotas/team/users").json() == {"items": []}
    seen = api.get("/quotas/team/users?below=true", "quinn")
    assert [(one["user"], one["running_jobs"], one["waiting_gpus"]) for one in seen.json()["items"]] == [
        (None, 2, 3)
    ]
    for word in ("ann", "eve", "vision", "speech"):
        assert word not in seen.text


def test_gpu_hours_are_told_by_what_is_asked_for_and_names_of_others_are_not(api: Api):
    """W2: a member sees their own workspaces by name, and of the quotas they see the rest as one sum."""
    api.ask("PATCH", "/api/v1/quotas/a", json={"self_level": {"high": "6-9", "low": "1-5", "scope": "own"}})
    since_ms = api.services.clock()
    mine = api.submit(gpus=4, grace="0s")
    theirs = api.submit("eve", workspace="speech", quota="b", gpus=1)
    for job in (mine, theirs):
        api.wait_phase(job, "Running")
    taker = api.submit("pat", gpus=4, priority=9)
    api.wait_phase(taker, "Running")
    until_ms = api.services.clock() + 1
    time = f"since={since_ms}&until={until_ms}"
    whole = api.get(f"/usage?{time}&by=user,claim,module").json()
    assert (whole["since_ms"], whole["until_ms"], whole["by"]) == (
        since_ms,
        until_ms,
        ["user", "claim", "module"],
    )
    rows = {row["user"]: row for row in whole["rows"]}
    assert {user: (row["claim"], row["module"], row["runs"]) for user, row in rows.items()} == dict.fromkeys(
        ("ann", "eve", "pat"), ("guaranteed", "DLC", 1)
    )
    (entry,) = api.get("/preemptions").json()["items"]
    assert rows["ann"]["preempted"] == 1
    lost = entry["preemption"]["victims"][0]["lost_gpu_seconds"] / 3600
    assert rows["ann"]["lost_gpu_hours"] == pytest.approx(lost)
    for name in ("gpu_hours", "lost_gpu_hours", "runs", "preempted"):
        assert abs(whole["total"][name] - sum(row[name] for row in whole["rows"])) < 1e-9
    most = (until_ms - since_ms) * 5 / 3_600_000
    assert 0 < whole["total"]["gpu_hours"] <= most
    taken = api.get(f"/usage?{time}&by=taker&quota=team&below=true", "quinn")
    assert [(row["taker_quota"], row["taker_workspace"], row["preempted"]) for row in taken.json()["rows"]] == [
        (None, None, 0), ("a", None, 1),
    ]  # fmt: skip
    seen = api.get(f"/usage?{time}&by=user,workspace", "quinn")
    assert [(row["user"], row["workspace"], row["runs"]) for row in seen.json()["rows"]] == [(None, None, 3)]
    for word in ("ann", "eve", "pat", "vision", "speech"):
        assert word not in seen.text + taken.text
    assert [row["quota"] for row in api.get(f"/usage?{time}", "eve").json()["rows"]] == ["b"]
    assert api.get(f"/usage?{time}&by=", "out").json()["rows"] == []
    assert api.get(f"/usage?{time}&by=").json()["rows"] == [api.get(f"/usage?{time}&by=,").json()["total"]]


def test_a_time_or_a_key_that_makes_no_sense_is_refused_by_name(api: Api):
    for asked, says in (
        ("by=quota,owner", "query.by: 'owner' is none of quota, workspace, user, module, claim, taker"),
        ("since=5&until=5", "query.since: must be before `until`"),
        ("below=true", "query.below: needs `quota`"),
    ):
        refused = api.get(f"/usage?{asked}")
        assert refused.status_code == 422
        assert says in refused.json()["detail"]


def test_what_ends_for_no_other_job_is_in_the_ledger_and_in_the_sums_by_cause_p13(api: Api):
    """An admin's reclaim took a job's work, and nobody had lost anything; an owner's end is told as that."""
    since_ms = api.services.clock()
    reclaimed, ended = (
        api.submit(gpus=2, grace="0s"),
        api.submit("eve", workspace="speech", quota="b", gpus=1),
    )
    for job in (reclaimed, ended):
        api.wait_phase(job, "Running")
    scaled = api.ask("POST", "/api/v1/quotas/a/scale", json={"min": {"gpus": 1}, "mode": "reclaim"})
    assert scaled.status_code == 200
    api.ask("POST", f"/api/v1/jobs/{ended}/cancel")
    found = {one["preemption"]["reason"]["code"]: one for one in api.get("/preemptions").json()["items"]}
    assert set(found) == {"ScaleReclaim", "CancelledByOwner"}
    entry = found["ScaleReclaim"]
    assert (entry["preemptor"], entry["preemption"]["preemptor"], entry["preemption"]["step"]) == (
        None,
        None,
        None,
    )
    (victim,) = entry["preemption"]["victims"]
    assert (victim["job"], victim["rule"]) == (reclaimed, "ScaleReclaim")
    assert victim["lost_gpu_seconds"] >= 80
    (of_job,) = api.get(f"/preemptions?job={reclaimed}").json()["items"]
    assert of_job["seq"] == entry["seq"]
    time = f"since={since_ms}&until={api.services.clock() + 1}"
    rows = {row["cause"]: row for row in api.get(f"/usage?{time}&by=cause").json()["rows"]}
    assert rows["ScaleReclaim"]["lost_gpu_hours"] == pytest.approx(victim["lost_gpu_seconds"] / 3600)
    assert (rows["ScaleReclaim"]["preempted"], rows["CancelledByOwner"]["preempted"]) == (1, 0)
    assert rows[None]["lost_gpu_hours"] == 0
    takers = api.get(f"/usage?{time}&by=taker").json()["rows"]
    assert {(row["taker_quota"], row["taker_workspace"]) for row in takers} == {(None, None)}
