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


def test_gpus_that_somebody_else_moved_meanwhile_are_not_moved_blindly(sign_in, world: World):
    mine = sign_in("admin", "/quotas/Quota1/children")
    transfer = mine.get_by_role("region", name="Transfer")
    transfer.get_by_label("GPUs of Quota1.1").press("ArrowRight")
    expect(transfer).to_contain_text("48 → 49 GPU")
    with world.client() as admin:
        admin.quotas.transfer(
            {"source": "Quota1.2", "target": "Quota1.1", "amount": {"gpus": 8}, "mode": "lazy"}
        )
    expect(mine.get_by_role("treeitem", name="Quota1.1")).to_contain_text("/56")
    expect(transfer).to_contain_text("48 → 49 GPU")  # what is being edited stays
    transfer.get_by_role("button", name="Move 1 GPU to Quota1.1").click()
    conflict = transfer.get_by_test_id("conflict")
    expect(conflict.get_by_role("row", name="GPUs of Quota1.1")).to_have_text(
        "GPUs of Quota1.148 GPU56 GPU49 GPU"
    )
    conflict.get_by_role("button", name="Go on with mine").click()
    expect(transfer).to_contain_text("56 → 49 GPU")  # what was wanted, not what was to be moved
    transfer.get_by_label("GPUs of Quota1.1").press("ArrowRight")
    expect(transfer).to_contain_text("56 → 50 GPU")
    with world.client() as admin:
        admin.quotas.transfer(
            {"source": "Quota1.1", "target": "Quota1.2", "amount": {"gpus": 8}, "mode": "lazy"}
        )


def test_a_size_that_was_changed_unseen_is_refused_by_the_server_and_shown_beside_mine(sign_in, world: World):
    mine = sign_in("admin", "/quotas/Quota1/children")
    mine.context.route("**/api/v1/events/stream*", lambda route: route.abort())
    mine.reload()
    scale = mine.get_by_role("region", name="Scale")
    scale.get_by_label("Quota", exact=True).select_option("Quota1.2")
    scale.get_by_label("GPUs, now 80").fill("78")
    with world.client() as admin:
        admin.quotas.scale("Quota1.2", {"min": {"gpus": 79}, "mode": "lazy"})
    scale.get_by_label("If less").select_option("lazy")
    with mine.expect_response("**/scale") as answered:
        scale.get_by_role("button", name="Scale").click()
    assert answered.value.status == 412
    conflict = scale.get_by_test_id("conflict")
    expect(conflict.get_by_role("row", name="GPUs of Quota1.2")).to_have_text(
        "GPUs of Quota1.280 GPU79 GPU78 GPU"
    )
    conflict.get_by_role("button", name="Go on with mine").click()
    scale.get_by_role("button", name="Scale").click()
    expect(scale.get_by_label("GPUs, now 78")).to_have_value("")
    with world.client() as admin:
        assert admin.quotas.get("Quota1.2")["min"]["gpus"] == 78
        admin.quotas.scale("Quota1.2", {"min": {"gpus": 80}, "mode": "lazy"})


def test_rules_of_a_scheduling_centre_are_not_lost_when_two_edit_them(sign_in, world: World):
    mine = sign_in("bob", "/workspaces/workspace-b/centre")
    mine.get_by_label("Longest run").fill("24h")
    with world.client("bob") as bob:
        rules = bob.workspaces.centre("workspace-b", "Quota1.1")
        bob.workspaces.set_centre("workspace-b", "Quota1.1", {"longest_run": "8h"}, version=rules["version"])
    mine.get_by_role("button", name="Save").click()
    conflict = mine.get_by_test_id("conflict")
    expect(conflict.get_by_role("row", name="longest run")).to_have_text("longest runno bound8h24h")
    conflict.get_by_role("button", name="Go on with mine").click()
    mine.get_by_role("button", name="Save").click()
    expect(mine.get_by_text("version 2")).to_be_visible()
    with world.client("bob") as bob:
        assert bob.workspaces.centre("workspace-b", "Quota1.1")["longest_run"] in ("24h", "1d")
        bob.workspaces.set_centre("workspace-b", "Quota1.1", {})


def test_a_workspace_is_described_and_two_who_do_so_see_both_texts(sign_in, world: World):
    mine = sign_in("bob", "/workspaces/workspace-b")
    mine.get_by_role("button", name="Describe it").click()
    mine.get_by_role("textbox", name="Description").fill("mine")
    with world.client("bob") as bob:
        bob.workspaces.describe("workspace-b", "theirs")
    mine.get_by_role("button", name="Save").click()
    expect(mine.get_by_test_id("conflict").get_by_role("row", name="description")).to_have_text(
        "descriptionnonetheirsmine"
    )
    mine.get_by_role("button", name="Take theirs").click()
    expect(mine.get_by_role("textbox", name="Description")).to_have_value("theirs")


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
