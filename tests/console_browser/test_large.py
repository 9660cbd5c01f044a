"""10,000 jobs and a tree of 500 quotas: how long does an interaction take? Printed beside its budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.console_browser.world import World

JOBS, QUOTAS, BUDGET_MS = 10_000, 500, 100
TO_NEXT_FRAME = """(act) => new Promise((done) => {
  const began = performance.now();
  act();
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
})"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("large"), nodes="64x8:A100")
    made.start()
    try:
        with made.client() as admin:
            admin.quotas.create({"id": "root", "draws": {"default": {"gpus": 512}}})
            for number in range(QUOTAS - 1):
                parent = "root" if number < 20 else f"team-{number % 20}"
                admin.quotas.create(
                    {"id": f"team-{number}", "parent": parent, "min": {"gpus": 24 if number < 20 else 1}}
                )
            admin.users.create({"name": "bob"})
            admin.workspaces.create({"id": "w", "owners": ["bob"]})
            for number in range(10):
                admin.workspaces.bind("w", f"team-{number}")
            jobs: list[Any] = [
                {
                    "workspace": "w",
                    "quota": f"team-{n % 10}",
                    "name": f"job-{n}",
                    "groups": [{"gpus": 1}],
                    "program": {},
                }
                for n in range(JOBS)
            ]
            for start in range(0, JOBS, 500):
                admin.jobs.submit_many(jobs[start : start + 500])
        yield made
    finally:
        made.stop()


def test_lists_and_the_tree_stay_smooth(sign_in, world: World):
    page = sign_in("admin", "/jobs")
    expect(page.get_by_text("10,000 jobs")).to_be_visible()
    shown = {
        "scroll 10,000 jobs": measured(page, "() => document.querySelector('.tablebox').scrollBy(0, 3000)"),
        "the same under the pointer": under_pointer(page),
        "rows in the document": float(page.locator("table.data tbody tr").count()),
    }
    page.goto("/quotas")
    page.get_by_role("treeitem").first.wait_for()
    shown["choose a quota of 500"] = measured(
        page, "() => document.querySelectorAll('[role=treeitem]')[5].click()"
    )
    shown["scroll 500 quotas"] = measured(
        page, "() => document.querySelector('.qtree-rows').scrollBy(0, 2000)"
    )
    shown["fold a quota"] = measured(page, "() => document.querySelector('.caret').click()")
    for name, value in shown.items():
        unit = "rows" if name.startswith("rows") else f"ms, budget {BUDGET_MS} ms"
        print(f"\n  {name:<28} {value:6.0f} {unit}", end="")
    print()
    assert shown["rows in the document"] < 120, "only rows in sight are drawn"


def under_pointer(page: Page) -> float:
    """The same scroll while the pointer rests on the table, so that its order is frozen."""
    page.evaluate("() => document.querySelector('.tablebox').scrollTo(0, 0)")
    page.get_by_role("region", name="Table: Jobs").hover(position={"x": 200, "y": 200})
    page.wait_for_timeout(300)
    return measured(page, "() => document.querySelector('.tablebox').scrollBy(0, 3000)")


def measured(page: Page, act: str) -> float:
    """Milliseconds from an act to the end of the frame after it: the middle of five."""
    times = []
    for _ in range(5):
        times.append(float(page.evaluate(f"() => ({TO_NEXT_FRAME})({act})")))
        page.wait_for_timeout(150)
    return sorted(times)[2]
