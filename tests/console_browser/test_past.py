"""What was used over hours and days, by whom, and what was lost?"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from quotatree.cli.demo import cast
from tests.console_browser.past import remember
from tests.console_browser.world import World


@pytest.fixture(scope="module")
def remembered(world: World) -> World:
    with world.client("ada") as ada:
        ada.jobs.submit({**cast.service(), "program": {}})
    world.until(lambda: world.job("sweep-a")["phase"] == "Waiting")
    remember(world.directory / "data")
    return world


def test_the_stored_figures_are_drawn_over_hours_and_days_and_preemptions_are_told_with_them(
    sign_in, remembered: World
):
    bob = sign_in("bob", "/quotas/Quota1.1")
    bob.get_by_role("navigation", name="Parts of the quota").get_by_role("link", name="Monitoring").click()
    gpus = bob.get_by_role("region", name="GPUs over time")
    expect(gpus).to_contain_text("each minute")
    drawn = gpus.get_by_role("img")
    expect(drawn).to_have_attribute("aria-label", _has("over 6 hours: min at most 48 GPU, now 48 GPU; used"))
    expect(drawn).to_have_attribute("aria-label", _has("squeezed at most 8 GPU"))
    expect(drawn.locator("canvas")).to_be_visible()
    expect(bob.get_by_role("region", name="Preemptions in this time")).to_contain_text("took 2 jobs")

    bob.get_by_role("link", name="7d", exact=True).click()
    expect(gpus).to_contain_text("means of each hour")
    assert "span=7d" in bob.url
    bob.reload()
    expect(gpus.get_by_role("img")).to_have_attribute("aria-label", _has("over 7 days"))


def test_the_figures_can_be_kept_as_a_file_without_the_minutes_that_nobody_saw(sign_in, remembered: World):
    admin = sign_in("admin", "/quotas/Quota1.1/monitoring?span=24h")
    with admin.expect_download() as kept:
        admin.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(Path(kept.value.path()).read_text().splitlines()))
    assert 20 <= len(rows) < 25, "hours, and none in which nobody looked"
    assert {row["gpu_min"] for row in rows} == {"48"}


def test_a_quota_that_is_new_says_when_there_will_be_something_to_see(sign_in, remembered: World):
    with remembered.client() as client:
        client.quotas.create({"id": "Quota1.9", "parent": "Quota1", "min": {"gpus": 0}})
    admin = sign_in("admin", "/quotas/Quota1.9/monitoring?span=1h")
    expect(admin.get_by_text("Nothing was written down in the last 1 hour")).to_be_visible()


def test_users_are_those_of_the_server_and_add_up_with_and_without_the_quotas_below(
    sign_in, remembered: World
):
    admin = sign_in("admin", "/quotas/Quota1/users")
    table = admin.get_by_role("region", name="Table: Users of this quota")
    expect(table.get_by_role("row", name="cai")).to_contain_text("72 GPU")
    expect(table.get_by_role("row", name="ada")).to_contain_text("16 GPU")
    admin.get_by_label("With the quotas below").click(force=True)
    expect(table.get_by_role("row", name="cai")).to_have_count(0)
    expect(table.get_by_role("row", name="ada")).to_contain_text("16 GPU")


def test_gpu_hours_are_told_by_team_and_by_who_took_them_and_kept_as_a_file(sign_in, remembered: World):
    admin = sign_in("admin", "/quotas/Quota1")
    admin.get_by_role("navigation", name="Parts of the quota").get_by_role("link", name="Usage").click()
    expect(admin.get_by_role("region", name="In all")).to_contain_text("16")  # runs
    table = admin.get_by_role("region", name="Table: GPU-hours")
    for team in cast.TEAMS:
        expect(table.get_by_role("row", name=team)).to_be_visible()
    admin.get_by_label("Rows").select_option("taker")
    expect(table.get_by_role("row", name="workspace-a in Quota1")).to_be_visible()
    assert "by=taker" in admin.url
    admin.get_by_label("Rows").select_option("claim")
    expect(table.get_by_role("cell", name="guaranteed", exact=True)).to_be_visible()
    with admin.expect_download() as kept:
        admin.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(Path(kept.value.path()).read_text().splitlines()))
    assert [row["claim"] for row in rows] == ["guaranteed"]
    assert float(rows[0]["gpu_hours"]) > 0


def test_a_team_sees_its_own_hours_and_others_without_names(sign_in, remembered: World):
    bob = sign_in("bob", "/quotas/Quota1.1/usage?by=user")
    table = bob.get_by_role("region", name="Table: GPU-hours")
    expect(table.get_by_role("row", name="bob")).to_be_visible()
    expect(table).not_to_contain_text("cai")


def _has(part: str) -> re.Pattern[str]:
    return re.compile(re.escape(part))
