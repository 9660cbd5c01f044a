"""How many clicks to the answer? Counted in the page itself."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from quotatree.cli.demo import cast
from tests.console_browser.world import World

COUNT = "window.clicks = 0; addEventListener('click', () => { window.clicks += 1; }, true);"


def clicks(page: Page) -> int:
    return int(page.evaluate("window.clicks"))


def test_a_new_user_finds_out_why_a_job_waits_in_one_click(sign_in, world: World):
    with world.client("bob") as bob:
        bob.jobs.submit({**cast.extra(), "program": {}})
    page = sign_in("bob")
    page.evaluate(COUNT)
    page.get_by_role("region", name="Waiting jobs").get_by_role("link", name="extra").click()
    expect(page.get_by_test_id("why")).to_contain_text("has 0 GPU free")
    assert clicks(page) <= 2
    print(f"\nwhy a job waits: {clicks(page)} click")


def test_an_admin_sees_what_a_change_would_do_in_two_clicks_from_the_tree(sign_in, world: World):
    page = sign_in("admin", "/quotas")
    page.evaluate(COUNT)
    page.get_by_role("treeitem", name="Quota1", exact=False).first.click()
    page.get_by_label("Child-level preemption").click(force=True)
    expect(page.get_by_test_id("preview")).to_contain_text("If saved now")
    assert clicks(page) <= 3  # a switch is an input and its label: one click is heard twice
    print(f"what a change would do: {clicks(page)} clicks")
