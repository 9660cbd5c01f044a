"""What if? A stretch of history is played with the tree as it is and as edited, and both are shown side by side."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.console_browser.conftest import ARTEFACTS


def test_an_edited_tree_is_played_and_compared(sign_in):
    admin = sign_in("admin", "/what-if")
    question = admin.get_by_role("region", name="Question")
    question.get_by_label("What").select_option("strategy")
    question.get_by_role("button", name="Add").click()
    expect(question).to_contain_text("Quota1: strategy fifo")
    question.get_by_role("button", name="Play both").click()
    expect(admin.get_by_text("done", exact=True)).to_be_visible(timeout=120_000)
    comparison = admin.get_by_role("region", name="Comparison")
    for words in ("as it is", "edited", "mean wait", "lost work"):
        expect(comparison).to_contain_text(words)
    expect(admin.get_by_role("region", name="GPUs over time, edited")).to_be_visible()
    admin.screenshot(path=ARTEFACTS / "what-if-done-light-1440.png")
