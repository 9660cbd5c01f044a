"""What does a developer's service get of an administrator who follows the console's link to it?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from quotatree.cli.demo import cast
from quotatree.cli.demo.stage import Stage, stage
from tests.console_browser import thief
from tests.console_browser.world import come_true

STARTS_SECONDS = 60.0
READS = ("/whoami", "/jobs", "/users", "/events", "/events/stream", "/audit")
WRITES: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
    ("POST", "/tokens", {"name": "stolen", "user": "admin"}),
    ("POST", "/users", {"name": "mallory", "platform_admin": True}),
    ("POST", "/login-links", None),
    ("DELETE", "/session", None),
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("thief") / "stage") as opened:
        opened.open()
        yield opened


@pytest.fixture(scope="module")
def own_key(world: Stage) -> str:
    """The key of bob's own session."""
    opened = httpx2.post(f"{world.url}/api/v1/session/token", json={"token": _token(world, "bob")})
    return str(opened.json()["key"])


@pytest.fixture(scope="module")
def service(world: Stage, own_key: str) -> str:
    """Id of bob's service, which robs. It sets cookies of all names that could be taken for his own session."""
    names = ("quotatree_session", "quotatree_csrf", "quotatree_key", "quotatree-key", "Authorization")
    cookies = [f"{name}={own_key}" for name in names]
    made = world.client("bob").jobs.submit(
        {
            "workspace": "workspace-b",
            "quota": cast.TEAMS["workspace-b"][1],
            "name": "answers",
            "module": "EAS",
            "program": {
                "command": [sys.executable, thief.__file__, "{port}", world.url, *cookies],
                "service_port": 8080,
            },
            "groups": [{"replicas": 1, "gpus": 1}],
        }
    )
    come_true(lambda: _address(world, made["id"]) is not None, STARTS_SECONDS)
    return str(made["id"])


@pytest.fixture
def context(browser: Browser, world: Stage) -> Iterator[BrowserContext]:
    opened = browser.new_context(base_url=world.url)
    yield opened
    opened.close()


@pytest.fixture
def admin(context: BrowserContext, world: Stage, service: str) -> Page:
    """The administrator, signed in, on the page with the link to the service."""
    page = context.new_page()
    page.goto(world.client("admin").logins.link()["path"])
    expect(page.get_by_role("link", name="admin", exact=True)).to_be_visible()
    page.goto(f"/jobs/{service}/runs")
    return page


def test_what_a_service_receives_opens_nothing(admin: Page, world: Stage, service: str, own_key: str):
    _visit(admin, world, service)
    loot = httpx2.get(f"{_address(world, service)}took").json()
    assert loot["took"]
    assert loot["found"]
    opened = [
        f"{method} {path} with {sorted(headers)}: {status}"
        for headers in _tries(loot["took"], own_key)
        for method, path, body in (*(("GET", path, None) for path in READS), *WRITES)
        if (status := _status(world, method, path, headers, body)) != httpx2.codes.UNAUTHORIZED
    ]
    assert opened == []


def test_the_page_of_a_service_learns_nothing_of_the_console(admin: Page, world: Stage, service: str):
    _visit(admin, world, service)
    found = httpx2.get(f"{_address(world, service)}took").json()["found"][-1]
    assert (found["stored"], found["session"], found["referrer"]) == ([], [], "")
    assert (found["opener"], found["name"], found["framed"]) == ("null", "", "closed")
    assert found["whoami"] == found["stream"] == ["refused", 0, ""]
    assert found["write"] in (["refused", 0, ""], ["opaque", 0, ""])
    names = {token["name"] for token in world.client("admin").tokens.list()}
    assert "stolen" not in names


def test_cookies_that_a_service_sets_change_nobody_into_another_user(admin: Page, world: Stage, service: str):
    _visit(admin, world, service)
    admin.goto("/me")
    expect(admin.get_by_role("link", name="admin", exact=True)).to_be_visible()
    with admin.expect_response("**/api/v1/session") as left:
        admin.get_by_role("button", name="Sign out").click()
    assert left.value.ok
    door = admin.get_by_role("button", name="Sign in with the token")
    expect(door).to_be_visible()
    admin.goto("/me")  # signed out, although the cookies of another user are there
    expect(door).to_be_visible()


