"""What a page says of a wait, a queue, a shortage and a loss is what was: of whom, since when, and whose."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import expect

from tests.console_browser.conftest import ARTEFACTS
from tests.console_browser.world import World

LONG_AGO_SECONDS = 70


@pytest.fixture(scope="module")
def taken(world: World) -> World:
    """Jobs that were submitted more than a minute ago; then the service takes two of them."""
    submitted_ms = world.job("sweep-a")["submitted_ms"]
    world.until(lambda: time.time() * 1000 - submitted_ms > LONG_AGO_SECONDS * 1000, LONG_AGO_SECONDS + 30)
    world.take()
    return world


def test_a_victim_waits_since_it_was_evicted(sign_in, taken: World):
    victim = taken.job("sweep-a")
    waited_s = time.time() - victim["waiting_since_ms"] / 1000
    assert waited_s < 60, "the test came too late to tell the two apart"
    page = sign_in("bob", f"/jobs/{victim['id']}")
    expect(page.get_by_test_id("standing")).to_have_text(re.compile(r"^waits \d+ s,"))
    page.goto("/jobs?phase=Waiting")
    row = page.get_by_role("row", name="sweep-a")
    expect(row).to_contain_text(re.compile(r"\d+ s"))
    expect(row).not_to_contain_text(re.compile(r"\d min"))
    page.goto("/quotas/Quota1.1/jobs")
    expect(page.get_by_role("region", name="Table: Waiting jobs")).not_to_contain_text(re.compile(r"\d min"))
    page.goto("/")
    expect(page.get_by_role("region", name="Waiting jobs")).to_contain_text("sweep-a")
    expect(page.get_by_role("region", name="Waiting jobs")).not_to_contain_text(re.compile(r"\d min"))


def test_waiting_longest_goes_by_the_present_wait(sign_in, taken: World):
    """`extra` was submitted last of all, but `sweep-a` and `scratch`, submitted long before, wait hardly longer."""
    page = sign_in("admin", "/")
    names = page.get_by_role("region", name="Waiting jobs").get_by_role("listitem").get_by_role("link")
    expect(names).to_have_count(3)
    since = {name: taken.job(name)["waiting_since_ms"] for name in names.all_text_contents()}
    assert list(since.values()) == sorted(since.values())
    page.goto("/jobs?phase=Waiting")
    page.get_by_role("button", name="For", exact=True).click()
    expect(page).to_have_url(re.compile("waiting_since"))


def test_what_waits_below_a_quota_is_told_beside_what_waits_at_it(sign_in, taken: World):
    page = sign_in("admin", "/quotas/Quota1")
    figures = page.get_by_role("region", name="Figures")
    expect(figures).to_contain_text("no job waits here, 3 jobs wait below")
    expect(figures).not_to_contain_text("nobody waits")
    assert figures.locator("dt", has_text="queued below").locator("xpath=..").inner_text().split() == [
        "queued", "below", "24", "GPU",
    ]  # fmt: skip
    expect(page.get_by_role("treeitem", name="Quota1", exact=False).first).to_contain_text("24 below")


def test_why_blames_the_parent_that_is_full_and_names_who_squeezes(sign_in, taken: World):
    page = sign_in("bob", f"/jobs/{taken.job('sweep-a')['id']}")
    why = page.get_by_test_id("why")
    expect(why.get_by_test_id("verdict")).to_have_text(
        "A job of Quota1 (priority 5, 16 GPU) stands on 8 GPU of Quota1.1's guarantee, which this job needs."
    )
    expect(why).to_contain_text("Quota1 0 of 128 unused ✗")
    expect(why).to_contain_text("Quota1.1 8 of 48 unused ✓")
    expect(why).to_contain_text("8 GPU of Quota1.1's guarantee are squeezed: Quota1 itself uses 16 GPU")
    page.screenshot(path=ARTEFACTS / "why-squeezed-light-1440.png")


def test_losses_of_others_are_not_counted_as_ours(sign_in, taken: World):
    bob = sign_in("bob", "/")
    entry = bob.get_by_role("region", name="Recent preemptions").get_by_role("listitem").first
    expect(entry).to_contain_text(re.compile(r"lost [\d,.]+ GPU-[sh] of ours, [\d,.]+ GPU-[sh] of others"))
    bob.goto("/preemptions")
    row = bob.get_by_role("row", name="#1")
    expect(row).to_contain_text("of others")
    admin = sign_in("admin", "/preemptions")
    expect(admin.get_by_role("row", name="#1")).not_to_contain_text("of others")
