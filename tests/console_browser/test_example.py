"""The whole example of the product, by mouse."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.console_browser.world import World


def test_a_service_is_deployed_and_the_eviction_is_seen_and_explained_and_gpus_are_moved(
    sign_in, world: World
):
    ada = sign_in("ada", "/jobs/new")
    _fill_in(ada, name="service", module="EAS", replicas="2", priority="5", least="2")
    before = ada.get_by_test_id("preview")
    expect(before).to_contain_text("2 evicted")
    ada.get_by_role("button", name="Submit").click()
    expect(ada.get_by_role("heading", level=1, name="service")).to_be_visible()
    expect(ada.get_by_text("Running", exact=True)).to_be_visible(timeout=20_000)

    bob = sign_in("bob", "/")
    bob.get_by_role("region", name="Waiting jobs").get_by_role("link", name="sweep-a").click()
    why = bob.get_by_test_id("why")
    expect(why).to_contain_text("Evicted by job of priority 5, 16 GPU")
    expect(why).to_contain_text("Quota1, above it")

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


def test_child_level_is_switched_off_and_its_settings_stay(sign_in, world: World):
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


def test_an_invalid_pair_is_refused_while_typing_and_a_valid_one_is_saved(sign_in, world: World):
    admin = sign_in("admin", "/quotas/Quota1/policy?self=on")
    admin.get_by_label("High: may take").fill("6-9")
    low = admin.get_by_label("Low: may be taken")
    low.fill("4-6")
    expect(admin.get_by_text("low 6 reaches high 6: end low at 5")).to_be_visible()
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
