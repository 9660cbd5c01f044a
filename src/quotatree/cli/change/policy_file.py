"""The file of `policy set -f` and `preview --policy`: a quota, and what changes about it. Both read
it here, so both mean the same.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from quotatree.cli.documents import read_document
from quotatree.cli.output import EXIT_BAD_INPUT, fail


class PolicyChange(NamedTuple):
    """`to`: the fields of the API's change of a quota. What it leaves out stays as it is."""

    quota: str
    to: dict[str, Any]

    def preview(self) -> Any:
        return {"change": "update-quota", "quota": self.quota, "to": self.to}


def read_policy_file(path: Path, quota: str | None = None) -> PolicyChange:
    """What a file changes about the quota that it names, or that is named here. One that cannot be
    read ends the command.
    """
    data = read_document(path)
    if not isinstance(data, dict):
        fail(f"{path}: must be a table of policies, such as child_level: {{priorities: 1-3}}", EXIT_BAD_INPUT)
    named = data.get("quota", quota)
    if not isinstance(named, str):
        fail(f"{path}: says no quota; write quota: NAME into it, or name it before the file", EXIT_BAD_INPUT)
    if quota is not None and named != quota:
        fail(
            f"{path}: is for quota {named}, not {quota}; take that line away to use it for {quota}",
            EXIT_BAD_INPUT,
        )
    to = {name: value for name, value in data.items() if name not in ("quota", "version")}
    if not to:
        fail(
            f"{path}: changes nothing about {named}; name strategy, self_level or child_level", EXIT_BAD_INPUT
        )
    return PolicyChange(named, to)


def named_policy_file(text: str) -> PolicyChange:
    """The file of --policy: FILE, which says its quota, or QUOTA=FILE."""
    quota, equals, rest = text.partition("=")
    if equals and not os.path.exists(text):
        return read_policy_file(Path(rest), quota)
    return read_policy_file(Path(text))
