"""Every page, light and dark, wide and narrow: axe finds nothing, and a picture is kept to be looked at."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from console import build
from tests.console_browser.conftest import ARTEFACTS
from tests.console_browser.past import remember
from tests.console_browser.world import World

AXE = build.PACKAGES / "axe-core" / "axe.min.js"
PAGES = {
    "overview": "/",
    "quota": "/quotas/Quota1",
    "quota-jobs": "/quotas/Quota1.1/jobs",
    "quota-jobs-below": "/quotas/Quota1/jobs?below=true",
    "quota-children": "/quotas/Quota1/children",
    "quota-nodes": "/quotas/Quota1.1/nodes",
    "quota-users": "/quotas/Quota1/users",
    "quota-monitoring": "/quotas/Quota1.1/monitoring",
    "quota-usage": "/quotas/Quota1/usage?by=user",
    "quota-monitoring-days": "/quotas/Quota1/monitoring?span=7d",
    "policy": "/quotas/Quota1/policy?self=on",
    "jobs": "/jobs",
    "submit": "/jobs/new",
    "job-waiting": "/jobs/{extra}",
    "job-running": "/jobs/{tune}",
    "job-runs": "/jobs/{tune}/runs",
    "job-logs": "/jobs/{tune}/logs",
    "job-history": "/jobs/{sweep-a}/history",
    "preemptions": "/preemptions",
    "preemption": "/preemptions/1",
    "cluster": "/cluster",
    "workspaces": "/workspaces",
    "workspace": "/workspaces/workspace-b",
    "workspace-quotas": "/workspaces/workspace-b/quotas",
    "centre": "/workspaces/workspace-b/centre",
    "what-if": "/what-if",
    "audit": "/audit",
    "users": "/users",
    "me": "/me",
    "nowhere": "/no/such/page",
}

TOO_WIDE = """() => [...document.querySelectorAll('html, .page, .qdetail, .card, .tablebox')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => `${one.tagName} ${one.className} ${one.getAttribute('aria-label') ?? ''}: ${one.scrollWidth} in ${one.clientWidth}`)"""


@pytest.fixture(scope="module")
def lively(world: World) -> World:
    """The example after a service came: two jobs were evicted, one more waits, and there is a past to be looked at."""
    world.take()
    remember(world.directory / "data")
    return world


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(sign_in, lively: World, theme, width):
    page = sign_in("admin", "/", theme, width)
    found = {
        name: violations(page, address(lively, path), f"{name}-{theme}-{width}")
        for name, path in PAGES.items()
    }
    wrong = [f"{name}: {one}" for name, told in found.items() for one in told]
    assert wrong == [], "\n".join(wrong)


@pytest.mark.parametrize("width", [1200, 390])
def test_nothing_is_wider_than_its_place(sign_in, lively: World, width):
    page = sign_in("admin", "/", "light", width)
    wide: list[str] = []
    for name, path in PAGES.items():
        arrive(page, address(lively, path))
        page.screenshot(path=ARTEFACTS / f"{name}-light-{width}.png")
        wide += [f"{name}: {one}" for one in page.evaluate(TOO_WIDE)]
    assert wide == [], "\n".join(wide)


def test_axe_finds_nothing_on_the_login_page(browser, world: World):
    page = browser.new_page(base_url=world.url)
    assert violations(page, "/login", "login-light-1440") == []
    page.close()


def arrive(page: Page, path: str) -> None:
    page.goto(path)
    page.get_by_role("heading", level=1).or_(page.get_by_role("heading", level=2)).first.wait_for()
    page.wait_for_load_state("load")
    page.wait_for_timeout(400)


def address(world: World, path: str) -> str:
    if "{" not in path:
        return path
    name = path[path.index("{") + 1 : path.index("}")]
    return path.replace(f"{{{name}}}", world.job(name)["id"])


def violations(page: Page, path: str, picture: str) -> list[str]:
    """What axe finds on a page, and a picture of it among the artefacts."""
    arrive(page, path)
    page.screenshot(path=ARTEFACTS / f"{picture}.png")
    page.evaluate(AXE.read_text())
    found: Any = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for one in found["violations"]
        for node in one["nodes"][:3]
    ]
