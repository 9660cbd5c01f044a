"""Hooks of MkDocs: the navigation is docs/index.md, the pages of the root come along, and nothing is fetched from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pages import DOCS, HOME, MAP, OF_THE_ROOT, ROOT, navigation, requests_elsewhere, with_links_of_the_site

HERE: Final = Path(__file__).resolve().parent
ASSETS: Final = {
    "assets/site.css": HERE / "site.css",
    "assets/logo.svg": ROOT / "console" / "src" / "icon.svg",
}
RECORDS: Final = "adr/"
LAST: Final = {"boost": 0.3}
"""Decision records are found after pages that say what is."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.nav = navigation((DOCS / MAP).read_text(encoding="utf-8"))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The landing page is what a browser asks for first; the map of all pages stands beside it."""
    for source, target in ((MAP, "map.html"), (HOME, "index.html")):
        file = files.get_file_from_path(source)
        assert file is not None
        file.dest_uri = target
    for name in OF_THE_ROOT:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    for name, path in ASSETS.items():
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    source = page.file.src_uri
    if source.startswith(RECORDS):
        page.meta["search"] = LAST
    here = ROOT / source if source in OF_THE_ROOT else DOCS / source
    return with_links_of_the_site(markdown, here)


def on_post_build(config: MkDocsConfig) -> None:
    """Fail if a page or a style would make a browser ask another server."""
    found = [
        f"{path.relative_to(config.site_dir)}: {request}"
        for path in sorted(Path(config.site_dir).rglob("*"))
        if path.suffix in (".html", ".css")
        for request in requests_elsewhere(path.read_text(encoding="utf-8"))
    ]
    if found:
        raise PluginError("the site would ask other servers:\n" + "\n".join(found))
