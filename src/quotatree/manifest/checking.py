"""Is every field of a manifest what the API takes? Asked before the first step is made, with the names of priorities read (W6, E5).

The client has none of the server's models, so the fields stand here once more. They are read by the same readers, and
`tests/manifest/test_checking.py` holds that both take and refuse the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from quotatree.access.centre import check_who
from quotatree.access.roles import SUBMITTING_ROLES, WORKSPACE_ROLES
from quotatree.core import Module, Refused, read_child_level, read_self_level
from quotatree.manifest import quota_settings
from quotatree.manifest import shapes as shape
from quotatree.manifest.errors import WrongManifest
from quotatree.manifest.reading import Manifest
from quotatree.manifest.shapes import Check, Wrong


def _who(value: Any) -> None:
    if not isinstance(value, str):
        raise Wrong("", value, "must be role:<role> or user:<name>")
    shape.read_by(lambda said: check_who("who", said))(value)


def _times(value: Any) -> None:
    if isinstance(value, dict):
        _TIMES_OF_MODULES(value)
    else:
        shape.duration(value)


_MODULE: Final = shape.one_of(*(module.value for module in Module))
_TIMES_OF_MODULES: Final = shape.table_of(_MODULE, shape.duration, "{DLC: 2d}", least=1)

POOL: Final[Mapping[str, Check]] = {"name": shape.name, "mixed": shape.flag}
NODE: Final[Mapping[str, Check]] = {
    "name": shape.name,
    "pool": shape.name,
    "model": shape.text(253, 1),
    "gpus": shape.whole(0, 64),
    "cpu": shape.cpu,
    "memory": shape.memory,
    "labels": shape.labels,
}
USER: Final[Mapping[str, Check]] = {
    "name": shape.name,
    "display": shape.text(253),
    "email": shape.text(253),
    "platform_admin": shape.flag,
}
QUOTA: Final[Mapping[str, Check]] = {
    "id": shape.name,
    "parent": shape.or_none(shape.name),
    "min": shape.or_none(shape.amounts),
    "draws": shape.table_of(shape.name, shape.amounts, "{default: {gpus: 8}}", most=100),
    **quota_settings.checks(),
    "admins": shape.list_of(shape.name, "[ann, ben]"),
}
CENTRE: Final = shape.table(
    {
        "modules": shape.list_of(_MODULE, "[DLC, DSW]", 1, 3),
        "roles": shape.list_of(
            shape.one_of(*(role.value for role in SUBMITTING_ROLES)), "[owner, developer]", 1, 4
        ),
        "amounts": shape.list_of(
            shape.table({"who": _who, "priorities": shape.priorities, "gpus": shape.gpus}, ("who", "priorities", "gpus")),
            '[{who: "user:ann", priorities: 4-9, gpus: 16}]',
            most=200,
        ),
        "ceilings": shape.list_of(
            shape.table({"who": _who, "priority": shape.priority}, ("who", "priority")),
            '[{who: "role:developer", priority: 5}]',
            most=200,
        ),
        "longest_run": shape.or_none(_times),
        "longest_wait": shape.or_none(_times),
    }
)  # fmt: skip
WORKSPACE: Final[Mapping[str, Check]] = {
    "id": shape.name,
    "description": shape.text(1000),
    "members": shape.table_of(
        shape.name, shape.list_of(shape.one_of(*(role.value for role in WORKSPACE_ROLES)), "[owner]"), "{ann: developer}"
    ),
    "quotas": shape.table_of(shape.name, shape.or_none(CENTRE), "{vision: {modules: [DLC]}}"),
}  # fmt: skip


def check(wanted: Manifest) -> None:
    """Raise WrongManifest for the first field that is not what it must be: file, object, field, value, what is allowed."""
    for kind, said, key, fields in (
        ("pool", wanted.pools, "name", POOL),
        ("node", wanted.nodes, "name", NODE),
        ("user", wanted.users, "name", USER),
        ("quota", wanted.quotas, "id", QUOTA),
        ("workspace", wanted.workspaces, "id", WORKSPACE),
    ):
        for one in said:
            what = f"{kind} {one[key]}"
            _check_fields(wanted.place(what), one, fields)
            if kind == "quota":
                _check_quota(wanted.place(what), one)


def _check_quota(where: str, quota: Mapping[str, Any]) -> None:
    """Raise WrongManifest for policies that cannot be read (P1, P2), and for draws of a quota that has a parent (Q1)."""
    if quota.get("parent") is not None and quota.get("draws"):
        raise WrongManifest(f"{where}: draws: only a root draws from pools [Q1]")
    try:
        read_self_level(quota.get("self_level"))
        read_child_level(quota.get("child_level"))
    except Refused as refused:
        raise WrongManifest(
            f"{where}: {refused.field} {shape.shown(refused.value)}: {refused.message} [{refused.rule}]"
        ) from None


def _check_fields(where: str, said: Mapping[str, Any], fields: Mapping[str, Check]) -> None:
    for field, value in said.items():
        if field not in fields:
            continue
        try:
            fields[field](value)
        except Wrong as wrong:
            raise WrongManifest(
                f"{where}: {field}{wrong.place} {shape.shown(wrong.value)}: {wrong.allowed}"
            ) from None
