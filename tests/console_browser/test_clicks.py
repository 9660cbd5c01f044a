"""How many clicks from the first page to the answer? Counted in the page itself: every press of the pointer."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.console_browser.world import World

COUNT = "window.presses = 0; addEventListener('pointerdown', () => { window.presses += 1; }, true);"


@pytest.fixture(scope="module")
def taken(world: World) -> World:
    world.take()
    return world


def begin(page: Page) -> Page:
    page.get_by_role("heading", level=1, name="Overview").wait_for()
    page.evaluate(COUNT)
    return page


def at_most(page: Page, clicks: int, question: str) -> None:
    counted = int(page.evaluate("window.presses"))
    print(f"\n  {question:<32} {counted} clicks, at most {clicks}", end="")
    assert 0 < counted <= clicks


def test_why_does_my_job_wait(sign_in, taken: World):
    page = begin(sign_in("bob"))
    page.get_by_role("region", name="Waiting jobs").get_by_role("link", name="extra").click()
    expect(page.get_by_test_id("why")).to_contain_text("has 0 GPU free")
    at_most(page, 1, "Why does my job wait?")


def test_who_took_my_gpus(sign_in, taken: World):
    page = begin(sign_in("bob"))
    page.get_by_role("region", name="Recent preemptions").get_by_role("link", name="#1", exact=True).click()
    drawn = page.get_by_test_id("decision")
    expect(drawn).to_contain_text("priority 5")
    expect(drawn.get_by_role("list", name="Victims")).to_contain_text("sweep-a")
    at_most(page, 1, "Who took my GPUs?")


def test_who_could_take_my_job(sign_in, taken: World):
    page = begin(sign_in("bob"))
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Jobs").click()
    page.get_by_role("link", name="tune", exact=True).click()
    expect(page.get_by_role("region", name="Who could take it")).to_contain_text("child-level")
    at_most(page, 2, "Who could take my job?")


def test_who_stands_on_my_guarantee(sign_in, taken: World):
    page = begin(sign_in("bob"))
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Quotas").click()
    page.get_by_role("treeitem", name="Quota1.1").get_by_text("squeezed 8").click()
    expect(page.get_by_role("region", name="Figures")).to_contain_text("Who stands on this guarantee: ")
    at_most(page, 2, "Who stands on my guarantee?")


def test_what_if_i_change_this(sign_in, taken: World):
    page = begin(sign_in("admin"))
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Quotas").click()
    page.get_by_label("Child-level preemption").click(force=True)
    expect(page.get_by_test_id("preview")).to_contain_text("Nothing would start")
    at_most(page, 2, "What if I change this?")
