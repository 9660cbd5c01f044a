"""Explanations, previews, the ledger and history over HTTP, as far as the reader's rights go (X1-X4, P13)."""

from __future__ import annotations

import pytest

from quotatree.codec.snapshot_file import read_snapshot_text
from tests.api.serving import Api, job


@pytest.fixture
def taken(api: Api) -> tuple[Api, str, str]:
    """ann's job in `a` was taken by one of eve's in `team`; vision sees `a`, speech sees `team` and `b`."""
    api.ask("PUT", "/api/v1/workspaces/speech/quotas/team")
    policies = {"child_level": {"priorities": "1-5"}}
    api.ask("PUT", "/api/v1/quotas/team/policies", json=policies, headers={"If-Match": "*"})
    low = api.submit(gpus=4, seconds=1000)
    api.post("/jobs", job(workspace="speech", quota="b", gpus=4, priority=6), "eve")
    made = api.post("/jobs", job(workspace="speech", quota="team", gpus=4, priority=7), "eve")
    high = made.json()["id"]
    api.wait_phase(high, "Running")
    return api, low, high


def test_the_ledger_names_ones_own_and_masks_the_other(taken: tuple[Api, str, str]):
    api, low, high = taken
    (mine,) = api.get("/preemptions", "ann").json()["items"]
    assert mine["preemption"]["victims"][0]["job"] == low
    assert mine["preemption"]["preemptor"].startswith("[job of priority 7, 4 GPU")
    (theirs,) = api.get("/preemptions", "eve").json()["items"]
    assert theirs["preemption"]["preemptor"] == high
    assert theirs["preemption"]["victims"][0]["job"].startswith("[job of priority 1, 4 GPU")
    assert theirs["preemption"]["cost_gpu_seconds"] >= 0
    (all_,) = api.get("/preemptions").json()["items"]
    assert (all_["preemption"]["preemptor"], all_["preemption"]["victims"][0]["job"]) == (high, low)
    assert api.get("/preemptions", "out").json()["items"] == []


def test_a_jobs_history_explanation_and_reason_name_nobody_else(taken: tuple[Api, str, str]):
    api, low, high = taken
    history = api.get(f"/jobs/{low}/history", "ann")
    assert [one["decision"]["kind"] for one in history.json()["items"]] == ["Evict", "Start"]
    explanation = api.get(f"/jobs/{low}/explanation", "ann")
    assert explanation.json()["position"] == 1
    assert explanation.json()["preempted_by"].startswith("[job of priority 7")
    shown = api.get(f"/jobs/{low}?positions=true", "ann")
    assert (shown.json()["position"], shown.json()["phase"]) == (1, "Waiting")
    listed = api.get("/jobs?positions=true", "ann")
    assert listed.json()["items"][0]["position"] == 1
    for answer in (history, explanation, shown, listed, api.get(f"/jobs/{low}/exposure", "ann")):
        assert high not in answer.text
        assert '"eve"' not in answer.text
        assert "speech" not in answer.text
    runs = api.get(f"/jobs/{low}/runs", "ann").json()["items"]
    assert [(run["outcome"], len(run["places"])) for run in runs] == [("evicted", 1)]


def test_every_waiting_job_of_a_list_has_the_reason_why_it_waits_now(api: Api):
    """X1: two that are alike; a plan tries only the first of them."""
    api.submit(gpus=4, seconds=1000)
    waiting = {api.submit(gpus=2), api.submit(gpus=2)}
    listed = [one for one in api.get("/jobs", "ann").json()["items"] if one["id"] in waiting]
    single = [api.get(f"/jobs/{one}", "ann").json() for one in waiting]
    for shown in (*listed, *single):
        assert shown["reason"]["code"] == shown["reason_code"] == "OwnQuotaFull"
        assert "a has 0 GPU free of its min 4 GPU, 2 GPU wanted" in shown["reason"]["text"]


def test_a_preview_shows_victims_masked_with_their_cost_and_changes_nothing(api: Api):
    """X3: a quota admin sees what a scaling would cost others, without their names (W2)."""
    low = api.submit(gpus=4, seconds=1000, name="secretly")
    change = {"change": "scale", "quota": "a", "min": {"gpus": 2}, "mode": "reclaim"}
    seen = api.post("/previews", {"changes": [change]}, "quinn")
    assert (seen.json()["names"], "secretly" in seen.text) == ({}, False)
    (evict,) = [d for d in seen.json()["decisions"] if d["kind"] == "Evict"]
    assert evict["job"].startswith("[job of priority 1, 4 GPU")
    assert "cost_gpu_seconds" in evict
    assert low not in seen.text
    (evict,) = [
        d for d in api.post("/previews", {"changes": [change]}).json()["decisions"] if d["kind"] == "Evict"
    ]
    assert evict["job"] == low
    assert api.get("/quotas/a").json()["min"] == {"gpus": 4}
    assert api.get(f"/jobs/{low}").json()["phase"] == "Running"


