"""A store that cannot be written to, seen through HTTP: admission stops with a clear state, and heals by itself (A6)."""

from __future__ import annotations

from tests.api.serving import Api, job, wait_for


def test_a_store_that_fails_stops_admission_and_nothing_else(api: Api):
    """The disk is full, and the lease cannot be renewed either: every change is answered 503 and not made, reads go on; afterwards the same request is done once."""
    before = api.submit()
    key = {"Idempotency-Key": "once"}
    api.faults.away = True
    refused = api.post("/jobs", job(), "ann", headers=key)
    assert (refused.status_code, refused.json()["code"]) == (503, "Unavailable")
    assert int(refused.headers["Retry-After"]) >= 1
    assert refused.headers["Content-Type"] == "application/problem+json"
    for method, path in (("POST", f"/jobs/{before}/cancel"), ("POST", f"/jobs/{before}/stop")):
        assert api.ask(method, f"/api/v1{path}", "ann").status_code == 503
    ready = api.client.get("/readyz")
    assert (ready.status_code, ready.json()["writable"]) == (503, False)
    assert api.client.get("/healthz").status_code == 200
    assert [one["id"] for one in api.get("/jobs", "ann").json()["items"]] == [before]
    assert api.get(f"/jobs/{before}", "ann").json()["phase"] != "Cancelled"

    api.faults.away = False
    wait_for(lambda: api.client.get("/readyz").status_code == 200, 20)
    made = api.post("/jobs", job(), "ann", headers=key).json()
    assert made["repeated"] is False
    assert api.post("/jobs", job(), "ann", headers=key).json() == {"id": made["id"], "repeated": True}
    assert {one["id"] for one in api.get("/jobs", "ann").json()["items"]} == {before, made["id"]}


def test_a_commit_whose_answer_is_lost_is_known_afterwards(api: Api):
    """It was written: whoever asks again with his key gets the job of then, never a second one."""
    key = {"Idempotency-Key": "once"}
    assert api.token("ann")  # made while that is possible
    api.faults.lose_answers = 1
    first = api.post("/jobs", job(), "ann", headers=key)
    wait_for(lambda: api.client.get("/readyz").status_code == 200, 20)
    again = api.post("/jobs", job(), "ann", headers=key).json()
    listed = [one["id"] for one in api.get("/jobs", "ann").json()["items"]]
    assert first.status_code in (201, 503)
    assert listed == [again["id"]]
