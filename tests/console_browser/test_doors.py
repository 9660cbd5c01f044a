"""Who gets in, by which way?"""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, expect

from quotatree.cli.demo import cast
from tests.console_browser.world import World, password


@pytest.mark.parametrize(("user", "quota"), list(cast.TEAMS.values()))
def test_each_team_signs_in_by_password_and_sees_its_quota(browser: Browser, world: World, user, quota):
    page = browser.new_page(base_url=world.url)
    page.goto(f"/quotas/{quota}")
    page.get_by_label("User").fill(user)
    page.get_by_label("Password", exact=True).fill(password(user))
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", level=1, name=quota)).to_be_visible()
    page.close()


@pytest.mark.parametrize(
    "back", ["https://evil.example/", "//evil.example/", "/\\evil.example/", "javascript:alert(1)"]
)
def test_an_address_to_go_back_to_leads_to_no_other_site(browser: Browser, world: World, back: str):
    page = browser.new_page(base_url=world.url)
    left: list[str] = []
    page.on(
        "request", lambda request: None if request.url.startswith(world.url) else left.append(request.url)
    )
    page.on("dialog", lambda dialog: left.append(dialog.message))
    page.goto(f"/login?back={quote(back)}")
    page.get_by_label("User").fill("bob")
    page.get_by_label("Password", exact=True).fill(password("bob"))
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(lambda url: "/login" not in url)
    assert page.url.startswith(f"{world.url}/")
    assert left == []
    page.close()


def test_a_wrong_password_is_told_and_lets_nobody_in(browser: Browser, world: World):
    page = browser.new_page(base_url=world.url)
    page.goto("/login")
    page.get_by_label("User").fill("bob")
    page.get_by_label("Password", exact=True).fill("wrong")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert "/login" in page.url
    page.close()


def test_a_token_opens_the_door(browser: Browser, world: World):
    page = browser.new_page(base_url=world.url)
    page.goto("/login")
    page.get_by_text("Sign in with a token").click()
    page.get_by_label("Token", exact=True).fill(world.tokens["cai"])
    page.get_by_role("button", name="Sign in with the token").click()
    expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    page.close()


def test_a_login_link_works_once(browser: Browser, world: World):
    asking = browser.new_context(base_url=world.url)
    made = asking.request.post(
        "/api/v1/login-links", headers={"Authorization": f"Bearer {world.tokens['ada']}"}
    )
    path = made.json()["path"]
    first = browser.new_page(base_url=world.url)
    first.goto(path)
    expect(first.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    second = browser.new_page(base_url=world.url)
    second.goto(path)
    expect(second.get_by_role("alert")).to_contain_text("link")
    for page in (first, second):
        page.close()
    asking.close()


def test_cookies_of_an_older_version_end_at_the_door(browser: Browser, world: World):
    context = browser.new_context(base_url=world.url)
    names = ("quotatree_session", "quotatree_csrf")
    context.add_cookies([{"name": name, "value": "a" * 43, "url": world.url} for name in names])
    page = context.new_page()
    page.goto("/jobs")
    page.get_by_label("User").fill("bob")
    page.get_by_label("Password", exact=True).fill(password("bob"))
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="Jobs")).to_be_visible()
    context.close()


def test_who_signs_out_in_one_window_is_out_in_all(sign_in, world: World):
    here = sign_in("bob", "/jobs")
    there = here.context.new_page()
    there.goto("/me")
    expect(there.get_by_role("link", name="bob", exact=True)).to_be_visible()
    here.get_by_role("button", name="Sign out").click()
    expect(there.get_by_role("button", name="Sign in", exact=True)).to_be_visible()


def test_the_console_goes_on_after_the_server_was_started_anew(sign_in, world: World):
    page = sign_in("bob", "/me")
    expect(page.get_by_role("link", name="bob", exact=True)).to_be_visible()
    world.stop()
    world.start()
    page.reload()
    expect(page.get_by_role("link", name="bob", exact=True)).to_be_visible()