def test_several_changes_are_previewed_as_one(api: Api):
    changes = [
        {"change": "create-quota", "quota": {"id": "c", "parent": "a", "min": {"gpus": 1}}},
        {"change": "transfer", "source": "a", "target": "b", "amount": {"gpus": 1}},
        {"change": "submit", "job": job(gpus=2)},
        {"change": "node-state", "node": "n0", "state": "Cordoned"},
    ]
    seen = api.post("/previews", {"changes": changes}).json()
    assert seen["ids"][0::3] == ["c", "n0"]
    assert [d["kind"] for d in seen["decisions"]] == ["Wait"]
    assert api.get("/quotas/c").status_code == 404
    refused = api.post("/previews", {"changes": [*changes, {"change": "delete-quota", "quota": "a"}]})
    assert (refused.status_code, refused.json()["rule"]) == (422, "Q6")


def test_saving_a_policy_is_previewed_with_whose_work_becomes_exposed(api: Api):
    running = api.submit()
    policies = {"child_level": {"priorities": "1-5"}}
    change = {"change": "policies", "quota": "team", "to": policies}
    (exposed,) = api.post("/previews", {"changes": [change]}).json()["exposed"]
    assert (exposed["job"], exposed["exposure"]["quota"]) == (running, "team")


def test_what_is_over_is_told_to_be_over(api: Api):
    done = api.submit(seconds=0.01)
    api.wait_phase(done, "Succeeded")
    for method, path in (("POST", "cancel"), ("GET", "explanation"), ("GET", "exposure"), ("POST", "hold")):
        answer = api.ask(method, f"/api/v1/jobs/{done}/{path}", "ann")
        assert (answer.status_code, "Succeeded" in answer.text) == (422, True), answer.text
        assert answer.json()["rule"] == {"explanation": "X1", "exposure": "X4"}.get(path, "J5")
        assert api.ask(method, f"/api/v1/jobs/{done}/{path}", "eve").status_code == 404
    assert api.get(f"/jobs/{done}", "ann").json()["ended_ms"]


def test_figures_queue_and_history_of_a_quota(api: Api):
    api.submit(gpus=3)
    waits = api.submit(gpus=2)
    usage = api.get("/quotas/a/usage", "ann").json()
    assert (usage["used_own"]["gpus"], usage["queued_jobs"], usage["free"]["gpus"]) == (3, 1, 1)
    assert [place["job"] for place in api.get("/quotas/a/queue", "ann").json()["items"]] == [waits]
    api.post("/quota-transfers", {"source": "b", "target": "a", "amount": {"gpus": 1}})
    history = api.get("/quotas/a/history", "ann")
    assert [event["kind"] for event in history.json()["items"]] == ["quota.created", "quota.scaled"]
    assert history.json()["items"][-1]["body"]["source"] == "[quota at level 2]"
    assert history.json()["items"][-1]["body"]["by"] == "[hidden]"
    assert history.json()["items"][-1]["body"]["changes"] == [
        {"what": "min", "before": "4 GPU", "after": "5 GPU"}
    ]
    assert api.get("/quotas/a/history").json()["items"][-1]["body"]["by"] == "root"
    assert api.get("/quotas/a/history", "quinn").json()["items"][-1]["body"]["source"] == "b"


def test_a_refusal_names_no_other_team(api: Api):
    """Q6: what is in the way may be somebody else's."""
    answer = api.ask("DELETE", "/api/v1/quotas/b", "quinn")
    assert answer.status_code == 422
    assert "speech" not in answer.text
    assert "speech" in api.ask("DELETE", "/api/v1/quotas/b").text


def test_the_snapshot_is_a_file_to_plan_from(api: Api):
    made = api.submit()
    snapshot, at_ms = read_snapshot_text(api.get("/snapshot").text)
    assert [record.id for record in snapshot.jobs] == [made]
    assert at_ms > 0


