"""The whole example of the product, by mouse, on what `make demo` starts: its server, its engine and its programs, real processes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from quotatree.cli.demo import cast
from quotatree.cli.demo.command import links
from quotatree.cli.demo.stage import stage
from tests.console_browser.demo import Demo

EVICTION_MS = 60_000  # a notice, a checkpoint, the end of a process, the start of another, on a busy machine


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Demo]:
    with stage(tmp_path_factory.mktemp("demo") / "stage") as opened:
        opened.open()
        made = Demo(opened)
        made.fill()
        yield made


def test_the_links_that_the_demo_prints_open_the_console(browser: Browser, world: Demo):
    for line in links(world.stage):
        address, _, user = line.partition("  # ")
        context = browser.new_context()
        page = context.new_page()
        page.goto(address)
        expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
        expect(page.get_by_role("link", name=user, exact=True)).to_be_visible()
        context.close()


def test_a_service_is_deployed_and_the_eviction_is_seen_and_explained_and_gpus_are_moved(
    sign_in, world: Demo
):
    world.let_only_sweep_b_have_much_to_lose()
    ada = sign_in("ada", "/jobs/new")
    _fill_in(ada, name="service", module="EAS", replicas="2", priority="5", least="2")
    ada.get_by_label("Command").fill(json.dumps(cast.service()["program"]))
    before = ada.get_by_test_id("preview")
    expect(before).to_contain_text("2 evicted")
    ada.get_by_role("button", name="Submit").click()
    expect(ada.get_by_role("heading", level=1, name="service")).to_be_visible()
    expect(ada.get_by_text("Running", exact=True)).to_be_visible(timeout=EVICTION_MS)
    ada.get_by_role("link", name="Runs", exact=True).click()
    expect(ada.get_by_text("2 replicas ready")).to_be_visible(timeout=EVICTION_MS)

    bob = sign_in("bob", "/")
    bob.get_by_role("region", name="Waiting jobs").get_by_role("link", name="sweep-a").click()
    why = bob.get_by_test_id("why")
    expect(why).to_contain_text("Evicted by job of priority 5, 16 GPU")
    expect(why).to_contain_text("Quota1, above it")
    bob.get_by_role("link", name="Logs", exact=True).click()
    expect(bob.get_by_text("was told to leave, saved")).to_be_visible()

    admin = sign_in("admin", "/preemptions")
    admin.get_by_role("link", name="#1", exact=True).click()
    drawn = admin.get_by_test_id("decision")
    expect(drawn).to_contain_text("service")
    for victim in ("sweep-a", "scratch"):
        expect(drawn.get_by_role("list", name="Victims")).to_contain_text(victim)

    admin.goto("/quotas/Quota1/children")
    slider = admin.get_by_label("GPUs of Quota1.1")
    slider.focus()
    for _ in range(8):
        slider.press("ArrowRight")
    expect(admin.get_by_role("region", name="Transfer")).to_contain_text("48 → 56 GPU")
    expect(admin.get_by_role("region", name="Transfer")).to_contain_text("80 → 72 GPU")
    admin.get_by_role("button", name="Move 8 GPU to Quota1.1").click()
    expect(admin.get_by_role("treeitem", name="Quota1.1")).to_contain_text("/56")
    expect(admin.get_by_role("treeitem", name="Quota1.2")).to_contain_text("/72")

    ada.get_by_role("button", name="Cancel", exact=True).click()
    ada.get_by_role("button", name="Cancel service").click()
    expect(bob.get_by_text("Running", exact=True)).to_be_visible(timeout=EVICTION_MS)
    expect(bob.get_by_text("; 0 steps were lost")).to_be_visible(timeout=EVICTION_MS)


def test_child_level_is_switched_off_and_its_settings_stay(sign_in, world: Demo):
    admin = sign_in("admin", "/quotas/Quota1")
    admin.get_by_text("Child-level", exact=True).wait_for()
    admin.get_by_label("Child-level preemption").click(force=True)
    expect(admin.get_by_test_id("preview")).to_contain_text("Nothing would start")
    admin.get_by_role("button", name="Save").click()
    policies = admin.get_by_role("region", name="Policies")
    expect(policies).to_contain_text("1-3 DLC DSW")
    with world.client() as client:
        child = client.quotas.get("Quota1")["child_level"]
    assert child is not None
    assert (child["enabled"], child["priorities"]) == (False, "1-3")


def test_an_invalid_pair_is_refused_while_typing_and_a_valid_one_is_saved(sign_in, world: Demo):
    admin = sign_in("admin", "/quotas/Quota1/policy?self=on")
    admin.get_by_label("High: may take").fill("6-9")
    low = admin.get_by_label("Low: may be taken")
    low.fill("4-6")
    expect(admin.get_by_text("low 6 reaches high 6: 6-9 over 4-5 would do")).to_be_visible()
    expect(admin.get_by_role("button", name="Save")).to_be_disabled()
    low.fill("4")
    expect(admin.get_by_role("button", name="Save")).to_be_enabled()
    admin.get_by_role("button", name="Save").click()
    expect(admin.get_by_role("region", name="Policies")).to_contain_text("6-9 over 4")
    with world.client() as client:
        assert client.quotas.get("Quota1")["self_level"][0].get("low") == "4"


def _fill_in(page: Page, name: str, module: str, replicas: str, priority: str, least: str) -> None:
    form = page.get_by_role("form", name="New job")
    form.get_by_label("Name").fill(name)
    form.get_by_label("Module").select_option(module)
    form.get_by_label("Replicas", exact=True).fill(replicas)
    form.get_by_label("Priority").select_option(priority)
    form.get_by_label("At least so many replicas").fill(least)
