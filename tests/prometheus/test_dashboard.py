"""Does a real Prometheus understand every query of the dashboard and the alerts, and find what they ask for on a real server?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from docs import draw_dashboard
from tests.cli.conftest import until
from tests.prometheus import dashboard, story
from tests.prometheus.binary import PROMETHEUS
from tests.prometheus.conftest import built
from tests.prometheus.scraping import Asked, Prometheus, scraping
from tests.prometheus.test_rules import rules

STORY_SECONDS = 20
QUERIES = {
    f"{panel.title}, {place}": query.expression
    for panel in dashboard.panels()
    for place, query in enumerate(panel.queries, start=1)
}


@dataclass(frozen=True)
class Seen:
    """A story that is over, and the Prometheus that looked on from `start` to `end`."""

    prometheus: Prometheus
    start: float
    end: float

    def over(self, expression: str) -> list[Any]:
        return self.prometheus.over(expression, self.start, self.end)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    program = built(PROMETHEUS)
    with story.busy_server(tmp_path_factory.mktemp("server")) as serving:
        directory = tmp_path_factory.mktemp("prometheus")
        with scraping(program, directory, serving.url, serving.token) as prometheus:
            start = time.time()
            story.play(serving, STORY_SECONDS)
            until(lambda: prometheus.instant("quotatree_gpus_ill > 0"))
            yield Seen(prometheus, start, time.time())


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_of_the_dashboard_finds_series(seen: Seen, name: str):
    found = seen.over(QUERIES[name])
    assert found
    values = [float(value) for series in found for _, value in series["values"]]
    assert all(value >= 0 for value in values if value == value)


@pytest.mark.parametrize(
    "title", ["Squeezed", "Loans", "Idle work", "Queued", "Preemptions an hour", "GPU-hours lost an hour", "Eviction"]
)  # fmt: skip
def test_what_the_story_tells_is_more_than_nothing(seen: Seen, title: str):
    values = [
        float(value)
        for name, query in QUERIES.items()
        if name.startswith(f"{title},")
        for series in seen.over(query)
        for _, value in series["values"]
    ]
    assert max(value for value in values if value == value) > 0


@pytest.mark.parametrize("alert", [rule["alert"] for rule in rules()])
def test_an_alert_asks_for_what_the_server_tells(seen: Seen, alert: str):
    """As Prometheus reads its expression: every metric is there, and has the labels that are asked for."""
    expression = next(rule["expr"] for rule in rules() if rule["alert"] == alert)
    selectors = seen.prometheus.selectors(expression)
    assert selectors
    for selector in selectors:
        name = selector["name"]
        assert seen.over(name), name
        for matcher in selector["matchers"]:
            if matcher["name"] != "__name__":
                assert seen.over(f'{name}{{{matcher["name"]}="{matcher["value"]}"}}'), (name, matcher)


def test_prometheus_evaluates_every_rule_and_raises_the_one_alert_there_is_reason_for(seen: Seen):
    def in_state(state: str) -> set[str]:
        return {rule["name"] for rule in seen.prometheus.rules() if rule["state"] == state}

    until(lambda: all(rule["health"] == "ok" for rule in seen.prometheus.rules()))
    assert {rule["name"] for rule in seen.prometheus.rules()} == {rule["alert"] for rule in rules()}
    until(lambda: in_state("firing") == {"QuotaTreeGpuIll"})


def test_no_more_gpus_are_in_use_than_there_are_though_a_node_is_cordoned(seen: Seen):
    [series] = seen.over(QUERIES["GPUs in use, 1"])
    assert max(float(value) for _, value in series["values"]) <= 1


def test_the_picture_of_the_docs_can_be_drawn_of_it(seen: Seen):
    drawn = draw_dashboard.draw(seen.prometheus, np.arange(seen.start, seen.end, 1.0))
    assert len(drawn.getcolors() or ()) > 16


def test_an_expression_that_is_none_is_refused(seen: Seen):
    with pytest.raises(Asked, match="unknown function"):
        seen.over("median(quotatree_leading)")
