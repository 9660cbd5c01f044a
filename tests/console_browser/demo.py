"""The stage of `make demo` for a browser: the same server and programs, without the story that the demo tells by itself."""

from __future__ import annotations

import time
from collections.abc import Mapping
from urllib.parse import urlencode

import httpx2

from quotatree.cli.demo import cast
from quotatree.cli.demo.stage import Stage
from quotatree.client import Client
from tests.console_browser.world import come_true

UNSAVED_SECONDS = 6
PATIENCE_SECONDS = 90.0


class Demo:
    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.url = stage.url

    @property
    def tokens(self) -> Mapping[str, str]:
        return {user: path.read_text().strip() for user, path in self.stage.tokens.items()}

    def client(self, user: str = "admin") -> Client:
        return Client(self.url, self.tokens[user])

    def fill(self) -> None:
        """Bob's trainings and cai's notebooks, until each of them really runs."""
        for user, jobs in (("bob", cast.training()), ("cai", cast.notebooks())):
            made = self.stage.client(user).jobs.submit_many(jobs)["items"]
            assert all(one["id"] is not None for one in made), made
        come_true(lambda: all(self._confirmed_ms(name) for name in self._names()), PATIENCE_SECONDS)

    def let_only_sweep_b_have_much_to_lose(self) -> None:
        """Wait until `sweep-b`, which seldom saves, has run a while; then cai types into `scratch`, which saves it."""
        come_true(
            lambda: time.time() - self._confirmed_ms("sweep-b") / 1000 >= UNSAVED_SECONDS, PATIENCE_SECONDS
        )
        come_true(self._type, PATIENCE_SECONDS)

    def _names(self) -> list[str]:
        return [job["name"] for job in (*cast.training(), *cast.notebooks())]

    def _job(self, name: str) -> str:
        return next(job["id"] for job in self.stage.client("admin").jobs.list() if job["name"] == name)

    def _confirmed_ms(self, name: str) -> int:
        """When the engine confirmed the job's newest run; 0 if it has not."""
        runs = list(self.stage.client("admin").jobs.runs(self._job(name)))
        return (runs[-1]["confirmed_ms"] or 0) if runs else 0

    def _type(self) -> bool:
        endpoint = self.stage.client("cai").jobs.endpoint(self._job("scratch"))
        if endpoint["address"] is None:
            return False
        address = f"{endpoint['address']}?token={endpoint['token']}"
        return (
            httpx2.post(address, content=urlencode({"cell": "print(6 * 7)"})).status_code
            == httpx2.codes.CREATED
        )
