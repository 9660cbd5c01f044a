"""What a running server really tells Prometheus, after all has happened once that it counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from prometheus_client.parser import text_string_to_metric_families

from quotatree.client import Client
from quotatree.engines.base import DeviceUse
from tests.cli.conftest import TREE, Cli, Serving, until


@dataclass(frozen=True)
class Family:
    """One metric: its type, the names of its labels, and how its samples are called."""

    kind: str
    labels: frozenset[str]
    samples: frozenset[str]


def families(text: str) -> dict[str, Family]:
    """The metrics of an exposition by the name that a page and a query use. A metric without any sample is left out."""
    found: dict[str, Family] = {}
    for family in text_string_to_metric_families(text):
        samples = [one for one in family.samples if not one.name.endswith("_created")]
        if samples:
            labels = frozenset(label for one in samples for label in one.labels) - {"le"}
            name = f"{family.name}_total" if family.type == "counter" else family.name
            found[name] = Family(family.type, labels, frozenset(one.name for one in samples))
    return found


@contextmanager
def told_server(directory: Path) -> Iterator[Serving]:
    """A server that has preempted, refused, and tried a webhook; its devices are played."""
    serving = Serving(directory)
    try:
        cli = Cli(serving, directory)
        cli.run("apply", "-y", "-f", cli.file("tree.yaml", TREE))
        serving.tokens["ann"] = cli.run("token", "create", "test", "--user", "ann").stdout.strip()
        engine: Any = serving.server.engine
        with serving.client() as client:
            node = client.nodes.list()[0]["name"]
            engine.device_uses = lambda: [
                DeviceUse(node, device, 0.5, 1 << 30, 80 << 30) for device in range(8)
            ]
            _happen(client)
        assert httpx2.get(f"{serving.url}/api/v1/quotas").status_code == 401
        yield serving
    finally:
        serving.close()


def _happen(client: Client) -> None:
    client.webhooks.create({"id": "nobody", "url": "http://127.0.0.1:9/", "secret": "secret-of-sixteen"})
    work: Any = {
        "workspace": "vision",
        "quota": "vision",
        "groups": [{"gpus": 8}],
        "program": {"leaves_after": 0.1},
    }
    victim = client.jobs.submit(work)["id"]
    speech: Any = {**work, "workspace": "speech", "quota": "speech"}
    client.jobs.submit(speech)
    until(lambda: client.jobs.get(victim)["phase"] == "Running")
    client.workspaces.bind("vision", "company")
    above: Any = {**work, "quota": "company"}
    client.jobs.submit(above)
    until(lambda: any(True for _ in client.preemptions.list()))


def text_of(serving: Serving, token: str | None) -> str:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    answer = httpx2.get(f"{serving.url}/metrics", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.text


def whole_text(serving: Serving) -> str:
    """What a platform admin is told once the eviction is over and the webhook was tried."""
    until(
        lambda: re.search(r"^quotatree_eviction_seconds_count [1-9]", text_of(serving, serving.token), re.M)
    )
    tried = re.compile(r'^quotatree_webhook_deliveries_total\{outcome="failed"\} [1-9]', re.MULTILINE)
    until(lambda: tried.search(text_of(serving, serving.token)))
    return text_of(serving, serving.token)
