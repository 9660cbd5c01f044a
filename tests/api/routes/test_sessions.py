"""Logging in and out: cookies, the second secret, passwords, OIDC in the browser and from a terminal (W2)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from joserfc.jwk import RSAKey
from starlette.testclient import TestClient

from quotatree.access.roles import Role
from quotatree.api.settings import oidc_of
from quotatree.identity.oidc_settings import GroupGrant, OidcSettings
from tests.api.serving import PASSWORD, Api, app_of, job, serving
from tests.oidc_provider import CLIENT, REDIRECT, SECRET, OidcProvider


def browser(api: Api) -> TestClient:
    return TestClient(app_of(api.services), raise_server_exceptions=False)


def log_in(client: TestClient, password: str = PASSWORD, user: str = "root") -> str:
    answer = client.post("/api/v1/session", json={"user": user, "password": password})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["csrf"])


def test_a_session_opens_reads_by_its_cookie_and_writes_with_the_second_secret(api: Api):
    client = browser(api)
    csrf = log_in(client)
    assert client.get("/api/v1/whoami").json()["signed_in_by"] == "session"
    assert client.post("/api/v1/jobs", json=job()).status_code == 403
    assert client.post("/api/v1/jobs", json=job(), headers={"X-CSRF-Token": "wrong"}).status_code == 403
    assert client.post("/api/v1/jobs", json=job(), headers={"X-CSRF-Token": csrf}).status_code == 201
    assert client.cookies["quotatree_csrf"] == csrf
    assert client.delete("/api/v1/session", headers={"X-CSRF-Token": csrf}).status_code == 200
    assert client.get("/api/v1/whoami").status_code == 401


def test_cookies_cannot_be_read_by_scripts_and_are_secure_by_https(api: Api):
    answer = browser(api).post("/api/v1/session", json={"user": "root", "password": PASSWORD})
    session, csrf = answer.headers.get_list("set-cookie")
    assert "HttpOnly" in session
    assert "HttpOnly" not in csrf
    assert all("SameSite=lax" in cookie and "Secure" not in cookie for cookie in (session, csrf))


def test_wrong_passwords_are_answered_alike_and_slowed_down(api: Api):
    client = browser(api)
    said = {
        client.post("/api/v1/session", json={"user": user, "password": "wrong password"}).json()["detail"]
        for user in ("root", "ann", "nobody")
    }
    assert said == {"wrong user name or password"}
    codes = [
        client.post("/api/v1/session", json={"user": "root", "password": "wrong password"}).status_code
        for _ in range(8)
    ]
    assert codes[-1] == 429
    answer = client.post("/api/v1/session", json={"user": "root", "password": PASSWORD})
    assert (answer.status_code, int(answer.headers["retry-after"]) >= 1) == (429, True)


def test_a_new_password_ends_the_other_sessions_and_needs_the_old_one(api: Api):
    here, there = browser(api), browser(api)
    csrf = log_in(here)
    log_in(there)
    change = {"password": "another good one"}
    put = "/api/v1/users/root/password"
    assert here.put(put, json=change, headers={"X-CSRF-Token": csrf}).json()["field"] == "current"
    wrong = here.put(put, json={**change, "current": "no"}, headers={"X-CSRF-Token": csrf})
    assert wrong.status_code == 401
    right = here.put(put, json={**change, "current": PASSWORD}, headers={"X-CSRF-Token": csrf})
    assert right.status_code == 200
    assert (here.get("/api/v1/whoami").status_code, there.get("/api/v1/whoami").status_code) == (200, 401)
    log_in(there, "another good one")


def test_a_disabled_user_is_out_at_once(api: Api):
    token = api.token("ann")
    assert api.ask("PATCH", "/api/v1/users/ann", json={"disabled": True}).status_code == 200
    assert api.client.get("/api/v1/jobs", headers={"Authorization": f"Bearer {token}"}).status_code == 401


def test_a_token_is_shown_once_expires_and_can_be_revoked(api: Api):
    made = api.post("/tokens", {"name": "ci", "lasts": "1h", "read_only": True}, "ann").json()
    headers = {"Authorization": f"Bearer {made['token']}"}
    assert api.client.get("/api/v1/whoami", headers=headers).json()["token"]["name"] == "ci"
    listed = api.get("/tokens", "ann")
    assert made["token"] not in listed.text
    assert "hash" not in listed.text
    assert api.ask("DELETE", f"/api/v1/tokens/{made['id']}", "ann").status_code == 200
    assert api.client.get("/api/v1/whoami", headers=headers).status_code == 401
    short = api.post("/tokens", {"name": "short", "lasts": "1ms"}, "ann").json()["token"]
    time.sleep(0.01)
    assert api.client.get("/api/v1/jobs", headers={"Authorization": f"Bearer {short}"}).status_code == 401


def test_users_are_shown_without_their_hashes(api: Api):
    shown = api.get("/users/root")
    assert shown.json()["has_password"] is True
    assert "argon2" not in shown.text
    assert "argon2" not in api.get("/audit?limit=500").text


@pytest.fixture(scope="module")
def provider() -> Iterator[OidcProvider]:
    with OidcProvider(RSAKey.generate_key(2048, parameters={"kid": "k1"}), int(time.time())) as there:
        yield there


@pytest.fixture
def with_oidc(provider: OidcProvider, tmp_path: Path) -> Iterator[Api]:
    grants = (GroupGrant("ml", Role.DEVELOPER, "vision"),)
    settings = OidcSettings(provider.issuer, CLIENT, REDIRECT, SECRET, grants=grants)
    with serving(tmp_path, oidc=oidc_of(settings)) as api:
        yield api


def test_a_person_logs_in_by_the_browser(with_oidc: Api, provider: OidcProvider):
    provider.login("u-7", preferred_username="zed@example.org", groups=["ml"])
    client = browser(with_oidc)
    begun = client.get("/api/v1/oidc/login?return_to=/jobs", follow_redirects=False)
    back = httpx2.get(begun.headers["location"], follow_redirects=False).headers["location"]
    query = urlsplit(back).query
    assert browser(with_oidc).get(f"/api/v1/oidc/callback?{query}", follow_redirects=False).status_code == 401
    begun = client.get("/api/v1/oidc/login?return_to=/jobs", follow_redirects=False)
    back = httpx2.get(begun.headers["location"], follow_redirects=False).headers["location"]
    done = client.get(f"/api/v1/oidc/callback?{urlsplit(back).query}", follow_redirects=False)
    assert (done.status_code, done.headers["location"]) == (303, "/jobs")
    me = client.get("/api/v1/whoami").json()
    assert (me["user"]["name"], me["workspaces"]) == (
        "zed",
        [{"workspace": "vision", "roles": ["developer"]}],
    )
    csrf = client.cookies["quotatree_csrf"]
    assert client.post("/api/v1/jobs", json=job(), headers={"X-CSRF-Token": csrf}).status_code == 201


def test_who_is_refused_in_a_browser_is_sent_to_the_door_with_why(with_oidc: Api, provider: OidcProvider):
    client = browser(with_oidc)
    stranger = client.get(
        "/api/v1/oidc/callback?code=x&state=y", headers={"Accept": "text/html"}, follow_redirects=False
    )
    assert (stranger.status_code, stranger.headers["location"]) == (303, "/login")
    cookie = stranger.headers["set-cookie"]
    assert cookie.startswith("quotatree_refused=this%20login%20was%20not%20begun%20here")
    assert "Path=/login" in cookie
    assert "quotatree_session" not in cookie


def test_a_person_logs_in_from_a_terminal(with_oidc: Api, provider: OidcProvider):
    provider.login("u-8", preferred_username="yan", groups=[])
    client = with_oidc.client
    begun = client.post("/api/v1/oidc/device").json()
    ask = {"handle": begun["handle"]}
    waits = client.post("/api/v1/oidc/device/token", json=ask)
    assert (waits.status_code, waits.json()["code"]) == (400, "LoginPending")
    assert int(waits.headers["retry-after"]) >= 1
    assert client.post("/api/v1/oidc/device/token", json={"handle": "x"}).status_code == 401
    begun = client.post("/api/v1/oidc/device").json()
    provider.answer_device(begun["user_code"])
    made = client.post("/api/v1/oidc/device/token", json={"handle": begun["handle"]})
    assert (made.status_code, made.json()["user"]) == (201, "yan")
    headers = {"Authorization": f"Bearer {made.json()['token']}"}
    assert client.get("/api/v1/whoami", headers=headers).json()["user"]["name"] == "yan"


def test_without_a_provider_there_is_none(shared: Api):
    assert shared.client.get("/api/v1/oidc/login").status_code == 404
    assert shared.client.post("/api/v1/oidc/device").status_code == 404
