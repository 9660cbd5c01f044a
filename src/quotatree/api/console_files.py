"""How does a browser get the console? What no route answers is looked for among its built files.

`index.html` answers every GET of a page, since the console has addresses of its own (`/quotas/team-a`). Files below
`/assets` have their content's hash in their names, so browsers may keep them for ever; the rest is asked for each time.
"""

from __future__ import annotations

import mimetypes
from html import escape
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.types import Receive, Scope, Send

import quotatree

BUILT_INTO: Final = Path(quotatree.__file__).parent / "console_files"
INDEX: Final = "index.html"
ASSETS: Final = "/assets/"
OURS: Final = ("/api", "/assets", "/healthz", "/readyz", "/metrics")
"""Addresses that are never a page of the console, with all below them."""
IMMUTABLE: Final = "public, max-age=31536000, immutable"
ENCODINGS: Final = {"br": ".br", "gzip": ".gz"}
"""Encodings that the build may have made beside a file, best first, and how their names end."""
TYPES: Final = {
    ".css": "text/css", ".html": "text/html", ".ico": "image/x-icon", ".js": "text/javascript", ".json": "application/json",
    ".map": "application/json", ".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain",
    ".webmanifest": "application/manifest+json", ".woff2": "font/woff2",
}  # fmt: skip
PAGE_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",  # Mantine writes <style> elements
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
"""Content-Security-Policy of a page: nothing comes from, or goes to, another origin."""
HOW_TO_BUILD: Final = "the console is not built here: `make console` in a checkout of the sources builds it"


class ConsoleFiles:
    """An ASGI application for what no route answers: the console's files and pages; NotFound for the rest."""

    def __init__(self, directory: Path = BUILT_INTO) -> None:
        self._directory = directory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise HTTPException(404)
        await self._answer(scope)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response:
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(404)
        path: str = scope["path"]
        headers = Headers(scope=scope)
        file = self._file(path)
        if file is not None:
            return _sent(file, headers, IMMUTABLE if path.startswith(ASSETS) else "no-store")
        asks_page = "text/html" in headers.get("accept", "")
        ours = any(path == one or path.startswith(one + "/") for one in OURS)
        if ours or not (asks_page or path == "/"):
            raise HTTPException(404)
        index = self._directory / INDEX
        if index.is_file():
            return _sent(index, headers, "no-store")
        if not asks_page:
            raise HTTPException(404, HOW_TO_BUILD)
        return _not_built()

    def _file(self, path: str) -> Path | None:
        """The file that a path names; None: there is none, or it lies outside."""
        parts = path.strip("/").split("/")
        if any(part in ("", ".", "..") or "\0" in part or "\\" in part for part in parts):
            return None
        found = self._directory.joinpath(*parts)
        try:
            inside = found.resolve().is_relative_to(self._directory.resolve())
            return found if inside and found.is_file() else None
        except OSError:  # a name that no file can have, such as one that is too long
            return None


def _sent(file: Path, asked: Headers, cache: str) -> Response:
    """The file, compressed where the build has compressed it and the browser takes it."""
    media = TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    headers = {"Cache-Control": cache, "Vary": "Accept-Encoding"}
    if media == "text/html":
        headers["Content-Security-Policy"] = PAGE_POLICY
    takes = {one.partition(";")[0].strip() for one in asked.get("accept-encoding", "").split(",")}
    for encoding, ending in ENCODINGS.items():
        packed = file.with_name(file.name + ending)
        if encoding in takes and packed.is_file():
            return FileResponse(packed, headers={**headers, "Content-Encoding": encoding}, media_type=media)
    return FileResponse(file, headers=headers, media_type=media)


def _not_built() -> Response:
    said = HOW_TO_BUILD[0].upper() + escape(HOW_TO_BUILD[1:]).replace(
        "`make console`", "<code>make console</code>"
    )
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>QuotaTree</title><h1>QuotaTree</h1>'
        f"<p>{said}. Then load this page again.</p>"
        "<p>The server itself works: the command <code>quotatree</code> and the API at <code>/api/v1</code> can be used.</p>"
    )
    return HTMLResponse(page, 404, {"Content-Security-Policy": PAGE_POLICY})
