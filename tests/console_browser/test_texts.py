"""Names in any script, a page at 400 %, an audit that reads like sentences, and a hint that can be followed."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.console_browser.conftest import ARTEFACTS
from tests.console_browser.world import World

ARABIC = "فريق الرؤية"
REVERSED = "a\u202eb"  # what stands after it would be written from right to left
LONG = "量子" * 100


def test_names_in_any_script_leave_the_words_around_them_in_place(sign_in, world: World):
    with world.client() as admin:
        admin.quotas.update("Quota1.1", {"name": ARABIC, "description": REVERSED})
        admin.quotas.update("Quota1.2", {"name": LONG, "description": ""})
    page = sign_in("admin", "/quotas/Quota1.1")
    head = page.locator(".qdetail .head")
    expect(head.locator("bdi", has_text=ARABIC)).to_be_visible()
    expect(page.locator(".described bdi", has_text=REVERSED)).to_be_visible()
    expect(page.get_by_role("treeitem", name="Quota1.1").locator("bdi", has_text=ARABIC)).to_have_count(1)
    changes = page.get_by_role("region", name="Change history")
    expect(changes.locator("bdi", has_text=REVERSED)).to_be_visible()
    page.screenshot(path=ARTEFACTS / "scripts-light-1440.png")
    page.goto("/quotas/Quota1.2")
    expect(page.locator(".qdetail .head")).to_contain_text(LONG[:20])
    assert page.locator(".qdetail").evaluate("box => box.scrollWidth <= box.clientWidth + 1")
    with world.client() as admin:
        admin.quotas.update("Quota1.1", {"name": "", "description": ""})
        admin.quotas.update("Quota1.2", {"name": "", "description": ""})


def test_a_quota_can_be_read_at_400_percent(sign_in):
    """1280 x 900 at 400 % are 320 x 225: one column, in which everything is reached by scrolling down."""
    page = sign_in("admin", "/quotas/Quota1.1", width=320)
    page.set_viewport_size({"width": 320, "height": 225})
    figures = page.get_by_role("region", name="Figures")
    figures.scroll_into_view_if_needed()
    page.screenshot(path=ARTEFACTS / "zoomed-light-320.png")
    seen = figures.evaluate(
        """box => { const at = box.getBoundingClientRect();
                    const clip = box.closest('.qdetail').getBoundingClientRect();
                    return Math.min(innerHeight, clip.bottom, at.bottom) - Math.max(0, clip.top, at.top); }"""
    )
    assert seen > 150, f"{seen} px of 225 show the figures"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_audit_tells_what_was_done_in_sentences_with_links(sign_in, world: World):
    with world.client() as admin:
        admin.quotas.transfer(
            {"source": "Quota1.2", "target": "Quota1.1", "amount": {"gpus": 8}, "mode": "lazy"}
        )
        admin.quotas.transfer(
            {"source": "Quota1.1", "target": "Quota1.2", "amount": {"gpus": 8}, "mode": "lazy"}
        )
    page = sign_in("admin", "/audit")
    rows = page.get_by_role("region", name="Table: Audit")
    expect(rows).to_contain_text("moved 8 GPU from Quota1.2 to Quota1.1")
    row = rows.get_by_role("row", name="moved 8 GPU from Quota1.2 to Quota1.1").first
    expect(row.get_by_role("link", name="Quota1.2")).to_have_attribute("href", "/quotas/Quota1.2")
    expect(row.get_by_role("link", name="Quota1.1")).to_have_attribute("href", "/quotas/Quota1.1")
    expect(rows).not_to_contain_text("{")
    page.screenshot(path=ARTEFACTS / "audit-sentences-light-1440.png")
    page.goto("/audit?action=quota.created")
    expect(rows).to_contain_text("created quota Quota1.1 with 48 GPU under Quota1")
    page.goto("/audit?action=workspace.bound")
    expect(rows).to_contain_text("bound quota Quota1.1 to workspace-b")


def test_a_hint_for_an_invalid_pair_can_be_followed(sign_in):
    page = sign_in("admin", "/quotas/Quota1/policy?self=on")
    page.get_by_label("High: may take").fill("6-9")
    page.get_by_label("Low: may be taken").fill("6-9")
    expect(page.get_by_text("low 9 reaches high 6: 8-9 over 6-7 would do")).to_be_visible()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_role("button", name="Write that").click()
    expect(page.get_by_role("button", name="Save")).to_be_enabled()