def test_a_queue_comes_in_pages_and_its_cursor_is_good_for_nothing_else(api: Api):
    api.submit(gpus=4)
    waiting = [api.submit() for _ in range(5)]
    found, cursor = [], None
    while True:
        page = api.get(
            "/quotas/a/queue", "ann", params={"limit": 2, **({"cursor": cursor} if cursor else {})}
        )
        found.append([(place["position"], place["job"]) for place in page.json()["items"]])
        cursor = page.json()["next"]
        if cursor is None:
            break
    assert [place for items in found for place in items] == list(enumerate(waiting, 1))
    assert [len(items) for items in found] == [2, 2, 1]
    good = api.get("/quotas/a/queue", params={"limit": 2}).json()["next"]
    assert api.get("/quotas/b/queue", params={"cursor": good}).status_code == 400
    jobs = api.get("/jobs", params={"limit": 1}).json()["next"]
    assert api.get("/quotas/a/queue", params={"cursor": jobs}).status_code == 400


def test_an_entry_of_the_ledger_tells_the_preemptor_and_what_became_since(taken: tuple[Api, str, str]):
    """P13, W2: the other side has a priority and a size, and nothing else."""
    api, low, high = taken
    api.wait_phase(low, "Waiting")
    (listed,) = api.get("/preemptions", "eve").json()["items"]
    seq = listed["seq"]
    assert listed["preemptor"] == {
        "job": high, "name": "", "workspace": "speech", "owner": "eve", "module": "DLC", "quota": "team",
        "priority": 7, "gpus": 4,
    }  # fmt: skip
    mine = api.get(f"/preemptions/{seq}", "ann").json()
    hidden = {name: mine["preemptor"][name] for name in ("name", "workspace", "owner", "module")}
    assert set(hidden.values()) == {None}
    assert (mine["preemptor"]["priority"], mine["preemptor"]["gpus"]) == (7, 4)
    assert [(one["job"], one["role"], one["phase"], one["position"]) for one in mine["since"]] == [
        (low, "victim", "Waiting", 1)
    ]
    assert list(mine["names"]) == [low]
    assert high not in api.get(f"/preemptions/{seq}", "ann").text
    whole = api.get(f"/preemptions/{seq}").json()
    assert [(one["job"], one["role"], one["phase"]) for one in whole["since"]] == [
        (high, "preemptor", "Running"), (low, "victim", "Waiting"),
    ]  # fmt: skip
    assert api.get(f"/preemptions/{seq}", "out").status_code == 404
    assert api.get("/preemptions/99").status_code == 404


def test_the_ledger_is_filtered_by_step_and_workspace(taken: tuple[Api, str, str]):
    api, _, _ = taken
    for query, found in (
        ("step=DESCENDANTS", 1), ("step=OWN&step=SIBLINGS", 0), ("workspace=vision", 1), ("workspace=speech", 1),
    ):  # fmt: skip
        assert len(api.get(f"/preemptions?{query}").json()["items"]) == found, query
    assert api.get("/preemptions?workspace=speech", "ann").status_code == 404
    assert api.get("/preemptions?step=nothing").status_code == 422


def test_several_jobs_are_asked_at_once_by_whom_they_could_be_taken(taken: tuple[Api, str, str]):
    """X4, W2: who does not run, and who is not for the reader, is left out."""
    api, low, high = taken
    running = api.submit("eve", workspace="speech", quota="team", groups=[{"cpu": 0.001}])
    mine = api.submit(groups=[{"cpu": 0.001}])
    for one in (running, mine):
        api.wait_phase(one, "Running")
    asked = "&".join(f"job={one}" for one in (low, high, running, mine))
    seen = api.get(f"/exposures?{asked}", "ann").json()["items"]
    assert [one["job"] for one in seen] == [mine]
    assert [(risk["quota"], risk["rule"]) for risk in seen[0]["items"]] == [("team", "ChildLevel")]
    alone = api.get(f"/jobs/{mine}/exposure", "ann").json()["items"]
    assert seen[0]["items"] == alone
    assert [one["job"] for one in api.get(f"/exposures?{asked}").json()["items"]] == [high, running, mine]
    assert api.get("/exposures").status_code == 422


def test_an_explanation_has_facts_who_is_ahead_and_changes_that_would_help(api: Api):
    """X1, X3: what would help can be previewed as it is told."""
    api.submit(gpus=3, seconds=1000, priority=2)
    api.submit("eve", workspace="speech", quota="b", gpus=4, seconds=1000, priority=9)
    first = api.submit(gpus=2, name="first", priority=5)
    waits = api.submit(gpus=2, priority=4)
    told = api.get(f"/jobs/{waits}/explanation", "ann").json()
    assert told["ahead"] == [{"job": first, "name": "first", "priority": 5, "priority_name": None, "gpus": 2}]
    (full,) = [one for one in told["reasons"] if one["code"] == "OwnQuotaFull"]
    assert (full["facts"]["quota"], full["facts"]["wanted"]) == ("a", "2 GPU")
    assert [one["arguments"] for one in told["helps"] if one["action"] == "scale"] == [
        {"quota": "a", "min": {"gpus": 5}}, {"quota": "team", "draws": {"p": {"gpus": 9}}},
    ]  # fmt: skip
    told = api.get(f"/jobs/{first}/explanation", "ann").json()
    (policy,) = [one for one in told["helps"] if one["action"] == "policies"]
    assert (policy["arguments"]["quota"], policy["arguments"]["to"]["self_level"][0]["high"]) == ("a", "5-9")
    changes = [{"change": policy["action"], **policy["arguments"]}]
    decisions = api.post("/previews", {"changes": changes}).json()["decisions"]
    assert "Evict" in [one["kind"] for one in decisions]


