"""A team sees only its own, and no control that it may not use."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.console_browser.world import World


def test_a_team_sees_its_own_quota_and_what_is_above_it_as_a_stub(sign_in):
    bob = sign_in("bob", "/quotas/Quota1.1")
    expect(bob.get_by_role("treeitem", name="Quota1.1")).to_be_visible()
    expect(bob.get_by_role("tree")).to_contain_text("above you")
    expect(bob.get_by_role("tree")).not_to_contain_text("Quota1.2")


def test_controls_that_a_team_may_not_use_are_absent(sign_in):
    bob = sign_in("bob", "/quotas/Quota1.1")
    expect(bob.get_by_role("region", name="Policies")).to_be_visible()
    expect(bob.get_by_role("switch")).to_have_count(0)
    expect(bob.get_by_role("link", name="Edit policy")).to_have_count(0)
    for place in ("Cluster", "Users"):
        expect(bob.get_by_role("navigation", name="Main").get_by_role("link", name=place)).to_have_count(0)


def test_the_address_of_another_teams_job_shows_nothing(sign_in, world: World):
    cai = sign_in("cai", f"/jobs/{world.job('tune')['id']}")
    expect(cai.get_by_role("alert")).to_contain_text("Not there, or not yours")


def test_the_server_decides_whatever_the_page_shows(sign_in, world: World):
    bob = sign_in("bob", "/quotas/Quota1.1")
    bob.get_by_role("region", name="Policies").wait_for()
    refused = bob.evaluate(
        """async () => (await fetch('/api/v1/quotas/Quota1.1/policies', {method: 'PUT', body: '{"strategy": "fifo"}', headers: {
             'Content-Type': 'application/json', 'If-Match': '"1"', Authorization: `Bearer ${localStorage['quotatree-key']}`}})).status"""
    )
    assert refused == 403
    with world.client() as client:
        assert client.quotas.get("Quota1.1")["strategy"] == "intelligent"
