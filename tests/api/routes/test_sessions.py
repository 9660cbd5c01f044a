"""Logging in and out: the session's key, passwords, OIDC in the browser and from a terminal (W2)."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

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
    key = str(answer.json()["key"])
    client.headers["Authorization"] = f"Bearer {key}"
    return key


def test_a_session_reads_and_writes_by_its_key_until_it_is_closed(api: Api):
    client = browser(api)
    log_in(client)
    assert client.get("/api/v1/whoami").json()["signed_in_by"] == "session"
    assert client.post("/api/v1/jobs", json=job()).status_code == 201
    assert client.delete("/api/v1/session").status_code == 200
    assert client.get("/api/v1/whoami").status_code == 401


def test_a_key_counts_in_authorization_only(api: Api):
    """Browsers send the cookies of a host to all its ports; what stands in an address is kept in histories and logs."""
    client = browser(api)
    key = log_in(client)
    del client.headers["Authorization"]
    names = ("quotatree_session", "quotatree_csrf", "quotatree_key", "Authorization")
    elsewhere: list[dict[str, str]] = [
        {"Cookie": "; ".join(f"{name}={key}" for name in names)},
        {"X-CSRF-Token": key},
        {"Authorization": key},
        {"Authorization": f"Basic {key}"},
        {"Authorization": f"Bearer {key[:-1]}"},
    ]
    for headers in elsewhere:
        for path in ("/whoami", "/jobs", "/events", "/events/stream"):
            assert client.get(f"/api/v1{path}", headers=headers).status_code == 401
            assert client.get(f"/api/v1{path}?key={key}", headers=headers).status_code == 401
        assert client.post("/api/v1/tokens", json={"name": "x"}, headers=headers).status_code == 401


def test_no_answer_sets_a_cookie(with_oidc: Api):
    """A cookie would reach the services of jobs, which answer at other ports of the host, and could be replaced by them."""
    client = browser(with_oidc)
    answers = [
        client.post("/api/v1/session", json={"user": "root", "password": PASSWORD}),
        client.post("/api/v1/session/token", json={"token": with_oidc.token("ann")}),
        client.post("/api/v1/oidc/login"),
        client.get("/api/v1/oidc/callback?code=x&state=y", follow_redirects=False),
        client.post("/api/v1/session/oidc", json={"answer": "code=x&state=y", "secret": "z"}),
        client.get("/login", headers={"Accept": "text/html"}),
    ]
    assert [answer.status_code for answer in answers[:5]] == [200, 200, 200, 303, 401]
    assert [answer.headers.get_list("set-cookie") for answer in answers] == [[]] * len(answers)


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
    log_in(here)
    log_in(there)
    change = {"password": "another good one"}
    put = "/api/v1/users/root/password"
    assert here.put(put, json=change).json()["field"] == "current"
    wrong = here.put(put, json={**change, "current": "no"})
    assert wrong.status_code == 401
    right = here.put(put, json={**change, "current": PASSWORD})
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


def sent_back(client: TestClient) -> tuple[str, str]:
    """A login as far as the login page: the provider's answer, as the page finds it, and the secret that the page has."""
    begun = client.post("/api/v1/oidc/login").json()
    back = httpx2.get(begun["url"], follow_redirects=False).headers["location"]
    callback = client.get(f"/api/v1/oidc/callback?{urlsplit(back).query}", follow_redirects=False)
    page, _, answer = callback.headers["location"].partition("#oidc=")
    assert (callback.status_code, page) == (303, "/login")
    return unquote(answer), begun["secret"]


def test_a_person_logs_in_by_the_browser(with_oidc: Api, provider: OidcProvider):
    provider.login("u-7", preferred_username="zed@example.org", groups=["ml"])
    client = browser(with_oidc)
    answer, secret = sent_back(client)
    opened = client.post("/api/v1/session/oidc", json={"answer": answer, "secret": secret})
    assert opened.status_code == 200, opened.text
    client.headers["Authorization"] = f"Bearer {opened.json()['key']}"
    me = client.get("/api/v1/whoami").json()
    assert (me["user"]["name"], me["workspaces"]) == (
        "zed",
        [{"workspace": "vision", "roles": ["developer"]}],
    )
    assert client.post("/api/v1/jobs", json=job()).status_code == 201
    again = client.post("/api/v1/session/oidc", json={"answer": answer, "secret": secret})
    assert again.status_code == 401


def test_a_page_that_did_not_begin_a_login_cannot_end_it(with_oidc: Api, provider: OidcProvider):
    provider.login("u-7", preferred_username="zed@example.org", groups=["ml"])
    client = browser(with_oidc)
    (answer, _), (_, of_another) = sent_back(client), sent_back(client)
    for secret in ("", of_another):
        refused = client.post("/api/v1/session/oidc", json={"answer": answer, "secret": secret})
        assert (refused.status_code, refused.json()["code"]) == (401, "Unauthenticated")


@pytest.mark.parametrize(
    "query", ["x=//evil.example", "x=%0d%0aSet-Cookie:%20a=b", "error=access_denied&state=#x"]
)
def test_what_the_provider_says_stays_behind_the_hash(with_oidc: Api, query: str):
    callback = browser(with_oidc).get(f"/api/v1/oidc/callback?{query}", follow_redirects=False)
    page, _, answer = callback.headers["location"].partition("#oidc=")
    assert page == "/login"
    assert re.fullmatch("[A-Za-z0-9_.%-]+", answer)


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
    assert shared.client.post("/api/v1/oidc/login").status_code == 404
    assert shared.client.get("/api/v1/oidc/callback").status_code == 404
    assert shared.client.post("/api/v1/oidc/device").status_code == 404
