"""Who signs in with an identity provider, in the browser?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from joserfc.jwk import RSAKey
from playwright.sync_api import Browser, expect

from quotatree.cli.demo import cast
from tests.console_browser.world import World
from tests.oidc_provider import CLIENT, SECRET, OidcProvider


@pytest.fixture(scope="module")
def provider() -> Iterator[OidcProvider]:
    with OidcProvider(RSAKey.generate_key(2048, {"kid": "first"}), int(time.time())) as there:
        yield there


@pytest.fixture(scope="module")
def world(
    tmp_path_factory: pytest.TempPathFactory, browser: Browser, provider: OidcProvider
) -> Iterator[World]:
    made = TrustingWorld(tmp_path_factory.mktemp("oidc"), provider)
    made.start()
    try:
        made.divide()
        yield made
    finally:
        made.stop()


class TrustingWorld(World):
    def __init__(self, directory: Path, provider: OidcProvider) -> None:
        super().__init__(directory)
        provider.redirect = f"{self.url}/api/v1/oidc/callback"
        self.settings = {
            "QUOTATREE_OIDC_ISSUER": provider.issuer,
            "QUOTATREE_OIDC_CLIENT_ID": CLIENT,
            "QUOTATREE_OIDC_CLIENT_SECRET": SECRET,
            "QUOTATREE_OIDC_REDIRECT_URI": provider.redirect,
        }


def test_whoever_the_provider_knows_gets_in_and_goes_where_they_wanted(
    browser: Browser, world: World, provider: OidcProvider
):
    provider.login("u-7", preferred_username="dora", name="Dora D.")
    page = browser.new_page(base_url=world.url)
    page.goto("/workspaces")
    page.get_by_role("button", name=f"Sign in with {provider.issuer.removeprefix('http://')}").click()
    expect(page.get_by_role("heading", level=1, name="Workspaces")).to_be_visible()
    expect(page.get_by_role("link", name="dora", exact=True)).to_be_visible()
    expect(page.get_by_text("You are in no workspace")).to_be_visible()  # an account without a role
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    page.close()


def test_a_login_that_the_server_refuses_ends_at_the_door_with_why(
    browser: Browser, world: World, provider: OidcProvider
):
    _, (owner, _) = next(iter(cast.TEAMS.items()))
    provider.login("u-8", preferred_username=owner)  # a name that another account has already
    page = browser.new_page(base_url=world.url)
    page.goto("/")
    page.get_by_role("button", name="Sign in with 127.0.0.1").click()
    expect(page.get_by_role("alert")).to_contain_text(owner)
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    page.close()


def test_a_login_that_another_began_signs_nobody_in(browser: Browser, world: World, provider: OidcProvider):
    """A thief sends a visitor back from the provider with the thief's own answer, and sets cookies for it."""
    provider.login("u-9", preferred_username="mallory")
    thief, victim = browser.new_context(base_url=world.url), browser.new_context(base_url=world.url)
    begun = thief.request.post("/api/v1/oidc/login").json()
    answer = thief.request.get(begun["url"], max_redirects=0).headers["location"]
    names = ("quotatree_login", "quotatree-login")
    victim.add_cookies([{"name": name, "value": begun["secret"], "url": world.url} for name in names])
    page = victim.new_page()
    page.goto(answer)
    expect(page.get_by_role("alert")).to_contain_text("not begun here")
    page.goto("/me")
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    for context in (thief, victim):
        context.close()
