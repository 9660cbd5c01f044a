"""A notebook without Jupyter: a page that keeps what is typed into it, `python -m quotatree.examples.notebook`.

For machines where JupyterLab is not installed, and for the demo. It answers on $QUOTATREE_PORT to whoever has
$QUOTATREE_TOKEN (as `?token=` or a bearer token): POST / adds a cell, GET / shows them all. Cells are kept in the
working directory, which outlives an eviction, and are on disk before a POST is answered.
"""

from __future__ import annotations

import html
import json
import os
import secrets
import signal
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from urllib.parse import parse_qs, urlsplit

CELLS = Path("cells.json")
MOST_BYTES = 1_000_000


def main() -> int:
    token = os.environ.get("QUOTATREE_TOKEN") or secrets.token_urlsafe()
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("QUOTATREE_PORT", "8888"))), page(token))
    server.daemon_threads = True
    signal.signal(signal.SIGTERM, lambda *_: Thread(target=server.shutdown).start())
    say(f"{len(kept())} cells; answers on 127.0.0.1:{server.server_port}")
    server.serve_forever(poll_interval=0.1)
    say("stops; its cells are kept")
    return 143


def page(token: str) -> type[BaseHTTPRequestHandler]:
    lock = Lock()

    class Page(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self._allowed():
                cells = "".join(f"<pre>{html.escape(cell)}</pre>" for cell in kept())
                form = '<form method="post"><textarea name="cell"></textarea><button>Keep</button></form>'
                self._answer(HTTPStatus.OK, f"<!doctype html><title>notebook</title>{cells}{form}")

        def do_POST(self) -> None:
            if not self._allowed():
                return
            length = int(self.headers.get("Content-Length") or 0)
            if length > MOST_BYTES:
                self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {MOST_BYTES} bytes")
                return
            text = self.rfile.read(length).decode(errors="replace")
            with lock:
                keep([*kept(), parse_qs(text).get("cell", [text])[0]])
            self._answer(HTTPStatus.CREATED, "kept")

        def _allowed(self) -> bool:
            given = parse_qs(urlsplit(self.path).query).get("token", [""])[0]
            given = given or (self.headers.get("Authorization") or "").removeprefix("Bearer ")
            if secrets.compare_digest(given.encode(), token.encode()):
                return True
            self.close_connection = True  # what was posted is not read
            self._answer(HTTPStatus.UNAUTHORIZED, "a token is needed: ?token=…")
            return False

        def _answer(self, status: HTTPStatus, text: str) -> None:
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: the request line contains the token."""

    return Page


def kept() -> list[str]:
    return list(json.loads(CELLS.read_text())) if CELLS.exists() else []


def keep(cells: list[str]) -> None:
    fresh = CELLS.with_suffix(".new")
    fresh.write_text(json.dumps(cells))
    os.replace(fresh, CELLS)
    reported = os.environ.get("QUOTATREE_CHECKPOINT_FILE")
    if reported:
        Path(reported).touch()


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
