"""What resources say, in the words of files for `apply`."""

from __future__ import annotations

from importlib.resources import files

import yaml

from quotatree.kubernetes_edge import resources
from quotatree.manifest.reading import WORKSPACE_FIELDS, manifest_of
from tests.kubernetes_edge.declared import quota, root, workspace

MADE_BY_THE_NAME = {"id", "children"}


def schema(plural: str) -> dict:
    text = files("quotatree.kubernetes_edge").joinpath(f"crds/{plural}.yaml").read_text(encoding="utf-8")
    version = yaml.safe_load(text)["spec"]["versions"][0]
    return version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


def test_every_field_of_a_quota_can_be_declared_and_no_other():
    words = resources._QUOTA_WORDS
    assert set(schema("quotas")) == set(words) | {"mode"}


def test_every_field_of_a_workspace_can_be_declared_and_no_other():
    assert set(schema("workspaces")) == set(WORKSPACE_FIELDS) - MADE_BY_THE_NAME
    binding = schema("workspaces")["quotas"]["items"]["properties"]
    assert set(binding) == set(resources._CENTRE_WORDS) | {"name"}


def test_a_field_that_a_newer_schema_knows_is_not_dropped_in_silence():
    assert quota("a", parent="company", hue="blue").said["hue"] == "blue"


def test_quotas_come_after_their_parents_and_a_circle_ends():
    said = resources.document(
        [
            quota("a", parent="b"),
            quota("b", parent="z"),
            quota("z", draws={}),
            quota("x", parent="y"),
            quota("y", parent="x"),
        ]
    )
    order = [str(one["id"]) for one in said["quotas"]]
    assert [name for name in order if name in "abz"] == ["z", "b", "a"]
    assert sorted(order) == ["a", "b", "x", "y", "z"]


def test_a_workspace_says_members_and_rules_as_a_file_does():
    said = workspace(
        "vision",
        members=[{"user": "ann", "roles": ["owner", "developer"]}],
        quotas=[{"name": "a"}, {"name": "b", "modules": ["DLC"], "longestRun": "1h"}],
    )
    found = manifest_of({"x": resources.document([said])}).workspaces[0]
    assert found["members"] == {"ann": ["owner", "developer"]}
    assert found["quotas"] == {"a": None, "b": {"modules": ["DLC"], "longest_run": "1h"}}


def test_what_we_write_into_a_status_is_no_change_of_a_resource():
    raw = {"metadata": {"name": "a", "uid": "1", "generation": 3}, "spec": {"draws": {}}}
    assert resources.declared_quota(raw) == resources.declared_quota({**raw, "status": {"rule": "Q1"}})


def test_annotations_and_deletion_are_seen():
    one = root(
        meta={
            "annotations": {"quotatree.io/adopt": "true", "quotatree.io/on-delete": "keep"},
            "finalizers": ["quotatree.io/quotatree"],
            "deletionTimestamp": "2026-01-01T00:00:00Z",
        }
    )
    assert (one.adopt, one.keep_on_delete, one.kept, one.deleting) == (True, True, True, True)
