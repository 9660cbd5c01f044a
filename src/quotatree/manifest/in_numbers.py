"""What does a file say with numbers where names of priorities stand (W6)?

A file may declare names and use them at once, and what is there has numbers: so names are read here, before anything is
compared or sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from quotatree.core import Refused, check_names, policies_in_numbers
from quotatree.core import in_numbers as read
from quotatree.manifest.errors import WrongManifest
from quotatree.manifest.reading import Manifest


def in_numbers(wanted: Manifest, names: Mapping[str, int]) -> Manifest:
    """The manifest with numbers for names. Raises WrongManifest for an unknown name, with the names there are."""
    try:
        check_names(wanted.priorities)
        return replace(
            wanted,
            quotas=tuple(_quota(quota, names) for quota in wanted.quotas),
            workspaces=tuple(_workspace(workspace, names) for workspace in wanted.workspaces),
        )
    except Refused as refused:
        raise WrongManifest(str(refused)) from None


def _quota(quota: dict[str, Any], names: Mapping[str, int]) -> dict[str, Any]:
    found: dict[str, Any] = {
        key: policies_in_numbers(f"{quota['id']}.{key}", quota[key], names)
        for key in ("self_level", "child_level")
        if key in quota
    }
    return {**quota, **found}


def _workspace(workspace: dict[str, Any], names: Mapping[str, int]) -> dict[str, Any]:
    quotas = workspace.get("quotas")
    if quotas is None:
        return workspace
    return {**workspace, "quotas": {quota: _centre(centre, names) for quota, centre in quotas.items()}}


def _centre(centre: Any, names: Mapping[str, int]) -> Any:
    if not isinstance(centre, dict):
        return centre
    found = dict(centre)
    for key, field in (("amounts", "priorities"), ("ceilings", "priority")):
        if isinstance(centre.get(key), list):
            found[key] = [_numbered(one, field, names) for one in centre[key]]
    return found


def _numbered(entry: Any, field: str, names: Mapping[str, int]) -> Any:
    if not isinstance(entry, dict) or field not in entry:
        return entry
    return {**entry, field: read(field, entry[field], names)}
