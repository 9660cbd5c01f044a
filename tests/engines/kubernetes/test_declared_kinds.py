"""Kinds that an installation describes in its settings: read, and refused with what is wrong (E7)."""

from __future__ import annotations

from typing import Any

import pytest

from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted import KNOWN, Part, sorts_of
from quotatree.engines.kubernetes.declared_kinds import WrongKind, declared_kinds
from quotatree.engines.kubernetes.kinds import Kind

WIDGET: dict[str, Any] = {
    "version": "v1",
    "kind": "Widget",
    "suspend": "spec.run.suspend",
    "pods": [{"at": "spec.groups.*", "replicas": ["replicas", "slices"], "at_most": "needed"}],
}


def kinds(**changes: Any) -> dict[str, Any]:
    return {"widgets.example.org": {**WIDGET, **changes}}


def test_a_kind_is_described_by_where_its_fields_stand():
    (found,) = declared_kinds(kinds(succeeded=["Done"], phase="status.phase"))
    assert found.kind == Kind("example.org/v1", "widgets", "Widget")
    assert found.name == "widgets.example.org"
    assert found.parts == (Part("spec.groups.*", "template", ("replicas", "slices"), "needed"),)
    assert (found.succeeded, found.failed, found.phase) == (("Done",), ("Failed",), "status.phase")
    template: dict[str, Any] = {"spec": {"containers": []}}
    groups = [{"replicas": 3, "slices": 2, "needed": 2, "template": template}, {"template": template}]
    thing = {
        "metadata": {"uid": "u"},
        "spec": {"run": {"suspend": True}, "groups": groups},
        "status": {"phase": "Done"},
    }
    assert [one.pods for one in adopted.templates(found, thing)] == [4, 1]
    assert adopted.is_suspended(found, thing)
    assert adopted.ending(found, thing) == (True, "")


def test_it_is_adopted_beside_the_known_ones_and_goes_before_one_of_its_name():
    (widget,) = declared_kinds(kinds())
    (job,) = declared_kinds({"jobs.batch": {**WIDGET, "kind": "Job"}})
    assert sorts_of(["jobs.batch"], [widget]) == (KNOWN["jobs.batch"], widget)
    assert sorts_of(["jobs.batch"], [job]) == (job,)
    with pytest.raises(KeyError):
        sorts_of(["gadgets.example.org"], [widget])


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (["widgets"], "must be a table with a table for each kind"),
        ({"Widget": WIDGET}, "Widget: must be PLURAL.GROUP"),
        ({"widgets.example.org": "v1"}, "widgets.example.org: must be a table with version, kind"),
        (kinds(replicas="x"), "widgets.example.org.replicas: not known; there are version"),
        ({"widgets.example.org": {"version": "v1"}}, "widgets.example.org.kind: missing"),
        (kinds(version="1"), "version: must be such as v1"),
        (kinds(kind="widget"), "kind: must be its name in manifests"),
        (kinds(suspend="spec.*.suspend"), "suspend: must be the path of a field"),
        (kinds(pods=[]), "pods: must be a list of tables"),
        (kinds(pods=[{"template": "t"}]), "pods[0].at: missing"),
        (kinds(pods=[{"at": "*.x"}]), "pods[0].at: must be a path"),
        (kinds(pods=[{"at": "spec", "replicas": 3}]), "pods[0].replicas: must be a path below"),
        (kinds(pods=[{"at": "spec", "count": "n"}]), "pods[0].count: not known; there are at"),
        (kinds(failed="Failed"), "failed: must be a list of words"),
        (kinds(phase=""), "phase: must be a path"),
    ],
)
def test_what_is_wrong_is_named(value: object, says: str):
    with pytest.raises(WrongKind) as wrong:
        declared_kinds(value)
    assert says in str(wrong.value)
