"""What is on screen follows the server: in every window, after a conflict, after a lost connection."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.console_browser.world import World


def test_a_change_in_one_window_shows_in_the_other(sign_in, world: World):
    one = sign_in("admin", "/quotas/Quota1")
    other = one.context.new_page()
    other.goto("/quotas/Quota1.2")
    expect(other.get_by_role("region", name="Figures")).to_contain_text("80 of 80 GPU used")
    with world.client("cai") as cai:
        cai.jobs.cancel(world.job("notebook-9")["id"])
    expect(other.get_by_role("region", name="Figures")).to_contain_text("72 of 80 GPU used")
    expect(one.get_by_role("treeitem", name="Quota1.2")).to_contain_text("72/80")


def test_two_admins_who_edit_the_same_policy_see_both_versions(sign_in, world: World):
    mine, theirs = sign_in("admin", "/quotas/Quota1/policy"), sign_in("admin", "/quotas/Quota1/policy")
    field = "Priorities that may be taken below"
    mine.get_by_label(field).fill("1-2")
    theirs.get_by_label(field).fill("1-4")
    theirs.get_by_role("button", name="Save").click()
    expect(theirs.get_by_role("region", name="Policies")).to_contain_text("1-4")
    mine.get_by_role("button", name="Save").click()
    conflict = mine.get_by_test_id("conflict")
    for part in ("1-3", "1-4", "1-2"):
        expect(conflict).to_contain_text(part)
    with world.client() as client:
        child = client.quotas.get("Quota1")["child_level"]
    assert child is not None
    assert child["priorities"] == "1-4", "nobody's change is lost"
    mine.get_by_role("button", name="Go on with mine").click()
    mine.get_by_role("button", name="Save").click()
    expect(mine.get_by_role("region", name="Policies")).to_contain_text("1-2")


def test_a_lost_connection_is_told_and_heals(sign_in, world: World):
    page = sign_in("admin", "/quotas/Quota1.1")
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    world.stop()
    expect(page.get_by_text("The connection to the server is lost")).to_be_visible()
    expect(page.get_by_role("region", name="Figures")).to_contain_text("of 48 GPU used")
    world.start()
    expect(page.get_by_text("live", exact=True)).to_be_visible(timeout=60_000)
    with world.client("bob") as bob:
        bob.jobs.cancel(world.job("embed")["id"])
    expect(page.get_by_role("region", name="Figures")).to_contain_text("40 of 48 GPU used")
