"""Every address says what it is: its own title, and where there is nothing to be seen, why and what to do, beside the menu."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.console_browser.world import World

TITLES = {
    "/": "Overview",
    "/quotas/Quota1.1": "Quota1.1",
    "/quotas/Quota1.1/jobs": "Quota1.1 · jobs",
    "/quotas/Quota1/policy": "Quota1 · policy",
    "/jobs": "Jobs",
    "/jobs/new": "Submit a job",
    "/jobs/{tune}": "tune · why",
    "/jobs/{tune}/logs": "tune · logs",
    "/preemptions": "Preemptions",
    "/cluster": "Cluster",
    "/workspaces/workspace-b": "workspace-b · members",
    "/what-if": "What-if",
    "/audit": "Audit",
    "/users": "Users",
    "/me": "My account",
    "/no/such/page": "No such page",
}
CLOSED = {
    "/quotas/Quota1.1/policy?child=on": "change the policies of Quota1.1",
    "/users": "manage accounts",
    "/cluster": "see the nodes",
    "/what-if": "play what-if runs",
}
"""Addresses that a developer's role may not use, and what they are told that others may."""


def test_each_page_has_a_title_of_its_own(sign_in, world: World):
    page = sign_in("admin", "/")
    job = world.job("tune")["id"]
    for path, title in TITLES.items():
        page.goto(path.replace("{tune}", job))
        expect(page).to_have_title(f"{title} · QuotaTree")
    page.goto("/login")
    expect(page).to_have_title("Sign in · QuotaTree")


@pytest.mark.parametrize("path", list(CLOSED))
def test_an_address_that_a_role_may_not_use_says_who_may(sign_in, path: str):
    page = sign_in("bob", path)
    told = page.get_by_role("alert")
    expect(told).to_contain_text(f"Your role may not {CLOSED[path]}")
    expect(told).to_contain_text("latform admins")
    expect(page.locator("main").get_by_role("switch")).to_have_count(0)
    expect(
        page.locator("main").get_by_role("button", name=re.compile("Save|Create|Cordon|Play"))
    ).to_have_count(0)
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()


@pytest.mark.parametrize(
    ("path", "said", "way_out"),
    [
        ("/no/such/page", "There is no such page", "overview"),
        ("/jobs/nonsense", "There is no job nonsense", "All jobs"),
        ("/jobs/dlc-0000000000", "There is no job dlc-0000000000", "All jobs"),
        ("/quotas/Nowhere", "There is no quota Nowhere", "All quotas"),
        ("/quotas/Nowhere/policy", "There is no quota Nowhere", "All quotas"),
        ("/workspaces/nowhere", "There is no workspace nowhere", "All workspaces"),
        ("/preemptions/99999", "There is no preemption #99999", "All preemptions"),
        ("/preemptions/nonsense", "There is no preemption #nonsense", "All preemptions"),
    ],
)
def test_what_is_not_there_is_told_beside_the_menu_with_a_way_on(sign_in, path: str, said: str, way_out: str):
    page: Page = sign_in("admin", path)
    main = page.locator("main")
    expect(main).to_contain_text(said)
    expect(main.get_by_role("link", name=way_out).first).to_be_visible()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
