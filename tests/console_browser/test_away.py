"""A server that is away, or is a newer one: pages that were not loaded yet come by themselves, and nothing on screen is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from quotatree.api.console_files import BUILT_INTO
from tests.console_browser.conftest import ARTEFACTS
from tests.console_browser.world import World

NEWER = "newer-"


@pytest.fixture
def away(world: World) -> Iterator[World]:
    """The world, which runs again after the test, whatever the test did."""
    yield world
    if not world.running:
        world.start()


def test_a_page_that_is_opened_while_the_server_is_away_comes_when_it_is_back(sign_in, away: World):
    page = sign_in("admin", "/quotas/Quota1.1")
    figures = page.get_by_role("region", name="Figures")
    expect(figures).to_contain_text("of 48 GPU used")
    away.stop()
    menu(page, "Workspaces")
    expect(page.get_by_role("alert")).to_contain_text("Workspaces opens as soon as the server answers")
    expect(page.get_by_role("alert")).to_contain_text(re.compile(r"What you see is of \d\d:\d\d:\d\d"))
    expect(figures).to_contain_text("of 48 GPU used")  # what was on screen stays
    expect(page.locator("main#main")).to_have_class(re.compile("dimmed"))
    page.screenshot(path=ARTEFACTS / "away-light-1440.png")
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    away.start()
    expect(page.get_by_role("heading", level=1, name="Workspaces")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("region", name="Table: Workspaces")).to_contain_text("workspace-b")
    expect(page.locator("main#main")).not_to_have_class(re.compile("dimmed"), timeout=60_000)


def test_a_page_with_styles_of_its_own_is_whole_after_it_could_not_be_loaded(sign_in, away: World):
    page = sign_in("admin", "/me")
    expect(page.get_by_role("heading", level=1, name="admin")).to_be_visible()
    away.stop()
    menu(page, "Quotas")
    expect(page.get_by_role("alert")).to_contain_text("Quotas opens as soon as")
    away.start()
    row = page.get_by_role("treeitem", name="Quota1.2")
    expect(row).to_be_visible(timeout=60_000)
    assert row.evaluate("row => getComputedStyle(row).display") == "grid"


def test_while_a_page_cannot_be_loaded_others_that_were_seen_can_be_opened(sign_in, away: World):
    page = sign_in("admin", "/jobs")
    expect(page.get_by_role("heading", level=1, name="Jobs")).to_be_visible()
    menu(page, "Preemptions")
    expect(page.get_by_role("heading", level=1, name="Preemptions")).to_be_visible()
    away.stop()
    menu(page, "Audit")
    expect(page.get_by_role("alert")).to_contain_text("Audit opens as soon as")
    menu(page, "Jobs")
    expect(page.get_by_role("heading", level=1, name="Jobs")).to_be_visible()
    expect(page.get_by_role("alert").first).not_to_contain_text("Audit")


def test_after_an_upgrade_a_page_whose_file_has_another_name_opens_all_the_same(sign_in, world: World):
    page = sign_in("admin", "/jobs")
    expect(page.get_by_role("heading", level=1, name="Jobs")).to_be_visible()
    upgrade(page)
    menu(page, "Workspaces")
    expect(page.get_by_role("heading", level=1, name="Workspaces")).to_be_visible()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    assert page.url.endswith("/workspaces")


def menu(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Main").get_by_role("link", name=name).click()


def upgrade(page: Page) -> None:
    """From now on the server seems to have another build: the same scripts under other names, and none under the old."""
    names = [file.name for file in Path(BUILT_INTO, "assets").glob("*.js")]

    def renamed(text: str) -> str:
        return re.sub("|".join(re.escape(name) for name in names), lambda found: NEWER + found[0], text)

    def answer(route: Route) -> None:
        file = route.request.url.rpartition("/")[2]
        if not file.startswith(NEWER):
            route.fulfill(status=404)
            return
        text = Path(BUILT_INTO, "assets", file.removeprefix(NEWER)).read_text()
        route.fulfill(body=renamed(text), content_type="text/javascript")

    def index(route: Route) -> None:
        if "text/html" in (route.request.headers.get("accept") or ""):
            route.fulfill(body=renamed(Path(BUILT_INTO, "index.html").read_text()), content_type="text/html")
        else:
            route.continue_()

    page.route(re.compile(r"/(jobs|workspaces)?$"), index)
    page.route("**/assets/*.js", answer)
