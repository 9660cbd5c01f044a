"""Users of the cluster sign in with their token there (W2)."""

from __future__ import annotations

from dataclasses import replace

from starlette.testclient import TestClient

from quotatree.api.services import ClusterLogins
from quotatree.identity.cluster_users import ClusterNames
from tests.api.serving import Api, app_of

TOKENS = {"anns": "ann", "robots": "system:serviceaccount:ns:ann", "strangers": "zoe"}


def client(api: Api) -> TestClient:
    logins = ClusterLogins(ClusterNames("name"), TOKENS.get)
    return TestClient(app_of(replace(api.services, cluster_logins=logins)), raise_server_exceptions=False)


def test_a_token_of_the_cluster_is_exchanged_for_one_of_ours(api: Api):
    made = client(api).post("/api/v1/kubernetes/token", json={"token": "anns"})
    assert (made.status_code, made.json()["user"]) == (201, "ann")
    who = api.client.get("/api/v1/whoami", headers={"Authorization": f"Bearer {made.json()['token']}"})
    assert who.json()["user"]["name"] == "ann"


def test_who_is_nobody_there_or_here_stays_outside(api: Api):
    for token in ("unknown", "robots", "strangers"):
        said = client(api).post("/api/v1/kubernetes/token", json={"token": token})
        assert said.status_code == 401
        assert token not in said.text


def test_it_is_switched_off_unless_somebody_switches_it_on(api: Api):
    assert api.client.post("/api/v1/kubernetes/token", json={"token": "anns"}).status_code == 404
