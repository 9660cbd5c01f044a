"""Takes the pictures of the console in docs/pictures: a server with the 128-GPU example, and Debian's Chromium.

make pictures
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, sync_playwright

from console import chromium
from quotatree.cli.demo import cast
from tests.console_browser.conftest import QUIET
from tests.console_browser.past import remember
from tests.console_browser.world import World, signed_in

PICTURES: Final = Path(__file__).parent / "pictures"
SIZE: Final = {"width": 1200, "height": 680}
MOST_BYTES: Final = 300 * 1024


def main() -> None:
    path = chromium.found()
    if path is None:
        raise SystemExit("there is no Chromium: apt install chromium fonts-dejavu-core")
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory))
        world.start()
        try:
            play(world)
            remember(world.directory / "data")
            _take(world, path)
        finally:
            world.stop()


def play(world: World) -> None:
    """The example after the service came: two jobs are evicted, one more waits, and so does a report above, for want of a policy."""
    world.divide()
    with world.client() as admin:
        admin.quotas.update("Quota1", {"child_level": {"priorities": "1", "modules": ["DLC", "DSW"]}})
    world.fill()
    with world.client("bob") as bob:
        bob.jobs.submit({**cast.extra(), "program": {}})
    with world.client("ada") as ada:
        ada.jobs.submit({**cast.service(), "program": {}})
        world.until(lambda: world.job("service")["phase"] == "Running")
        ada.jobs.submit(
            {
                **cast.service(),
                "name": "report",
                "module": "DLC",
                "program": {},
                "groups": [{"replicas": 2, "gpus": 8}],
            }
        )


def _take(world: World, path: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        context = browser.new_context(
            viewport=SIZE,  # type: ignore[arg-type]
            base_url=world.url,
            reduced_motion="reduce",
            storage_state=signed_in(world.url, world.tokens["admin"]),
        )
        page = context.new_page()
        page.goto("/quotas/Quota1")
        page.get_by_role("region", name="Figures").wait_for()
        _keep(page, "tree")
        page.goto("/quotas/Quota1.1/monitoring?span=24h")
        page.locator("canvas").first.wait_for()
        _keep(page, "monitoring")
        page.goto("/preemptions/1")
        page.get_by_test_id("decision").wait_for()
        _keep(page, "preemption")
        page.goto("/quotas/Quota1/policy?self=on")
        page.get_by_label("Priorities that may be taken below").fill("1-3")
        page.get_by_test_id("preview").get_by_text("evicted, losing").wait_for()
        page.get_by_label("Low: may be taken").fill("4-6")
        _keep(page, "policy")
        page.goto(f"/jobs/{world.job('sweep-a')['id']}")
        page.get_by_test_id("why").wait_for()
        page.get_by_text("what that rests on").wait_for()
        _keep(page, "why")
        browser.close()


def _keep(page: Page, name: str) -> None:
    page.wait_for_timeout(1000)
    target = PICTURES / f"{name}.png"
    page.screenshot(path=target)
    assert target.stat().st_size < MOST_BYTES, f"{target} is too large"


if __name__ == "__main__":
    main()
