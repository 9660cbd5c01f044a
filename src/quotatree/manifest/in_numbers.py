"""What does a file say with numbers where names of priorities stand (W6), and in our words where PAI's do (S7)?

A file may declare names and use them at once, and what is there has numbers: so names are read here, before anything is
compared or sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from quotatree.core import PAI_FIELDS, Refused, check_names, in_our_words, policies_in_numbers
from quotatree.core import in_numbers as read
from quotatree.manifest.errors import WrongManifest
from quotatree.manifest.reading import Manifest
from quotatree.manifest.shapes import shown

POLICIES: Final = ("self_level", "child_level", *PAI_FIELDS)


def in_numbers(wanted: Manifest, names: Mapping[str, int]) -> Manifest:
    """The manifest with numbers for names. Raises WrongManifest for an unknown name, with the names there are."""
    try:
        check_names(wanted.priorities)
    except Refused as refused:
        raise WrongManifest(_told(refused)) from None
    return replace(
        wanted,
        quotas=tuple(
            _placed(wanted.place(f"quota {one['id']}"), _quota, one, names) for one in wanted.quotas
        ),
        workspaces=tuple(
            _placed(wanted.place(f"workspace {one['id']}"), _workspace, one, names) for one in wanted.workspaces
        ),
    )  # fmt: skip


def _placed(
    where: str,
    numbered: Callable[[dict[str, Any], Mapping[str, int]], dict[str, Any]],
    said: dict[str, Any],
    names: Mapping[str, int],
) -> dict[str, Any]:
    try:
        return numbered(said, names)
    except Refused as refused:
        raise WrongManifest(f"{where}: {_told(refused)}") from None


def _told(refused: Refused) -> str:
    return f"{refused.field} {shown(refused.value)}: {refused.message} [{refused.rule}]"


def _quota(quota: dict[str, Any], names: Mapping[str, int]) -> dict[str, Any]:
    """The quota with its policies in numbers and in our words, also where PAI's stand."""
    found: dict[str, Any] = {
        key: policies_in_numbers(key, quota[key], names) for key in POLICIES if key in quota
    }
    return in_our_words({**quota, **found})


def _workspace(workspace: dict[str, Any], names: Mapping[str, int]) -> dict[str, Any]:
    quotas = workspace.get("quotas")
    if quotas is None:
        return workspace
    return {
        **workspace,
        "quotas": {quota: _centre(f"quotas.{quota}", centre, names) for quota, centre in quotas.items()},
    }


def _centre(where: str, centre: Any, names: Mapping[str, int]) -> Any:
    if not isinstance(centre, dict):
        return centre
    found = dict(centre)
    for key, field in (("amounts", "priorities"), ("ceilings", "priority")):
        if isinstance(centre.get(key), list):
            found[key] = [
                _numbered(f"{where}.{key}[{number}].{field}", one, field, names)
                for number, one in enumerate(centre[key])
            ]
    return found


def _numbered(where: str, entry: Any, field: str, names: Mapping[str, int]) -> Any:
    if not isinstance(entry, dict) or field not in entry:
        return entry
    return {**entry, field: read(where, entry[field], names)}
