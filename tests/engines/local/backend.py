"""A tiny HTTP server to stand behind the proxy: `python backend.py PORT NAME`, or `Replica` within a test's process."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """What a request does is in its path, so that a test reads as its requests."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        self.server.heads.append((self.command, self.path, dict(self.headers.items())))
        path, _, argument = self.path.partition("?")
        if path == "/health" and not self.server.well:
            self._say(b"ill", 500)
        elif path == "/slow":  # answers once the test lets it, or after so many seconds
            self.server.reached.release()
            sys.stdout.write("slow\n")  # for a test that knows no more of it than its output
            sys.stdout.flush()
            self.server.let_go.wait(float(argument or 20))
            self._say(self.server.name.encode())
        elif path == "/stream":
            self._stream(int(argument))
        elif path == "/dies":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif path == "/upgrade":
            self._upgrade()
        else:
            self._say(self.server.name.encode())

    do_HEAD = do_DELETE = do_GET  # noqa: N815 — http.server's names

    def do_POST(self) -> None:
        self.server.heads.append((self.command, self.path, dict(self.headers.items())))
        if self.path == "/dies":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif self.path == "/refuse":
            self._say(b"too much", 413)
            self.close_connection = True
        else:
            size = sum(len(part) for part in self._body())
            path, _, argument = self.path.partition("?")
            if path == "/slow":
                self.server.let_go.wait(float(argument))
            self._say(str(size).encode())

    def _body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return
        left = int(self.headers.get("Content-Length", 0))
        while left:
            part = self.rfile.read(min(left, 65536))
            self.server.taken += len(part)
            left -= len(part)
            yield part

    def _stream(self, mib: int) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(mib << 20))
        self.end_headers()
        for _ in range(mib * 16):
            self.wfile.write(b"x" * 65536)
            self.server.given += 65536

    def _upgrade(self) -> None:
        self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
        while data := self.connection.recv(65536):
            self.connection.sendall(data.upper())
        self.close_connection = True

    def _say(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Replica", self.server.name)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, name: str) -> None:
        self.name = name
        self.well = True
        self.heads: list[tuple[str, str, dict[str, str]]] = []
        self.reached = threading.Semaphore(0)
        self.let_go = threading.Event()
        self.taken = 0
        self.given = 0
        super().__init__(("127.0.0.1", port), Handler)

    def handle_error(self, request, client_address) -> None:
        pass  # clients that hang up are part of the story


class Replica(Server):
    """Runs in a thread."""

    def __init__(self, name: str) -> None:
        super().__init__(0, name)
        self.port = self.server_address[1]
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def end(self) -> None:
        self.let_go.set()
        self.shutdown()
        self.server_close()
        self._thread.join()


if __name__ == "__main__":
    if os.environ.get("START_SECONDS"):
        time.sleep(float(os.environ["START_SECONDS"]))
    Server(
        int(os.environ["QUOTATREE_PORT"]), os.environ.get("QUOTATREE_REPLICA", sys.argv[-1])
    ).serve_forever()
