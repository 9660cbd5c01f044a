"""An inference service that says who answers: `python -m quotatree.examples.service`.

Each replica listens on $QUOTATREE_PORT; /health is what the proxy asks. On SIGTERM it finishes what it is answering.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


def main() -> int:
    parser = argparse.ArgumentParser(description="Answer each request with the replica's number.")
    parser.add_argument(
        "--think", type=float, default=0.0, metavar="SECONDS", help="how long an answer takes"
    )
    think_seconds: float = parser.parse_args().think

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path != "/health":
                time.sleep(think_seconds)
            body = json.dumps(
                {
                    "replica": int(os.environ.get("QUOTATREE_REPLICA", "0")),
                    "node": os.environ.get("QUOTATREE_NODE", ""),
                    "gpus": os.environ.get("CUDA_VISIBLE_DEVICES", ""),
                }
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: /health is asked every second."""

    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("QUOTATREE_PORT", "8000"))), Answers)
    signal.signal(signal.SIGTERM, lambda *_: Thread(target=server.shutdown).start())
    sys.stdout.write(f"answers on 127.0.0.1:{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever(poll_interval=0.1)
    server.server_close()  # waits for the answers under way
    return 0


if __name__ == "__main__":
    sys.exit(main())
