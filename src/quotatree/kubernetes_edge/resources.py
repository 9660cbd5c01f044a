"""What does a `Quota` or a `Workspace` of a cluster say, in the words of files for `apply`? Pure; the schema has been checked.

Whatever the schema of a newer version allows and this one does not know is refused by the reader of those files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from quotatree.manifest.reading import QUOTA_FIELDS

GROUP: Final = "quotatree.io"
VERSION: Final = "v1alpha1"
FINALIZER: Final = f"{GROUP}/quotatree"
ADOPT: Final = f"{GROUP}/adopt"
ON_DELETE: Final = f"{GROUP}/on-delete"
QUOTA: Final = "quota"
WORKSPACE: Final = "workspace"


def resource_word(field: str) -> str:
    """Return what a field of a quota is called in a resource: minRuntime. `name` is a word of Kubernetes itself."""
    first, *rest = field.split("_")
    return "displayName" if field == "name" else first + "".join(word.capitalize() for word in rest)


_QUOTA_WORDS: Final = {
    resource_word(field): field for field in QUOTA_FIELDS if field not in ("id", "children")
}
_CENTRE_WORDS: Final = {
    "modules": "modules", "roles": "roles", "amounts": "amounts", "ceilings": "ceilings",
    "longestRun": "longest_run", "longestWait": "longest_wait",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Declared:
    """A resource as far as it matters here: what it says, and how it stands with us."""

    kind: str
    """`quota` or `workspace`."""
    name: str
    uid: str
    generation: int
    said: Mapping[str, Any]
    """The entry of a document for `apply`."""
    mode: str
    """How a quota shrinks below what it uses (Q5)."""
    deleting: bool
    kept: bool
    """Our finalizer is on it, so it is not gone before we have let it go."""
    adopt: bool
    """A root that takes over a tree of the API (E6)."""
    keep_on_delete: bool
    """When the resource goes, the quota stays and belongs to the API."""
    status: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """As it was when the resource was first seen: what we write there ourselves is no change."""

    @property
    def of(self) -> str:
        return f"{self.kind}/{self.name}"

    @property
    def owner(self) -> str:
        """Name of the resource as refusals and labels have it."""
        return f"{self.kind}s.{GROUP}/{self.name}"


def declared_quota(resource: Mapping[str, Any]) -> Declared:
    spec = resource.get("spec") or {}
    return _declared(
        QUOTA, resource, _quota_said(resource["metadata"]["name"], spec), spec.get("mode", "refuse")
    )


def declared_workspace(resource: Mapping[str, Any]) -> Declared:
    spec = resource.get("spec") or {}
    return _declared(WORKSPACE, resource, _workspace_said(resource["metadata"]["name"], spec), "refuse")


def document(resources: Sequence[Declared]) -> dict[str, list[Mapping[str, Any]]]:
    """All of them as one document for `apply`, parents before their children."""
    quotas = {one.name: one.said for one in resources if one.kind == QUOTA}
    ordered: dict[str, Mapping[str, Any]] = {}

    def put(name: str, below: frozenset[str]) -> None:
        parent = quotas[name].get("parent")
        if parent in quotas and parent not in ordered and parent not in below:
            put(parent, below | {name})
        ordered.setdefault(name, quotas[name])

    for name in sorted(quotas):
        put(name, frozenset())
    workspaces = sorted(
        (one.said for one in resources if one.kind == WORKSPACE), key=lambda said: str(said["id"])
    )
    return {"quotas": list(ordered.values()), "workspaces": workspaces}


def _declared(kind: str, resource: Mapping[str, Any], said: Mapping[str, Any], mode: str) -> Declared:
    meta = resource["metadata"]
    notes = meta.get("annotations") or {}
    return Declared(
        kind=kind,
        name=meta["name"],
        uid=meta["uid"],
        generation=int(meta.get("generation", 0)),
        said=said,
        mode=mode,
        deleting=meta.get("deletionTimestamp") is not None,
        kept=FINALIZER in (meta.get("finalizers") or ()),
        adopt=notes.get(ADOPT) == "true",
        keep_on_delete=notes.get(ON_DELETE) == "keep",
        status=resource.get("status") or {},
    )


def _quota_said(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    said = {_QUOTA_WORDS.get(key, key): value for key, value in spec.items() if key != "mode"}
    return {"id": name, **said}


def _workspace_said(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    read: dict[str, Callable[[Any], Any]] = {
        "members": lambda members: {one["user"]: list(one["roles"]) for one in members},
        "quotas": lambda quotas: {one["name"]: _centre(one) for one in quotas},
    }
    return {"id": name, **{key: read[key](value) if key in read else value for key, value in spec.items()}}


def _centre(binding: Mapping[str, Any]) -> dict[str, Any] | None:
    """The scheduling centre that a binding says; None if it names the quota and nothing more, and so leaves it as it is."""
    said = {_CENTRE_WORDS.get(key, key): value for key, value in binding.items() if key != "name"}
    return said or None
