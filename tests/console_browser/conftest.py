"""A Chromium, a server with the example, and windows in which somebody is signed in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from console import build, chromium
from tests.console_browser.world import World, signed_in

QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
ARTEFACTS = Path(os.environ.get("QUOTATREE_ARTEFACTS", Path(__file__).parents[2] / "test-console"))
SignIn = Callable[..., Page]
expect.set_options(timeout=20_000)  # a busy machine is no failure


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium.found()
    if path is None:
        pytest.skip("there is no Chromium: `make test-console` says how to get one")
    if build.built_from() is None:
        pytest.skip("the console is not built: make console")
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[World]:
    """The example, every GPU in use."""
    made = World(tmp_path_factory.mktemp("world"))
    made.start()
    try:
        made.divide()
        made.fill()
        yield made
    finally:
        made.stop()


@pytest.fixture
def sign_in(browser: Browser, world: World) -> Iterator[SignIn]:
    """A function that opens a window in which a user is signed in. What a page reports as an error fails the test."""
    opened: list[BrowserContext] = []
    wrong: list[str] = []

    def stays_here(request: Request) -> None:
        if not request.url.startswith((world.url, "blob:", "data:")):
            wrong.append(f"leaves the server: {request.url}")

    def enter(user: str = "admin", path: str = "/", theme: str = "light", width: int = 1440) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,  # type: ignore[arg-type]  # light or dark
            reduced_motion="reduce",
            base_url=world.url,
            storage_state=signed_in(world.url, world.tokens[user]),
        )
        opened.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", stays_here)
        page.goto(path)
        return page

    yield enter
    for context in opened:
        context.close()
    assert wrong == []