def test_a_link_from_elsewhere_does_not_change_who_is_signed_in(admin: Page, world: Stage, service: str):
    link = world.client("bob").logins.link()["path"]
    _visit(admin, world, service)
    admin.evaluate("address => { window.location.href = address; }", f"{world.url}{link}")
    expect(admin.get_by_role("alert")).to_contain_text("admin")
    admin.goto("/me")
    expect(admin.get_by_role("link", name="admin", exact=True)).to_be_visible()


def test_a_link_from_elsewhere_asks_also_where_a_session_has_ended(admin: Page, world: Stage, service: str):
    """Sessions end after hours; the link would make their user work as somebody else without a word."""
    link = world.client("bob").logins.link()["path"]
    _visit(admin, world, service)
    kept = next(one for one in admin.context.storage_state()["origins"] if one["origin"] == world.url)[
        "localStorage"
    ]
    key = next(one["value"] for one in kept if one["name"] == "quotatree-key")
    httpx2.delete(f"{world.url}/api/v1/session", headers={"Authorization": f"Bearer {key}"})
    admin.evaluate("address => { window.location.href = address; }", f"{world.url}{link}")
    expect(admin.get_by_role("alert")).to_contain_text("has ended")
    admin.get_by_role("button", name="Sign in another way").click()
    expect(admin.get_by_role("alert")).to_have_count(0)
    admin.goto("/me")
    expect(admin.get_by_role("button", name="Sign in with the token")).to_be_visible()


def test_a_host_name_for_each_job_keeps_their_cookies_apart(
    context: BrowserContext, world: Stage, service: str
):
    """`job_host = "{job}.localhost"`: browsers lead such names to the loopback, and no name server is needed."""
    port = httpx2.URL(_address(world, service) or "").port
    page = context.new_page()
    for job in ("dsw-1", "eas-2"):
        page.goto(f"http://{job}.localhost:{port}/")
        page.evaluate(
            "of => { document.cookie = `of=${of}`; document.cookie = `all=${of}; domain=localhost`; }", job
        )
    seen = {}
    for name in ("dsw-1.localhost", "eas-2.localhost", "localhost", "127.0.0.1"):
        page.goto(f"http://{name}:{port}/")
        seen[name] = [
            one for one in page.evaluate("document.cookie").split("; ") if one.startswith(("of=", "all="))
        ]
    assert seen == {
        "dsw-1.localhost": ["of=dsw-1"],
        "eas-2.localhost": ["of=eas-2"],
        "localhost": [],
        "127.0.0.1": [],
    }


def _visit(page: Page, world: Stage, service: str) -> None:
    page.get_by_role("link", name=_address(world, service)).click()
    expect(page).to_have_title("robbed")


def _tries(took: list[dict[str, str]], own_key: str) -> Iterator[dict[str, str]]:
    """Headers to ask with: all that was received; then each cookie as whatever the server could take it for.

    As a bearer, the thief's own key makes him bob, which he is: that one is left out.
    """
    for received in took:
        kept = {
            name: value
            for name, value in received.items()
            if name.lower() not in ("host", "content-length", "content-type", "connection", "accept-encoding")
        }
        yield kept
        for pair in received.get("Cookie", "").split("; "):
            value = pair.partition("=")[2]
            if value:
                yield {**kept, "X-CSRF-Token": value}
            if value not in ("", own_key):
                yield {"Authorization": f"Bearer {value}"}


def _status(
    world: Stage, method: str, path: str, headers: dict[str, str], body: dict[str, Any] | None
) -> int:
    with httpx2.stream(method, f"{world.url}/api/v1{path}", headers=headers, json=body) as answer:
        return answer.status_code


def _address(world: Stage, job: str) -> str | None:
    return world.client("admin").jobs.endpoint(job)["address"]


def _token(world: Stage, user: str) -> str:
    return world.tokens[user].read_text().strip()
