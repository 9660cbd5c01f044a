"""What may stand in a field of an apply file: what the API takes, and nothing ends in a traceback (E5)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from quotatree.api.models.nodes import NodeIn, PoolIn
from quotatree.api.models.quotas import QuotaIn
from quotatree.api.models.users import UserIn
from quotatree.api.models.workspaces import CentreIn, MemberIn, WorkspaceIn
from quotatree.core import Refused
from quotatree.manifest.checking import NODE, POOL, QUOTA, USER, WORKSPACE
from quotatree.manifest.errors import WrongManifest
from quotatree.manifest.quota_settings import DEFAULTS
from quotatree.manifest.reading import manifest_of
from quotatree.manifest.steps import Step, steps_to
from tests.profiles import by_profile

EXAMPLES = by_profile(quick=300, deep=3000, long=100_000)

VISION: dict[str, Any] = {
    "id": "vision",
    "parent": "company",
    "min": {"gpus": 8},
    "draws": {},
    **DEFAULTS,
    "self_level": [],
}
COMPANY = {**VISION, "id": "company", "parent": None, "draws": {"default": {"gpus": 16}}, "min": {"gpus": 16}}
BINDING = {
    "modules": ["DLC", "DSW", "EAS"], "roles": ["owner", "admin", "operator", "developer"],
    "amounts": [], "ceilings": [], "longest_run": None, "longest_wait": None,
}  # fmt: skip


class Noun:
    """A noun of a server that is asked and never told: steps are looked at, not made."""

    def __init__(self, *items: Any) -> None:
        self.items = items

    def list(self) -> tuple[Any, ...]:
        return self.items

    def names(self) -> dict[str, int]:
        return {"production": 8}

    def admins(self, _: str) -> tuple[str, ...]:
        return ("ann",)

    def centre(self, *_: str) -> Any:
        return BINDING

    def __getattr__(self, name: str) -> Any:
        return lambda *_: pytest.fail(f"{name} was called")


class Standing:
    """A server with a small tree."""

    priorities = Noun()
    pools = Noun({"name": "default"})
    nodes = Noun({"name": "node-0"})
    users = Noun({"name": "ann", "display": "", "email": "", "platform_admin": False})
    quotas = Noun(COMPANY, VISION)
    workspaces = Noun({"id": "team", "members": [], "quotas": ["vision"], "description": ""})


def steps(document: object) -> list[Step]:
    return steps_to(Standing(), manifest_of({"a.yaml": document}), "refuse")


def refused(document: object) -> str:
    with pytest.raises(WrongManifest) as wrong:
        steps(document)
    return str(wrong.value)


def quota(**fields: Any) -> dict[str, Any]:
    return {"quotas": [{"id": "vision", "parent": "company", "min": {"gpus": 8}, **fields}]}


# -- what a user wrote ---------------------------------------------------------------------------------------------

TABLE = "must be a table with some of gpus, cpu, memory"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"weight": 48}, f"a.yaml: quota vision: weight 48: {TABLE}, such as {{gpus: 48}}"),
        ({"weight": "48"}, f'weight "48": {TABLE}, such as {{gpus: 8}}'),
        ({"weight": [1]}, f"weight [1]: {TABLE}"),
        ({"weight": {"gpus": "x"}}, 'weight.gpus "x": must be a number of GPUs'),
        ({"reserved": -1}, f"reserved -1: {TABLE}"),
        ({"reserved": 99}, f"reserved 99: {TABLE}"),
        ({"reserved": "x"}, f'reserved "x": {TABLE}'),
        ({"min": 16}, f"min 16: {TABLE}, such as {{gpus: 16}}"),
        ({"min": [1]}, f"min [1]: {TABLE}"),
        ({"min": {"gpus": "1.5.2"}}, 'min.gpus "1.5.2": must be a number of GPUs'),
        ({"min": {"gpu": 1}}, "min.gpu 1: no such field; allowed: gpus, cpu, memory"),
        ({"admins": 5}, "admins 5: must be a list, such as [ann, ben]"),
        ({"admins": "ann"}, 'admins "ann": must be a list'),
        ({"admins": None}, "admins null: must be a list"),
        ({"min_runtime": 5}, "quota vision: min_runtime 5: must be a duration"),
        ({"strategy": "fastest"}, 'strategy "fastest": must be one of fifo, traverse'),
        ({"labels": {"a": 1}}, "labels.a 1: must be a text"),
        ({"lending": "yes"}, 'lending "yes": must be true or false'),
        ({"self_level": {"high": "urgent", "low": 1}}, 'quota vision: self_level.high "urgent": no such priority'),
        ({"child_level": "maybe"}, 'quota vision: child_level "maybe": must be on, off'),
        ({"draws": {"default": {"gpus": 1}}}, "draws: only a root draws from pools [Q1]"),
        ({"parent": None}, "quota vision: has no parent here, but it is below company"),
        ({"parent": "other"}, "quota vision: parent other, but it is below company"),
    ],
)  # fmt: skip
def test_a_wrong_field_of_a_quota_is_named_with_its_value_and_what_is_allowed(fields: Any, said: str):
    assert said in refused(quota(**fields))


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"quotas": [{"id": "company", "draws": 32}]}, "quota company: draws 32: must be a table"),
        ({"quotas": [{"id": "company", "draws": {"default": 32}}]}, f"draws.default 32: {TABLE}"),
        ({"quotas": [{"id": "new", "draws": {"default": 1}}]}, f"quota new: draws.default 1: {TABLE}"),
        ({"quotas": [{"id": "new", "parent": "company", "min": 1}]}, f"quota new: min 1: {TABLE}"),
        ({"quotas": [{"id": 7}]}, "quotas: id 7: must be a text; put it in quotes"),
        ({"quotas": False}, "quotas false: must be a list"),
        ({"quotas": [{"id": "vision", "children": 0}]}, "children of vision 0: must be a list"),
        ({"nodes": [{"name": "n", "gpus": "8"}]}, 'node n: gpus "8": must be a whole number, 0 to 64'),
        ({"users": [{"name": "a b"}]}, "user a b: name"),
        ({"pools": [{"name": "p", "mixed": 1}]}, "pool p: mixed 1: must be true or false"),
        ({"priorities": {"production": "8"}}, 'priorities.production "8": must be a priority, 1 to 9'),
    ],
)
def test_a_wrong_field_of_anything_else_is_named_too(document: Any, said: str):
    assert said in refused(document)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"quotas": {"vision": 5}}, "workspace team: quotas.vision 5: must be a table with some of modules"),
        ({"quotas": {"vision": {"amounts": 5}}}, "quotas.vision.amounts 5: must be a list"),
        ({"quotas": {"vision": {"amounts": [5]}}}, "amounts[0] 5: must be a table with some of who, priorities, gpus"),
        ({"quotas": {"vision": {"ceilings": {"a": 1}}}}, 'ceilings {"a": 1}: must be a list'),
        ({"quotas": {"vision": {"ceilings": [{"who": "x", "priority": 1}]}}}, 'ceilings[0].who "x": must be role:<role>'),
        ({"quotas": {"vision": {"ceilings": [{"who": "role:developer", "priority": "urgent"}]}}}, "no such priority"),
        ({"quotas": {"vision": {"ceilings": [{"who": "role:developer"}]}}}, "ceilings[0].priority null: is missing"),
        ({"quotas": {"vision": {"change": "x"}}}, "no such field; allowed: modules, roles, amounts, ceilings, longest_run"),
        ({"quotas": [["vision"]]}, "must be names"),
        ({"members": {"ann": 5}}, "members.ann[0] 5: must be one of owner"),
    ],
)  # fmt: skip
def test_a_wrong_scheduling_centre_is_named_too(said: Any, told: str):
    assert told in refused({"workspaces": [{"id": "team", **said}]})


# -- whatever stands there -----------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    [
        "", "on", "off", "ann", "vision", "company", "default", "6-9", "1-3", "production", "90s", "64Gi", "DLC", "lower",
        "owner", "user:ann", "role:developer", "fifo", "PaiStrategyBalance", "9" * 40, "1h" * 40, "a\n", "\x00",
    ]
)  # fmt: skip
FIELDS = st.sampled_from(
    [
        "gpus", "cpu", "memory", "high", "low", "any", "modules", "scope", "enabled", "priorities", "who", "priority", "DLC",
        "amounts", "ceilings", "roles", "longest_run", "longest_wait", "default", "vision", "ann", "id", "parent", "name",
        "PreemptedProducts", "PreemptedPriorities", "PreemptorPriorities", "PreemptedPriorityUpperBound",
    ]
)  # fmt: skip
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-2, 12)
    | st.integers(-(1 << 63) + 1, (1 << 63) - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS
    | st.text(max_size=5)
)
KEYS = FIELDS | st.text(max_size=3) | st.integers(0, 3) | st.none() | st.booleans()
ANYTHING = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
PAI = ["QueueStrategy", "SelfQuotaPreemptionConfig", "EnableSelfQuotaPreemption", "SubQuotaPreemptionConfig"]
PLACES = [
    *((("quotas", name), {"id": id_, "parent": parent}) for name in [*QUOTA, "self_level", "child_level", "children", *PAI]
      for id_, parent in (("vision", "company"), ("company", None), ("new", "company"), ("root", None))),
    *((("workspaces", name), {"id": id_}) for name in WORKSPACE for id_ in ("team", "new")),
    *((("nodes", name), {"name": "n"}) for name in [*NODE, "count"]),
    *((("pools", name), {"name": "p"}) for name in POOL),
    *((("users", name), {"name": id_}) for name in USER for id_ in ("ann", "new")),
]  # fmt: skip


def taken_or_refused(document: object) -> None:
    try:
        steps(document)
    except WrongManifest:
        return


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.sampled_from(PLACES), ANYTHING)
def test_any_value_in_any_field_is_taken_or_refused(place: Any, value: object):
    (section, field), beside = place
    taken_or_refused({section: [{**beside, field: value}]})


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.sampled_from(["modules", "roles", "amounts", "ceilings", "longest_run", "longest_wait"]), ANYTHING)
def test_any_value_in_a_scheduling_centre_is_taken_or_refused(field: str, value: object):
    taken_or_refused({"workspaces": [{"id": "team", "quotas": {"vision": {field: value}}}]})


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.sampled_from(["priorities", "pools", "nodes", "users", "quotas", "workspaces", "nonsense"]), ANYTHING
)
def test_anything_in_the_place_of_a_section_is_taken_or_refused(section: str, value: object):
    taken_or_refused({section: value})
    taken_or_refused({section: [value]})
    taken_or_refused(value)


# -- as the API ----------------------------------------------------------------------------------------------------

MODELS: list[tuple[type[BaseModel], str, str, dict[str, Any]]] = [
    *((QuotaIn, "quotas", name, {"id": "new", "parent": "company"}) for name in QUOTA if name not in ("admins", "parent", "draws")),
    (QuotaIn, "quotas", "draws", {"id": "new"}),
    (QuotaIn, "quotas", "self_level", {"id": "new", "parent": "company"}),
    (QuotaIn, "quotas", "child_level", {"id": "new", "parent": "company"}),
    *((NodeIn, "nodes", name, {"name": "n"}) for name in NODE),
    *((PoolIn, "pools", name, {"name": "p"}) for name in POOL),
    *((UserIn, "users", name, {"name": "new"}) for name in USER),
    *((WorkspaceIn, "workspaces", name, {"id": "new"}) for name in ("id", "description")),
]  # fmt: skip


def api_takes(model: type[BaseModel], body: dict[str, Any]) -> bool:
    try:
        read = model.model_validate(body)
        if isinstance(read, QuotaIn):
            read.spec()
        if isinstance(read, CentreIn):
            read.centre("w", "q")
    except (ValidationError, Refused):
        return False
    return True


def file_takes(document: object) -> bool:
    try:
        steps(document)
    except WrongManifest:
        return False
    return True


KINDLY = (
    st.dictionaries(st.sampled_from(["gpus", "cpu", "memory"]), st.integers(-1, 3) | st.sampled_from(["1Gi", "x"]), max_size=2)
    | st.lists(st.sampled_from(["DLC", "owner", 5]), max_size=3)
    | ANYTHING
)  # fmt: skip


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.sampled_from(MODELS), KINDLY)
def test_a_file_takes_of_a_field_what_the_api_takes(case: Any, value: object):
    model, section, field, beside = case
    text_keys = not isinstance(value, dict) or all(isinstance(key, str) for key in value)
    if text_keys and "production" not in str(value):  # a name of a priority, which is read before
        said = {**beside, field: value}
        assert file_takes({section: [said]}) == api_takes(model, said)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.sampled_from(["modules", "roles", "amounts", "ceilings", "longest_run", "longest_wait"]), KINDLY)
def test_a_file_takes_of_a_scheduling_centre_what_the_api_takes(field: str, value: object):
    if "production" not in str(value):
        file = {"workspaces": [{"id": "team", "quotas": {"vision": {field: value}}}]}
        assert file_takes(file) == api_takes(CentreIn, {field: value})


@given(ANYTHING)
def test_a_file_takes_the_roles_that_the_api_takes(role: object):
    file = {"workspaces": [{"id": "team", "members": {"ann": [role]}}]}
    assert file_takes(file) == api_takes(MemberIn, {"user": "ann", "role": role})
