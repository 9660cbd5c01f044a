"""The site has every page in a tab, leads its links to pages that it has, and notices a page that asks another server."""

from __future__ import annotations

from pathlib import Path

import pytest

from website.pages import (
    DOCS,
    HOME,
    MAP,
    OF_THE_ROOT,
    ROOT,
    TABS,
    navigation,
    requests_elsewhere,
    with_links_of_the_site,
)

INDEX = (DOCS / MAP).read_text(encoding="utf-8")


def listed(nav: list[object]) -> list[str]:
    """The pages of a navigation, in order."""
    pages: list[str] = []
    for entry in nav:
        assert isinstance(entry, dict)
        for value in entry.values():
            pages += [value] if isinstance(value, str) else listed(value)
    return pages


def test_every_page_has_its_place_in_the_navigation_once():
    pages = listed(navigation(INDEX))
    there = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} | set(OF_THE_ROOT)
    assert len(pages) == len(set(pages))
    assert set(pages) == there
    assert pages[0] == HOME


def test_the_headings_that_tabs_shorten_are_those_of_the_index():
    assert [heading for heading in TABS if f"## {heading}\n" not in INDEX] == []


@pytest.mark.parametrize(
    ("here", "link", "there"),
    [
        (
            DOCS / "how-to" / "install.md",
            "[s](../reference/settings.md#tls)",
            "[s](../reference/settings.md#tls)",
        ),
        (
            DOCS / "explanation" / "server.md",
            "[how](../../CONTRIBUTING.md#rules)",
            "[how](../CONTRIBUTING.md#rules)",
        ),
        (ROOT / "CONTRIBUTING.md", "[rules](docs/reference/rules.md)", "[rules](reference/rules.md)"),
        (ROOT / "CONTRIBUTING.md", "[how](tests/kubernetes/README.md)", "how"),
        (ROOT / "CHANGELOG.md", "[form](https://example.org/)", "[form](https://example.org/)"),
        (DOCS / "index.md", "[below](#tutorial)", "[below](#tutorial)"),
        (DOCS / "index.md", "`[a](../b.md)`", "`[a](../b.md)`"),
    ],
)
def test_a_link_leads_where_the_page_is_on_the_site(here: Path, link: str, there: str):
    assert with_links_of_the_site(f"See {link}.", here) == f"See {there}."


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://example.org/a.js"></script>',
        '<link rel="stylesheet" href="//example.org/a.css">',
        "<img alt='' src=http://example.org/a.png>",
        "@import url(https://example.org/a.css);",
        "a { background: url('https://example.org/a.png') }",
    ],
)
def test_what_a_browser_would_fetch_from_elsewhere_is_found(text: str):
    assert requests_elsewhere(text)


def test_a_link_that_is_followed_by_hand_and_files_of_the_site_are_fine():
    assert (
        requests_elsewhere(
            '<a href="https://example.org/">x</a><img src="pictures/tree.png"><script src="../a.js">'
        )
        == []
    )
