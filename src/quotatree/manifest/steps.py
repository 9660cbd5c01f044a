"""Which steps lead from what is there to what a file says, and in which order do they all work?

Names of priorities, pools and nodes come first, then users, quotas, workspaces. Of quotas, what shrinks goes first and from the leaves up,
what grows or is new comes after and from the roots down: so there is room for every step when it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from quotatree.core import QUOTA_SETTINGS, NounField
from quotatree.manifest.amounts import amount, mib, milliseconds, plain
from quotatree.manifest.checking import check
from quotatree.manifest.errors import WrongManifest
from quotatree.manifest.in_numbers import in_numbers
from quotatree.manifest.quota_settings import DEFAULTS, POLICIES, is_changed
from quotatree.manifest.reading import Manifest
from quotatree.manifest.target import Target, Tenancy

ALL_MODULES: Final = ["DLC", "DSW", "EAS"]
CENTRE: Final[Mapping[str, Any]] = {
    "modules": ALL_MODULES,
    "roles": ["owner", "admin", "operator", "developer"],
    "amounts": [],
    "ceilings": [],
    "longest_run": None,
    "longest_wait": None,
}


@dataclass(frozen=True, slots=True)
class Step:
    """One change. `line` tells it and begins with + for new, ~ for changed, - for gone. `preview`: the change as the
    server previews it; None if it cannot. `of`: what it is a change of, such as quota/lab; "" if it is of no quota or workspace.
    """

    line: str
    do: Callable[[], object]
    preview: Any = None
    of: str = ""


def steps_to(client: Target, wanted: Manifest, mode: str) -> list[Step]:
    """The steps to everything that is said. Raises WrongManifest if it cannot be read."""
    names = client.priorities.names()
    wanted = in_numbers(wanted, {**names, **wanted.priorities})
    check(wanted)
    return [
        *_priorities(client, wanted, names),
        *_pools(client, wanted),
        *_nodes(client, wanted),
        *_users(client, wanted),
        *_quotas(client, wanted, dict.fromkeys((quota["id"] for quota in wanted.quotas), mode)),
        *_workspaces(client, wanted),
    ]


def tenancy_steps(client: Tenancy, wanted: Manifest, modes: Mapping[str, str]) -> list[Step]:
    """The steps to the quotas and workspaces that are said, and nothing else. Raises WrongManifest likewise.

    `modes`: how a quota shrinks below what it uses, by its id (Q5); without one it refuses.
    """
    wanted = in_numbers(wanted, client.priorities.names())
    check(wanted)
    return [*_quotas(client, wanted, modes), *_workspaces(client, wanted)]


def _priorities(client: Target, wanted: Manifest, there: dict[str, int]) -> Iterator[Step]:
    """A step that adds and changes names of priorities; those that the file does not have stay."""
    change = {name: number for name, number in wanted.priorities.items() if there.get(name) != number}
    if change:
        told = ", ".join(f"{name} {there.get(name, 'none')} -> {number}" for name, number in change.items())
        yield Step(f"~ priorities: {told}", _bound(client.priorities.set_names, {**there, **change}))


def _pools(client: Target, wanted: Manifest) -> Iterator[Step]:
    there = {pool["name"] for pool in client.pools.list()} if wanted.pools else set()
    for pool in wanted.pools:
        if pool["name"] not in there:
            yield Step(f"+ pool {pool['name']}", _bound(client.pools.declare, pool))


def _nodes(client: Target, wanted: Manifest) -> Iterator[Step]:
    """Steps that let missing nodes join. A node that is there stays as it joined: a file cannot change its hardware."""
    there = {node["name"] for node in client.nodes.list()} if wanted.nodes else set()
    for node in wanted.nodes:
        if node["name"] not in there:
            told = f"+ node {node['name']}: {node.get('gpus', 8)} x {node.get('model', 'GPU')} in {node.get('pool', 'default')}"
            yield Step(told, _bound(client.nodes.join, node), {"change": "join-node", "node": node})


def _users(client: Target, wanted: Manifest) -> Iterator[Step]:
    there = {user["name"]: user for user in client.users.list()} if wanted.users else {}
    for user in wanted.users:
        now: Any = there.get(user["name"])
        if now is None:
            yield Step(f"+ user {user['name']}", _bound(client.users.create, user))
            continue
        change = {key: value for key, value in user.items() if now[key] != value}
        if change:
            yield Step(
                _changed("user", user["name"], now, change), _bound(client.users.update, user["name"], change)
            )


# -- quotas --------------------------------------------------------------------------------------------------------


def _quotas(client: Tenancy, wanted: Manifest, modes: Mapping[str, str]) -> list[Step]:
    there: dict[str, Any] = {quota["id"]: quota for quota in client.quotas.list()} if wanted.quotas else {}
    shrinking: list[Step] = []
    growing: list[Step] = []
    for quota in wanted.quotas:
        now = there.get(quota["id"])
        if now is None:
            growing += _of("quota", quota["id"], [_created(client, quota)])
        else:
            if now["parent"] != quota["parent"]:
                raise WrongManifest(
                    _other_parent(wanted.place(f"quota {quota['id']}"), quota["parent"], now["parent"])
                )
            down, up = _scaled(client, now, quota, modes.get(quota["id"], "refuse"))
            shrinking += _of("quota", quota["id"], down)
            growing += _of("quota", quota["id"], [*up, *_updated(client, now, quota)])
        growing += _of("quota", quota["id"], _admins(client, quota, now is not None))
    return [*reversed(shrinking), *growing]


def _of(kind: str, name: str, steps: Iterable[Step]) -> list[Step]:
    return [replace(step, of=f"{kind}/{name}") for step in steps]


def _other_parent(where: str, said: str | None, there: str | None) -> str:
    told = f"parent {said}" if said is not None else "has no parent here"
    fixed = f"it is below {there}" if there is not None else "it is a root"
    return f"{where}: {told}, but {fixed}, and that is fixed after creation [Q1]"


def _created(client: Tenancy, quota: dict[str, Any]) -> Step:
    body = {key: value for key, value in quota.items() if value is not None and key != "admins"}
    size = _size(quota)
    above = f" below {quota['parent']}" if quota.get("parent") else ""
    policies = [
        f"{key} {_shown(body[key], key)}" for key in ("strategy", "self_level", "child_level") if key in body
    ]
    told = "; ".join([f"+ quota {quota['id']}{above}: {_sizes(size) or 'no min'}", *policies])
    return Step(told, _bound(client.quotas.create, body), {"change": "create-quota", "quota": body})


def _scaled(client: Tenancy, now: Any, quota: dict[str, Any], mode: str) -> tuple[list[Step], list[Step]]:
    """Steps that make the quota smaller, and steps that make it larger: both, if one amount falls and another grows."""
    key = "min" if now["parent"] is not None else "draws"
    before = {"": now["min"]} if key == "min" else now["draws"]
    after = _size(quota)
    if _same_sizes(before, after):
        return [], []
    low = {pool: _lower(before.get(pool, {}), size) for pool, size in after.items()} if key == "draws" else {
        "": _lower(before[""], after.get("", {}))
    }  # fmt: skip
    down = [] if _same_sizes(before, low) else [_scale(client, now["id"], key, before, low, mode)]
    up = [] if _same_sizes(low, after) else [_scale(client, now["id"], key, low, after, mode)]
    return down, up


def _scale(client: Tenancy, name: str, key: str, before: Any, after: Any, mode: str) -> Step:
    body = {key: after[""] if key == "min" else after, "mode": mode}
    told = f"~ quota {name}: {_sizes(before) or 'no min'} -> {_sizes(after) or 'no min'}"
    return Step(told, _bound(client.quotas.scale, name, body), {"change": "scale", "quota": name, **body})


def _size(quota: dict[str, Any]) -> dict[str, Any]:
    """The size that the file gives a quota, by pool; of a child, which draws from no pool, under the name ""."""
    return quota.get("draws") or {} if quota.get("parent") is None else {"": quota.get("min") or {}}


def _sizes(sizes: Mapping[str, Any]) -> str:
    return ", ".join(amount(size) + (f" of {pool}" if pool else "") for pool, size in sizes.items())


def _same_sizes(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return {k: plain(v) for k, v in one.items()} == {k: plain(v) for k, v in other.items()}


def _lower(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The lower of both amounts for each resource. A resource that one does not name is unbounded there: the other counts."""
    found: dict[str, Any] = {}
    for key in ("gpus", "cpu", "memory"):
        said = [size[key] for size in (before, after) if size.get(key) is not None]
        if said:
            found[key] = min(said, key=lambda value: mib(value) if key == "memory" else float(value))
    return found


