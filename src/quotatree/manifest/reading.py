"""What does a document for `apply` say? Names of priorities, pools, nodes, users, quotas as a tree, workspaces; checked as far as it goes without a server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from quotatree.core import PAI_FIELDS
from quotatree.core import QUOTA_FIELDS as QUOTA_TABLE
from quotatree.manifest.errors import WrongManifest
from quotatree.manifest.shapes import shown

KEYS: Final = {"pools": "name", "nodes": "name", "users": "name", "quotas": "id", "workspaces": "id"}
"""Sections, with the field by which one of their entries is known."""
SECTIONS: Final = tuple(KEYS)
ALL_SECTIONS: Final = ("priorities", *SECTIONS)
NODE_FIELDS: Final = ("name", "count", "pool", "model", "gpus", "cpu", "memory", "labels")
POOL_FIELDS: Final = ("name", "mixed")
USER_FIELDS: Final = ("name", "display", "email", "platform_admin")
QUOTA_FIELDS: Final = (*(one.name for one in QUOTA_TABLE), "admins", "children")
WORKSPACE_FIELDS: Final = ("id", "description", "members", "quotas")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the files ask for. Each quota has its `parent` and comes after it; each node is an entry of its own."""

    pools: tuple[dict[str, Any], ...]
    nodes: tuple[dict[str, Any], ...]
    users: tuple[dict[str, Any], ...]
    quotas: tuple[dict[str, Any], ...]
    workspaces: tuple[dict[str, Any], ...]
    priorities: dict[str, Any]
    """Names of priorities with their numbers (W6)."""
    said_in: Mapping[str, str]
    """The document that says it, by what it is: quota vision, node a-1."""

    def place(self, what: str) -> str:
        """Where it is said, for messages: tree.yaml: quota vision."""
        return f"{self.said_in[what]}: {what}"


def manifest_of(documents: Mapping[str, object]) -> Manifest:
    """Read several documents as one. Raises WrongManifest, which names the document and the place in it."""
    found: dict[str, list[dict[str, Any]]] = {section: [] for section in SECTIONS}
    priorities: dict[str, Any] = {}
    said_in: dict[str, str] = {}
    for name, document in documents.items():
        before = {section: len(found[section]) for section in SECTIONS}
        try:
            _add(found, priorities, document)
        except WrongManifest as error:
            raise WrongManifest(f"{name}: {error}") from None
        for section, key in KEYS.items():
            for one in found[section][before[section] :]:
                said_in[f"{section[:-1]} {one[key]}"] = name
    for section, key in KEYS.items():
        twice = sorted(
            name for name, count in Counter(one[key] for one in found[section]).items() if count > 1
        )
        if twice:
            raise WrongManifest(f"{section}: {', '.join(twice)} is said twice")
    return Manifest(
        **{section: tuple(found[section]) for section in SECTIONS}, priorities=priorities, said_in=said_in
    )


def _add(found: dict[str, list[dict[str, Any]]], names: dict[str, Any], data: object) -> None:
    whole = _table("the file", data, ALL_SECTIONS)
    for name, number in _priorities(whole).items():
        if names.setdefault(name, number) != number:
            raise WrongManifest(f"priorities: {name} is said twice")
    for pool in _tables("pools", whole):
        found["pools"].append(_table("pools", pool, POOL_FIELDS, "name"))
    for node in _tables("nodes", whole):
        found["nodes"] += _nodes(_table("nodes", node, NODE_FIELDS, "name"))
    for user in _tables("users", whole):
        plain = {"name": user} if isinstance(user, str) else user
        found["users"].append(_table("users", plain, USER_FIELDS, "name"))
    for quota in _tables("quotas", whole):
        found["quotas"] += _subtree(quota, None)
    for workspace in _tables("workspaces", whole):
        found["workspaces"].append(_workspace(_table("workspaces", workspace, WORKSPACE_FIELDS, "id")))


def _priorities(whole: dict[str, Any]) -> dict[str, Any]:
    value = whole.get("priorities")
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise WrongManifest("priorities must be a table of names and numbers, such as production: 8")
    return value


def _tables(section: str, whole: dict[str, Any]) -> list[Any]:
    return _list(section, whole.get(section))


def _list(where: str, value: object) -> list[Any]:
    """The value, if it is a list; nothing at all is an empty one."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise WrongManifest(f"{where} {shown(value)}: must be a list")
    return value


def _table(
    where: str, value: object, fields: tuple[str, ...], key: str | None = None, also: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The value, if it is a table of these fields. `also`: fields that are allowed and not told of."""
    if not isinstance(value, dict):
        raise WrongManifest(f"{where}: {shown(value)} must be a table with some of {', '.join(fields)}")
    unknown = [str(name) for name in value if name not in fields and name not in also]
    if unknown:
        raise WrongManifest(f"{where}: unknown field {unknown[0]}; allowed: {', '.join(fields)}")
    if key is not None and not isinstance(value.get(key), str):
        wrong = (
            f"{key} {shown(value[key])}: must be a text; put it in quotes"
            if key in value
            else f"{key} is missing"
        )
        raise WrongManifest(f"{where}: {wrong}")
    return value


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The nodes that an entry stands for: with `count: 16`, name-0 to name-15."""
    count = node.get("count")
    rest = {name: value for name, value in node.items() if name != "count"}
    if count is None:
        yield rest
        return
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= 10_000:
        raise WrongManifest(f"nodes: count of {node['name']} {shown(count)}: must be 1 to 10000")
    for number in range(count):
        yield {**rest, "name": f"{node['name']}-{number}"}


def _subtree(value: object, parent: str | None) -> Iterator[dict[str, Any]]:
    where = "quotas" if parent is None else f"children of {parent}"
    quota = _table(where, value, QUOTA_FIELDS, "id", PAI_FIELDS)
    if parent is not None and quota.get("parent", parent) != parent:
        raise WrongManifest(f"{quota['id']}: stands below {parent}, and says parent {shown(quota['parent'])}")
    above = parent if parent is not None else quota.get("parent")
    yield {**{name: one for name, one in quota.items() if name != "children"}, "parent": above}
    for child in _list(f"children of {quota['id']}", quota.get("children")):
        yield from _subtree(child, quota["id"])


def _workspace(workspace: dict[str, Any]) -> dict[str, Any]:
    """The workspace with its members as {user: roles} and its quotas as {name: scheduling centre or None}.

    The file has members as {user: role or roles}, and quotas as a list of names or {name: centre}.
    """
    said = dict(workspace)
    if "members" in said:
        members = said["members"]
        if not isinstance(members, dict):
            raise WrongManifest(
                f"members of {said['id']} {shown(members)}: must be a table of users and roles, such as ann: developer"
            )
        said["members"] = {
            user: roles if isinstance(roles, list) else [roles] for user, roles in members.items()
        }
    if "quotas" in said:
        quotas = said["quotas"]
        if isinstance(quotas, list) and all(isinstance(one, str) for one in quotas):
            quotas = dict.fromkeys(quotas)
        if not isinstance(quotas, dict):
            raise WrongManifest(
                f"quotas of {said['id']} {shown(quotas)}: must be names, or a table of names and scheduling centres"
            )
        said["quotas"] = quotas
    return said
