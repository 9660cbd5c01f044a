"""The page of metrics, the dashboard and the alert rules speak of what a running server really tells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.cli.conftest import Serving
from tests.docs.exposition import Family, families, text_of, told_server, whole_text

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "server-metrics.md"
ROW = re.compile(r"^\| `(quotatree_\w+)` \| (\w+) \| ([\w, ]*)\|", re.MULTILINE)


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with told_server(tmp_path_factory.mktemp("told")) as found:
        yield found


@pytest.fixture(scope="module")
def whole(serving: Serving) -> dict[str, Family]:
    return families(whole_text(serving))


def described(text: str) -> dict[str, tuple[str, frozenset[str]]]:
    return {
        name: (kind, frozenset(label for label in labels.replace(" ", "").split(",") if label))
        for name, kind, labels in ROW.findall(text)
    }


def test_the_page_has_every_metric_with_its_type_and_labels(whole: dict[str, Family]):
    told = {name: (one.kind, one.labels) for name, one in whole.items()}
    assert described(PAGE.read_text(encoding="utf-8")) == told


def test_nobody_is_told_names_without_a_token(serving: Serving, whole: dict[str, Family]):
    text = text_of(serving, None)
    open_part, named_part = PAGE.read_text(encoding="utf-8").split("## With names")
    assert set(families(text)) == set(described(open_part))
    assert set(described(named_part)) == set(whole) - set(families(text))
    for name in ("vision", "speech", "company", "node-", "dlc-", "ann"):
        assert f'"{name}' not in text
    assert re.search(r'job="dlc-\w+"', text_of(serving, serving.token))


def test_a_wrong_token_is_refused_and_one_without_the_right_too(serving: Serving):
    def status(token: str) -> int:
        return httpx2.get(f"{serving.url}/metrics", headers={"Authorization": f"Bearer {token}"}).status_code

    assert status("qt_nonsense") == 401
    assert status(serving.tokens["ann"]) == 403
    with serving.client() as client:
        made = client.tokens.create({"name": "prometheus", "read_only": True})
    assert status(made["token"]) == 200


def test_figures_are_those_of_the_quotas(serving: Serving):
    text = whole_text(serving)
    assert 'quotatree_quota_min{quota="company",resource="gpu"} 16.0' in text
    assert 'quotatree_quota_used{quota="company",resource="gpu"} 16.0' in text
    squeezed = re.findall(
        r'^quotatree_quota_squeezed\{quota="(\w+)",resource="gpu"\} 8.0', text, re.MULTILINE
    )
    assert len(squeezed) == 1
    assert f'quotatree_quota_jobs{{module="DLC",quota="{squeezed[0]}",state="waiting"}} 1.0' in text
    assert 'quotatree_nodes{state="Ready"} 2.0' in text
    assert "quotatree_leading 1.0" in text
    assert re.search(r'^quotatree_preemptions_total\{reason="\w+"\} 1.0', text, re.MULTILINE)
    assert re.search(r'^quotatree_lost_gpu_seconds_total\{reason="\w+"\} [1-9]', text, re.MULTILINE)
    used = re.findall(r'^quotatree_node_gpus_used\{module="DLC".*\} (\S+)', text, re.MULTILINE)
    assert used == ["8.0", "8.0"]
