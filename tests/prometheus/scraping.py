"""A real Prometheus on a loopback port that scrapes one QuotaTree server every second, and answers questions."""

from __future__ import annotations

import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx2
import yaml

from tests.cli.conftest import until

RULES: Final = Path(__file__).resolve().parents[2] / "deploy" / "prometheus" / "quotatree-rules.yaml"
SCRAPE_SECONDS: Final = 1


class Asked(Exception):
    """Prometheus does not answer a question; the message is its own."""


class Prometheus:
    def __init__(self, url: str) -> None:
        self.url = url

    def instant(self, expression: str) -> list[Any]:
        """The series that the expression has now."""
        found: list[Any] = self.get("query", query=expression)["result"]
        return found

    def over(self, expression: str, start: float, end: float, step: float = SCRAPE_SECONDS) -> list[Any]:
        """The series that the expression has at any time between two, each with its values."""
        asked = {"query": expression, "start": start, "end": end, "step": step}
        found: list[Any] = self.get("query_range", **asked)["result"]
        return found

    def selectors(self, expression: str) -> list[Any]:
        """Every selector of the expression as Prometheus reads it, with `name` and `matchers`."""
        return list(_selectors(self.get("parse_query", query=expression)))

    def rules(self) -> list[Any]:
        """Every rule with its `state`, `health` and `lastError`."""
        return [rule for group in self.get("rules")["groups"] for rule in group["rules"]]

    def get(self, path: str, **asked: Any) -> Any:
        answer = httpx2.get(f"{self.url}/api/v1/{path}", params=asked, timeout=30)
        said = answer.json()
        if said["status"] != "success":
            raise Asked(f"{asked}: {said['error']}")
        return said["data"]

    def ready(self) -> bool:
        try:
            return httpx2.get(f"{self.url}/-/ready").status_code == httpx2.codes.OK
        except httpx2.HTTPError:
            return False


@contextmanager
def scraping(program: Path, directory: Path, target: str, token: str) -> Iterator[Prometheus]:
    """A Prometheus that has scraped the server at `target`, with our rules; it ends with the block."""
    (directory / "token").write_text(token)
    config = {
        "global": {"scrape_interval": f"{SCRAPE_SECONDS}s", "evaluation_interval": f"{SCRAPE_SECONDS}s"},
        "rule_files": [str(RULES)],
        "scrape_configs": [
            {
                "job_name": "quotatree",
                "authorization": {"credentials_file": str(directory / "token")},
                "static_configs": [{"targets": [target.removeprefix("http://")]}],
            }
        ],
    }
    (directory / "prometheus.yml").write_text(yaml.safe_dump(config))
    address = f"127.0.0.1:{_free_port()}"
    command = [
        str(program), f"--config.file={directory / 'prometheus.yml'}", f"--storage.tsdb.path={directory / 'tsdb'}",
        f"--web.listen-address={address}", "--log.level=warn",
    ]  # fmt: skip
    log = directory / "prometheus.log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=directory, stdout=out, stderr=subprocess.STDOUT)
    try:
        found = Prometheus(f"http://{address}")
        until(lambda: process.poll() is not None or found.ready())
        assert process.poll() is None, log.read_text()
        until(lambda: found.instant('up{job="quotatree"} == 1'))
        yield found
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def _selectors(node: Any) -> Iterator[Any]:
    if isinstance(node, dict):
        if node.get("type") == "vectorSelector" or node.get("type") == "matrixSelector":
            yield node
        for child in node.values():
            yield from _selectors(child)
    elif isinstance(node, list):
        for child in node:
            yield from _selectors(child)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
