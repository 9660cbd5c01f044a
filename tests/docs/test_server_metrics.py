"""The page of metrics, the dashboard and the alert rules speak of what a running server really tells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from tests.cli.conftest import Serving
from tests.docs import promql
from tests.docs.exposition import Family, families, text_of, told_server, whole_text

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "server-metrics.md"
DASHBOARD = ROOT / "deploy" / "grafana" / "quotatree.json"
RULES = ROOT / "deploy" / "prometheus" / "quotatree-rules.yaml"
ROW = re.compile(r"^\| `(quotatree_\w+)` \| (\w+) \| ([\w, ]*)\|", re.MULTILINE)


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with told_server(tmp_path_factory.mktemp("told")) as found:
        yield found


@pytest.fixture(scope="module")
def told(serving: Serving) -> str:
    """What a platform admin is told."""
    return whole_text(serving)


@pytest.fixture(scope="module")
def whole(told: str) -> dict[str, Family]:
    return families(told)


def described(text: str) -> dict[str, tuple[str, frozenset[str]]]:
    return {
        name: (kind, frozenset(label for label in labels.replace(" ", "").split(",") if label))
        for name, kind, labels in ROW.findall(text)
    }


def test_the_page_has_every_metric_with_its_type_and_labels(whole: dict[str, Family]):
    found = {name: (one.kind, one.labels) for name, one in whole.items()}
    assert described(PAGE.read_text(encoding="utf-8")) == found


def test_no_metric_has_a_label_that_prometheus_gives_itself(whole: dict[str, Family]):
    """It would be renamed to exported_…, and every query would ask for the wrong one."""
    assert {name for name, one in whole.items() if one.labels & {"job", "instance"}} == set()


def test_nobody_is_told_names_without_a_token(serving: Serving, whole: dict[str, Family]):
    text = text_of(serving, None)
    open_part, named_part = PAGE.read_text(encoding="utf-8").split("## With names")
    assert set(families(text)) == set(described(open_part))
    assert set(described(named_part)) == set(whole) - set(families(text))
    for name in ("vision", "speech", "company", "node-", "dlc-", "ann"):
        assert f'"{name}' not in text
    assert re.search(r'job_id="dlc-\w+"', text_of(serving, serving.token))


def test_a_wrong_token_is_refused_and_one_without_the_right_too(serving: Serving):
    def status(token: str) -> int:
        return httpx2.get(f"{serving.url}/metrics", headers={"Authorization": f"Bearer {token}"}).status_code

    assert status("qt_nonsense") == 401
    assert status(serving.tokens["ann"]) == 403
    with serving.client() as client:
        made = client.tokens.create({"name": "prometheus", "read_only": True})
    assert status(made["token"]) == 200


def test_figures_are_those_of_the_quotas(told: str):
    assert 'quotatree_quota_min{quota="company",resource="gpu"} 16.0' in told
    assert 'quotatree_quota_used{quota="company",resource="gpu"} 16.0' in told
    squeezed = re.findall(
        r'^quotatree_quota_squeezed\{quota="(\w+)",resource="gpu"\} 8.0', told, re.MULTILINE
    )
    assert len(squeezed) == 1
    assert f'quotatree_quota_jobs{{module="DLC",quota="{squeezed[0]}",state="waiting"}} 1.0' in told
    assert 'quotatree_nodes{state="Ready"} 2.0' in told
    assert "quotatree_leading 1.0" in told
    assert re.search(r'^quotatree_preemptions_total\{reason="\w+"\} 1.0', told, re.MULTILINE)
    assert re.search(r'^quotatree_lost_gpu_seconds_total\{reason="\w+"\} [1-9]', told, re.MULTILINE)
    used = re.findall(r'^quotatree_node_gpus_used\{module="DLC".*\} (\S+)', told, re.MULTILINE)
    assert used == ["8.0", "8.0"]


# -- the dashboard and the alerts ----------------------------------------------------------------------------------------


def dashboard() -> Any:
    return json.loads(DASHBOARD.read_text(encoding="utf-8"))


def queries() -> dict[str, str]:
    """Every expression of the dashboard, by the title of its panel and its place there."""
    found = {
        f"{panel['title']} {target['refId']}": target["expr"]
        for panel in dashboard()["panels"]
        for target in panel.get("targets", ())
    }
    for variable in dashboard()["templating"]["list"]:
        if variable["type"] == "query":
            asked = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]["query"])
            assert asked is not None, variable["query"]
            assert variable["definition"] == variable["query"]["query"]
            found[f"variable {variable['name']}"] = f"sum by ({asked[2]}) ({asked[1]})"
    return found


def alerts() -> list[dict[str, Any]]:
    return [
        rule
        for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
        for rule in group["rules"]
    ]


EXPRESSIONS = {**queries(), **{rule["alert"]: rule["expr"] for rule in alerts()}}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_an_expression_asks_for_metrics_and_labels_that_there_are(whole: dict[str, Family], name: str):
    assert promql.unknown(EXPRESSIONS[name], whole) == []


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_values_of_labels_are_told_by_the_server(told: str, name: str):
    for label, value in promql.values_asked(EXPRESSIONS[name]):
        if label in ("mode", "state", "resource"):
            assert f'{label}="{value}"' in told, (label, value)


def test_every_figure_of_a_quota_is_on_the_dashboard(whole: dict[str, Family]):
    drawn = {metric for expression in queries().values() for metric in promql.metrics_of(expression)}
    missing = {name for name in whole if name.startswith(("quotatree_quota_", "quotatree_node_"))} - drawn
    assert missing == {"quotatree_quota_own"}


def test_what_an_alert_says_names_labels_that_its_expression_has(whole: dict[str, Family]):
    for rule in alerts():
        text = " ".join(rule["annotations"].values())
        assert set(rule["annotations"]) == {"summary", "description"}
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        for label in re.findall(r"\$labels\.(\w+)", text):
            assert label in promql.labels_left(rule["expr"], whole), (rule["alert"], label)


def test_the_page_lists_every_alert():
    page = PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"`(QuotaTree\w+)`", page)) == {rule["alert"] for rule in alerts()}


def test_panels_do_not_overlap_and_have_one_number_each():
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert max(x for x, _ in cells) < 24
        assert not cells & taken, panel["title"]
        taken |= cells


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("quotatree_quota_used_renamed", "no metric quotatree_quota_used_renamed"),
        ('quotatree_quota_used{team="a"}', "quotatree_quota_used has no label team"),
        ("sum by (team) (quotatree_quota_used)", "no metric here has the label team"),
        ("rate(quotatree_plan_seconds[5m])", "no metric quotatree_plan_seconds"),
    ],
)
def test_the_check_finds_what_is_not_there(whole: dict[str, Family], expression: str, says: str):
    assert promql.unknown(expression, whole) == [says]