def test_what_would_help_names_nobody_whom_the_reader_may_not_see(api: Api):
    """W2: the head of a shared queue belongs to another team."""
    api.ask("PUT", "/api/v1/workspaces/speech/quotas/a")
    api.ask("PATCH", "/api/v1/quotas/a", json={"strategy": "fifo"})
    api.submit(gpus=3, seconds=1000)
    head = api.submit("eve", workspace="speech", quota="a", gpus=4, priority=9, name="secret-head")
    waits = api.submit(gpus=1)
    told = api.get(f"/jobs/{waits}/explanation", "ann")
    assert (head in told.text, "secret-head" in told.text) == (False, False)
    assert told.json()["ahead"][0] == {
        "job": "[job of priority 9, 4 GPU, level 2]", "name": None, "priority": 9, "priority_name": None, "gpus": 4,
    }  # fmt: skip
    assert [one["action"] for one in told.json()["helps"] if "starts or is cancelled" in one["text"]] == [
        None
    ]
    whole = api.get(f"/jobs/{waits}/explanation").json()
    assert {"job": head} in [one["arguments"] for one in whole["helps"]]


def test_a_waiting_job_is_told_when_it_will_start_and_what_that_rests_on(api: Api):
    """X1: only if asked for; the planner is played forward with durations of jobs that are over."""
    for _ in range(5):
        done = api.submit(gpus=4, seconds=0)
        api.wait_phase(done, "Succeeded")
    runs = api.submit(gpus=4, seconds=600)
    api.wait_phase(runs, "Running")
    waits = api.submit(gpus=4)
    plain = api.get(f"/jobs/{waits}/explanation", "ann").json()
    assert (plain["estimate"], plain["position"]) == (None, 1)
    now_ms = api.services.clock()
    told = api.get(f"/jobs/{waits}/explanation?estimate=true", "ann").json()["estimate"]
    assert told["why"] == ""
    assert now_ms <= told["earliest_ms"] <= told["likely_ms"] <= told["latest_ms"] < now_ms + 600_000
    assert told["rests_on"] == [
        "how long 5 finished jobs ran",
        "1 job(s) taken to run as long as those of the same user, quota and size",
        "no other job is submitted meanwhile",
        "the range: from shorter and longer runs, since fewer than 30 answers have come true so far",
    ]
    assert api.get(f"/jobs/{runs}/explanation?estimate=true").json()["estimate"] is None
    assert api.get(f"/jobs/{waits}/explanation?estimate=true", "eve").status_code == 404


def test_what_cannot_be_estimated_is_said(api: Api):
    runs = api.submit(gpus=4)
    api.wait_phase(runs, "Running")
    waits = api.submit(gpus=4)
    told = api.get(f"/jobs/{waits}/explanation?estimate=true").json()["estimate"]
    assert told["likely_ms"] is None
    assert told["why"].startswith(
        "not enough finished jobs: 0 in this tree, and nothing is told from fewer than 5"
    )


def test_a_preview_of_a_submission_that_would_wait_tells_when_it_would_start(api: Api):
    """X3: from the state with that job in it; nothing is changed."""
    for _ in range(5):
        api.wait_phase(api.submit(gpus=4, seconds=0), "Succeeded")
    submit = {"changes": [{"change": "submit", "job": job(gpus=4)}]}
    assert api.post("/previews?estimate=true", submit, "ann").json()["estimate"] is None  # it would start
    runs = api.submit(gpus=4, seconds=600)
    api.wait_phase(runs, "Running")
    assert api.post("/previews", submit, "ann").json()["estimate"] is None
    now_ms = api.services.clock()
    told = api.post("/previews?estimate=true", submit, "ann").json()["estimate"]
    assert now_ms <= told["likely_ms"] < now_ms + 600_000
    assert "how long 5 finished jobs ran" in told["rests_on"]
    assert [one["id"] for one in api.get("/jobs?active=true").json()["items"]] == [runs]