def _updated(client: Tenancy, now: Any, quota: dict[str, Any]) -> Iterator[Step]:
    change: dict[str, Any] = {}
    for one in QUOTA_SETTINGS:
        value = _declared(one, quota.get(one.name, DEFAULTS[one.name]), now[one.name])
        if is_changed(one, value, now[one.name]):
            change[one.name] = value
    if change:
        yield Step(
            _changed("quota", now["id"], now, change),
            _bound(client.quotas.update, now["id"], change),
            {"change": "update-quota", "quota": now["id"], "to": change},
        )


def _declared(setting: NounField, value: Any, before: Any) -> Any:
    """The value of a field. A file says the whole quota, so settings without a switch are on, also where the policy there is off."""
    if setting.kind not in POLICIES or not _is_off(before):
        return value
    if isinstance(value, list):
        return [_declared(setting, one, before) for one in value]
    return {**value, "enabled": value.get("enabled", True)} if isinstance(value, dict) else value


def _is_off(policies: Any) -> bool:
    there = policies if isinstance(policies, list) else [policies]
    return any(one is not None and not one["enabled"] for one in there)


def _admins(client: Tenancy, quota: dict[str, Any], known: bool) -> Iterator[Step]:
    if "admins" not in quota:
        return
    name, wanted = quota["id"], quota["admins"]
    there = client.quotas.admins(name) if known else ()
    for user in wanted:
        if user not in there:
            yield Step(f"+ quota admin {user} of {name}", _bound(client.quotas.appoint, name, user))
    for user in there:
        if user not in wanted:
            yield Step(f"- quota admin {user} of {name}", _bound(client.quotas.dismiss, name, user))


