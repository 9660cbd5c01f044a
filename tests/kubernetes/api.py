"""What does the API server hold? Raw JSON over one client, for tests that look, and for those that do as an admin does."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import yaml

MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
TIMEOUT_SECONDS = 20.0

Thing = dict[str, Any]


class Api:
    """A client with the rights of a kubeconfig. An answer of 400 or more raises `Denied`."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        trust = ssl.create_default_context(cafile=cluster["certificate-authority"])
        headers = {}
        if "client-certificate" in user:
            trust.load_cert_chain(user["client-certificate"], user["client-key"])
        else:
            headers["Authorization"] = f"Bearer {user['token']}"
        limits = httpx2.Limits(max_connections=64)
        self._client = httpx2.Client(
            base_url=cluster["server"], verify=trust, headers=headers, limits=limits,
            timeout=TIMEOUT_SECONDS, trust_env=False,
        )  # fmt: skip

    def close(self) -> None:
        self._client.close()

    def get(self, path: str, **query: Any) -> Thing:
        return self._ask("GET", path, params=query)

    def items(self, path: str, **query: Any) -> list[Thing]:
        found: list[Thing] = self.get(path, **query)["items"]
        return found

    def find(self, path: str) -> Thing | None:
        """None where there is no such thing."""
        try:
            return self.get(path)
        except Denied as denied:
            if denied.code == 404:
                return None
            raise

    def create(self, path: str, body: Thing, **query: Any) -> Thing:
        return self._ask("POST", path, json=body, params=query)

    def merge(self, path: str, body: Thing, **query: Any) -> Thing:
        return self._ask("PATCH", path, json=body, headers={"Content-Type": MERGE}, params=query)

    def delete(self, path: str, **options: Any) -> Thing:
        return self._ask("DELETE", path, json={"kind": "DeleteOptions", "apiVersion": "v1", **options})

    @contextmanager
    def watching(self, path: str, version: str, **query: str) -> Iterator[Iterator[str]]:
        """What changes after this version, line by line, until the server ends it."""
        query |= {"watch": "true", "resourceVersion": version, "allowWatchBookmarks": "true"}
        with self._client.stream("GET", path, params=query, timeout=None) as answer:
            if answer.status_code >= 400:
                raise Denied(answer.status_code, "WATCH", path, answer.read().decode())
            yield answer.iter_lines()

    def ready(self) -> bool:
        """Whether the API server says of itself that it is ready."""
        try:
            return self._client.get("/readyz", timeout=2).status_code == 200
        except httpx2.HTTPError:
            return False

    def _ask(self, method: str, path: str, **more: Any) -> Thing:
        answer = self._client.request(method, path, **more)
        if answer.status_code >= 400:
            raise Denied(answer.status_code, method, path, answer.text)
        found: Thing = answer.json()
        return found


class Denied(Exception):
    def __init__(self, code: int, method: str, path: str, text: str) -> None:
        super().__init__(f"{method} {path}: {code} {text[:1000]}")
        self.code = code


def annotated(thing: Thing, name: str) -> str | None:
    found: str | None = (thing["metadata"].get("annotations") or {}).get(name)
    return found


def condition(thing: Thing, kind: str) -> str:
    """Status of one of its conditions: "True", "False" or "Unknown", also where it has no such condition."""
    for one in thing.get("status", {}).get("conditions", ()):
        if one["type"] == kind:
            found: str = one["status"]
            return found
    return "Unknown"


def names(things: Iterable[Thing]) -> list[str]:
    return [thing["metadata"]["name"] for thing in things]
