"""Who uses a quota, over HTTP."""

from __future__ import annotations

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
