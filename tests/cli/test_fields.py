"""Every field of a quota and of a job, at every edge: one entry is enough, and none is dropped in silence (Q6).

The values are said by kind, so a new setting of a known kind is tested here without another line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import yaml

from quotatree.client.errors import ApiError
from quotatree.codec.snapshot_file import read_snapshot_text
from quotatree.core import (
    JOB_SETTINGS,
    QUOTA_FIELDS,
    QUOTA_SETTINGS,
    UNBOUNDED,
    Changed,
    NounField,
    QuotaId,
    QuotaSpec,
    Refused,
    State,
    ValueKind,
    apply,
    events,
)
from quotatree.core import Settings as CoreSettings
from quotatree.kubernetes_edge.resources import declared_quota, resource_word
from quotatree.scenario.errors import ScenarioError
from quotatree.scenario.load_jobs import read_jobs
from quotatree.scenario.load_quota import read_quota
from quotatree.scenario.table import Table
from tests.cli.conftest import Cli


class Example(NamedTuple):
    """A value that is no default, as it is said, as it is answered, and in the history."""

    said: Any
    shown: Any
    told: str


POLICY = {"modules": ["DLC", "DSW"], "enabled": True}
EXAMPLES = {
    ValueKind.GPUS: Example(1.5, 1.5, "1.5 GPU"),
    ValueKind.DURATION: Example("90s", "1m30s", "90 s"),
    ValueKind.RESOURCES: Example({"gpus": 1}, {"gpus": 1, "cpu": 0, "memory": "0Gi"}, "1 GPU"),
    ValueKind.BOUNDS: Example({"gpus": 3, "cpu": 4}, {"gpus": 3, "cpu": 4}, "3 GPU, 4 CPU"),
    ValueKind.REPLICAS: Example(2, 2, ""),
    ValueKind.COUNT: Example(3, 3, ""),
    ValueKind.PRIORITY: Example(3, 3, ""),
    ValueKind.TITLE: Example("a title", "a title", "a title"),
    ValueKind.TEXT: Example("some words", "some words", "some words"),
    ValueKind.LABELS: Example({"team": "red"}, {"team": "red"}, "team=red"),
    ValueKind.STRATEGY: Example("fifo", "fifo", "fifo"),
    ValueKind.SELF_LEVEL: Example(
        [{"high": "8-9", "low": 2}],
        [{"high": "8-9", "low": "2", "scope": "level", **POLICY}],
        "8-9 over 2 DLC,DSW in level",
    ),
    ValueKind.CHILD_LEVEL: Example({"priorities": "1-2"}, {"priorities": "1-2", **POLICY}, "1-2 DLC,DSW"),
}
NEGATIVE: dict[ValueKind, Any] = {
    ValueKind.GPUS: -1,
    ValueKind.DURATION: -1,
    ValueKind.BOUNDS: UNBOUNDED._replace(gpu_milli=-1),
}


def example(one: NounField) -> Example:
    if one.kind is ValueKind.FLAG:
        return Example(not one.default, not one.default, "off" if one.default else "on")
    if one.kind is ValueKind.CHOICE:
        other = next(word.value for word in type(one.default) if word is not one.default)
        return Example(other, other, "")
    return EXAMPLES[one.kind]


def by_name(one: NounField) -> str:
    return one.name


each_setting = pytest.mark.parametrize("setting", QUOTA_SETTINGS, ids=by_name)


@pytest.fixture
def lab(cli: Cli) -> Iterator[Cli]:
    with cli.serving.client() as client:
        client.quotas.scale("vision", {"min": {"gpus": 7}})
        client.quotas.create({"id": "fields", "parent": "company", "min": {"gpus": 1}})
        yield cli
        client.quotas.delete("fields")
        client.quotas.scale("vision", {"min": {"gpus": 8}})


def lab_now(cli: Cli) -> Any:
    return cli.json("get", "quota", "fields")


def stored_lab(cli: Cli) -> QuotaSpec:
    """The quota as a restarted server would find it."""
    loaded = cli.serving.store.load(CoreSettings())
    return next(one.spec for one in loaded.snapshot.quotas if one.spec.id == "fields")


@each_setting
def test_what_is_sent_is_answered_stored_exported_and_told_in_the_history(lab: Cli, setting: NounField):
    said, shown, told = example(setting)
    before = lab_now(lab)[setting.name]
    with lab.serving.client() as client:
        client.quotas.update("fields", {setting.name: said})  # type: ignore[misc]  # any of its keys
        (change,) = client.quotas.history("fields")[-1]["body"]["changes"]
        exported, _ = read_snapshot_text(json.dumps(client.snapshot()))
        assert lab_now(lab)[setting.name] == shown != before
        assert (change["what"], change["after"]) == (setting.name, told)
        value = setting.of(stored_lab(lab))
        assert value != setting.default
        assert [setting.of(one.spec) for one in exported.quotas if one.spec.id == "fields"] == [value]
        if setting.optional:
            client.quotas.update("fields", {setting.name: None})  # type: ignore[misc]  # likewise
            assert setting.of(stored_lab(lab)) is None
            assert client.quotas.history("fields")[-1]["body"]["changes"][0]["after"] == setting.unset


@each_setting
def test_a_file_sets_it_once_and_a_file_without_it_takes_it_away(lab: Cli, setting: NounField):
    said, shown, _ = example(setting)
    plain: dict[str, Any] = {"id": "fields", "parent": "company", "min": {"gpus": 1}}

    def applied(quota: dict[str, Any]) -> str:
        return lab.run("apply", "-y", "-f", lab.file("a.yaml", yaml.safe_dump({"quotas": [quota]}))).stdout

    assert f"~ quota fields: {setting.name} " in applied({**plain, setting.name: said})
    assert lab_now(lab)[setting.name] == shown
    assert applied({**plain, setting.name: said}) == "everything is as the file says\n"
    assert f"~ quota fields: {setting.name} " in applied(plain)
    assert setting.of(stored_lab(lab)) == setting.default


@each_setting
def test_a_story_says_it_with_the_same_word_and_means_the_same(lab: Cli, setting: NounField):
    said, _, _ = example(setting)
    with lab.serving.client() as client:
        client.quotas.update("fields", {setting.name: said})  # type: ignore[misc]  # any of its keys
    told = read_quota(Table("story", {"id": "fields", "parent": "company", "gpus": 1, setting.name: said}))
    assert setting.of(told) == setting.of(stored_lab(lab))


@pytest.mark.parametrize("setting", [one for one in QUOTA_FIELDS if one.name != "id"], ids=by_name)
def test_a_resource_says_it_in_the_spelling_of_its_cluster(setting: NounField):
    resource = {"metadata": {"name": "fields", "uid": "1"}, "spec": {resource_word(setting.name): "x"}}
    assert declared_quota(resource).said == {"id": "fields", setting.name: "x"}


@pytest.mark.parametrize("setting", [one for one in QUOTA_SETTINGS if one.kind in NEGATIVE], ids=by_name)
def test_an_amount_or_a_time_below_zero_is_refused_by_its_rule(setting: NounField):
    state = State()
    apply(state, events.PoolDeclared("default"), 0)
    wrong: dict[str, Any] = {setting.attribute: NEGATIVE[setting.kind]}
    spec = QuotaSpec(QuotaId("fields"), draws=(("default", UNBOUNDED),), **wrong)
    with pytest.raises(Refused) as refused:
        apply(state, events.QuotaCreated(spec), 0)
    assert (refused.value.field.partition(".")[0], refused.value.rule) == (setting.name, setting.rule)


def test_a_field_that_is_in_no_table_is_refused_at_every_edge(lab: Cli):
    with lab.serving.client() as client, pytest.raises(ApiError, match="never_heard_of"):
        client.quotas.update("fields", {"never_heard_of": 1})  # type: ignore[typeddict-unknown-key]
    file = lab.file("a.yaml", "quotas: [{id: fields, parent: company, min: {gpus: 1}, never_heard_of: 1}]")
    assert "unknown field never_heard_of" in lab.run("apply", "-y", "-f", file, status=2).stderr
    with pytest.raises(ScenarioError, match="never_heard_of is not a field here"):
        read_quota(Table("story", {"id": "fields", "parent": "company", "gpus": 1, "never_heard_of": 1}))


def test_a_field_that_no_update_may_change_is_refused_by_one(lab: Cli):
    for one in QUOTA_FIELDS:
        if one.changed is not Changed.UPDATE:
            with lab.serving.client() as client, pytest.raises(ApiError, match=one.name):
                client.quotas.update("fields", {one.name: "x"})  # type: ignore[misc]  # none of its keys


# -- jobs ----------------------------------------------------------------------------------------------------------


def job_asking(cli: Cli, **more: Any) -> Any:
    """A job on hold, as it is answered."""
    group = {"replicas": 2, "gpus": 1}
    body: Any = {"workspace": "vision", "quota": "vision", "groups": [group], "on_hold": True, **more}
    with cli.serving.client("ann") as client:
        return client.jobs.get(client.jobs.submit(body)["id"])


@pytest.mark.parametrize("one", JOB_SETTINGS, ids=by_name)
def test_what_a_job_asks_for_is_answered_stored_exported_and_said_so_in_a_story(cli: Cli, one: NounField):
    said, shown, _ = example(one)
    assert job_asking(cli)[one.name] == (None if one.optional else job_default(one)) != shown
    found = job_asking(cli, **{one.name: said})
    assert found[one.name] == shown
    with cli.serving.client() as client:
        exported, _ = read_snapshot_text(json.dumps(client.snapshot()))
    stored = cli.serving.store.load(CoreSettings()).snapshot
    kept = [job.spec for state in (stored, exported) for job in state.jobs if job.spec.id == found["id"]]
    table = Table("story", {"quota": "vision", "gpus": 1, "replicas": 2, one.name: said})
    (told,) = read_jobs(table, ["a"], 0)
    assert [one.of(spec) for spec in kept] == [one.of(told.spec)] * 2
    assert one.of(told.spec) != one.default


def job_default(one: NounField) -> Any:
    return {"module": "DLC", "idle": "never", "grace": "30s"}.get(one.name, one.default)


def test_a_field_of_a_job_that_is_in_no_table_is_refused(cli: Cli):
    with pytest.raises(ApiError, match="never_heard_of"):
        job_asking(cli, never_heard_of=1)
    with pytest.raises(ScenarioError, match="never_heard_of is not a field here"):
        read_jobs(Table("story", {"quota": "a", "gpus": 1, "never_heard_of": 1}), ["a"], 0)
