"""Ways into the console: which are open, by a token, by a link that works once (W2)."""

from __future__ import annotations

from starlette.testclient import TestClient

from tests.api.serving import Api, app_of, job


def browser(api: Api) -> TestClient:
    return TestClient(app_of(api.services), raise_server_exceptions=False)


def test_a_login_page_learns_which_ways_are_open(api: Api):
    said = browser(api).get("/api/v1/login-ways").json()
    assert said == {"password": True, "token": True, "link": True, "oidc": False, "oidc_issuer": None}
    assert api.post("/users", {"name": "boss", "platform_admin": True}).status_code == 201
    assert api.ask("PATCH", "/api/v1/users/root", "boss", json={"disabled": True}).status_code == 200
    assert browser(api).get("/api/v1/login-ways").json()["password"] is False


def test_a_token_opens_a_session_that_ends_with_it(api: Api):
    client = browser(api)
    made = api.post("/tokens", {"name": "mine", "lasts": "1h"}, "ann").json()
    opened = client.post("/api/v1/session/token", json={"token": made["token"]})
    assert (opened.json()["user"], opened.json()["expires_ms"]) == ("ann", made["expires_ms"])
    assert made["token"] not in str(opened.headers)
    client.headers["Authorization"] = f"Bearer {opened.json()['key']}"
    who = client.get("/api/v1/whoami").json()
    assert (who["signed_in_by"], who["token"]["id"]) == ("session", made["id"])
    assert client.post("/api/v1/jobs", json=job()).status_code == 201
    assert api.ask("DELETE", f"/api/v1/tokens/{made['id']}", "ann").status_code == 200
    assert client.get("/api/v1/whoami").status_code == 401


def test_a_session_by_a_read_only_token_reads_only(api: Api):
    client = browser(api)
    opened = client.post("/api/v1/session/token", json={"token": api.token("ann", read_only=True)})
    client.headers["Authorization"] = f"Bearer {opened.json()['key']}"
    assert client.get("/api/v1/jobs").status_code == 200
    assert client.post("/api/v1/jobs", json=job()).status_code == 403
    assert client.post("/api/v1/tokens", json={"name": "more"}).status_code == 403
    assert client.post("/api/v1/login-links").status_code == 403
    assert client.delete("/api/v1/session").status_code == 200
    assert client.get("/api/v1/jobs").status_code == 401


def test_a_link_signs_its_maker_in_once(api: Api):
    path = api.post("/login-links", user="ann").json()["path"]
    page, _, code = path.partition("#link=")
    assert page == "/login"
    client = browser(api)
    opened = client.post("/api/v1/session/link", json={"code": code})
    assert (opened.status_code, opened.json()["user"]) == (200, "ann")
    client.headers["Authorization"] = f"Bearer {opened.json()['key']}"
    assert client.get("/api/v1/whoami").json()["token"] is None
    again = browser(api).post("/api/v1/session/link", json={"code": code})
    assert (again.status_code, again.json()["code"]) == (401, "Unauthenticated")


def test_a_link_of_somebody_who_was_disabled_is_void(api: Api):
    code = api.post("/login-links", user="ann").json()["path"].partition("#link=")[2]
    assert api.ask("PATCH", "/api/v1/users/ann", json={"disabled": True}).status_code == 200
    assert browser(api).post("/api/v1/session/link", json={"code": code}).status_code == 401


def test_wrong_tokens_open_nothing(api: Api):
    for wrong in ("qt_" + "0" * 43, "x", api.token("ann")[:-1]):
        assert browser(api).post("/api/v1/session/token", json={"token": wrong}).status_code == 401