# -- workspaces ----------------------------------------------------------------------------------------------------


def _workspaces(client: Tenancy, wanted: Manifest) -> Iterator[Step]:
    there: dict[str, Any] = {one["id"]: one for one in client.workspaces.list()} if wanted.workspaces else {}
    for workspace in wanted.workspaces:
        name = workspace["id"]
        yield from _of("workspace", name, _workspace(client, workspace, there.get(name)))


def _workspace(client: Tenancy, workspace: dict[str, Any], now: Any) -> Iterator[Step]:
    name = workspace["id"]
    if now is None:
        body = {"id": name, "description": workspace.get("description", "")}
        yield Step(f"+ workspace {name}", _bound(client.workspaces.create, body))
        now = {"members": [], "quotas": [], "description": body["description"]}
    elif workspace.get("description", "") != now["description"]:
        text = workspace.get("description", "")
        yield Step(f"~ workspace {name}: description", _bound(client.workspaces.describe, name, text))
    if "members" in workspace:
        wanted = {(user, role) for user, roles in workspace["members"].items() for role in roles}
        yield from _members(client, name, now, wanted)
    if "quotas" in workspace:
        yield from _bindings(client, name, now, workspace["quotas"])


def _members(client: Tenancy, name: str, now: Any, wanted: set[tuple[str, str]]) -> Iterator[Step]:
    """Steps that add and remove members of a workspace: additions first, so that there is always an owner."""
    there = {(one["user"], one["role"]) for one in now["members"]}
    for user, role in sorted(wanted - there):
        yield Step(
            f"+ member {user} of {name}: {role}", _bound(client.workspaces.add_member, name, user, role)
        )
    for user, role in sorted(there - wanted):
        yield Step(
            f"- member {user} of {name}: {role}", _bound(client.workspaces.remove_member, name, user, role)
        )


def _bindings(client: Tenancy, name: str, now: Any, wanted: dict[str, Any]) -> Iterator[Step]:
    for quota, centre in wanted.items():
        bound = quota in now["quotas"]
        if not bound:
            yield Step(f"+ quota {quota} for workspace {name}", _bound(client.workspaces.bind, name, quota))
        if centre is None:
            continue
        before: Any = client.workspaces.centre(name, quota) if bound else {**CENTRE, "version": 0}
        body = {**CENTRE, **centre}
        change = {k: v for k, v in body.items() if _canonical(k, v) != _canonical(k, before.get(k))}
        if change:
            told = _changed("scheduling centre", f"{name} in {quota}", before, change)
            seen = {**body, "change": "centre", "workspace": name, "quota": quota} if bound else None
            yield Step(told, _bound(client.workspaces.set_centre, name, quota, body), seen)
    for quota in now["quotas"]:
        if quota not in wanted:
            yield Step(f"- quota {quota} for workspace {name}", _bound(client.workspaces.unbind, name, quota))


# -- comparing and telling -----------------------------------------------------------------------------------------


def _canonical(key: str, value: Any) -> Any:
    """A field of a centre in one spelling, for comparing: 5 and "5", "90s" and "1m30s", modules in any order, defaults written out."""
    if key in ("longest_run", "longest_wait") and isinstance(value, Mapping):
        return {module: milliseconds(time) for module, time in sorted(value.items())}
    if key in ("longest_run", "longest_wait"):
        return None if value is None else milliseconds(value)
    if key in ("modules", "roles"):
        return sorted(value)
    if key in ("high", "low", "priorities"):
        text = str(value)
        return text if "-" in text else f"{text}-{text}"
    if key in ("amounts", "ceilings"):
        return [{name: _canonical(name, one) for name, one in entry.items()} for entry in value]
    return value


def _changed(kind: str, name: str, before: Any, change: Mapping[str, Any]) -> str:
    told = [f"{key} {_shown(before.get(key))} -> {_shown(value, key)}" for key, value in change.items()]
    return f"~ {kind} {name}: {'; '.join(told)}"


def _shown(value: Any, key: str = "") -> str:
    if key in ("self_level", "child_level") and (value == {} or isinstance(value, bool)):
        return "off" if value is False else "on"
    if value is None or value in ("", {}, []):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "(" + ", ".join(f"{key} {_shown(one)}" for key, one in value.items()) + ")"
    if isinstance(value, list):
        return ",".join(_shown(one) for one in value)
    return str(value)


def _bound(do: Callable[..., object], *arguments: Any) -> Callable[[], object]:
    return lambda: do(*arguments)
