"""In which workspace, and out of which quota? What you said, else what is remembered, else the only
one that there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from quotatree.cli.contexts import Target
from quotatree.cli.output import EXIT_BAD_INPUT, fail

if TYPE_CHECKING:
    from quotatree.client import Client

SAID: Final = {
    "workspace": "--workspace (or the variable QUOTATREE_WORKSPACE)",
    "quota": "--quota (or the variable QUOTATREE_QUOTA)",
}


class Places:
    """Fills in the workspace and the quota of jobs. It asks the server only if it must, and only
    once.
    """

    def __init__(self, client: Client, target: Target) -> None:
        self._client, self._target = client, target
        self._workspaces: dict[str, list[str]] | None = None

    def filled(self, job: dict[str, Any]) -> dict[str, Any]:
        """The job with its workspace and quota. If they cannot be known, the command ends and says
        what to do.
        """
        if "workspace" in job and "quota" in job:
            return job
        workspace = job["workspace"] if "workspace" in job else self.workspace(job.get("quota"))
        if "quota" in job:
            return {**job, "workspace": workspace}
        return {**job, "workspace": workspace, "quota": self._quota(workspace)}

    def workspace(self, quota: str | None = None) -> str:
        """The workspace that is remembered, or the only one, of those that may use `quota` if one
        is named.
        """
        if self._target.workspace:
            return self._target.workspace
        there = [name for name, quotas in self._known().items() if quota is None or quota in quotas]
        return there[0] if len(there) == 1 else _missing("workspace", there)

    def _quota(self, workspace: str) -> str:
        """The quota that is remembered for this workspace, or the only one that it may use."""
        if self._target.quota and self._target.workspace in ("", workspace):
            return self._target.quota
        there = self._known().get(workspace, [])
        return there[0] if len(there) == 1 else _missing("quota", there)

    def _known(self) -> dict[str, list[str]]:
        """The quotas of each workspace that you may see."""
        if self._workspaces is None:
            self._workspaces = {one["id"]: list(one["quotas"]) for one in self._client.workspaces.list()}
        return self._workspaces


def _missing(what: str, there: Sequence[str]) -> NoReturn:
    if there:
        more = (
            f"there are {', '.join(there)}; "
            f"`quotatree context set --{what} {there[0]}` remembers one for this login"
        )
    elif what == "workspace":
        more = "you are in none: ask an admin for `quotatree create member USER --workspace NAME`"
    else:
        more = "the workspace has none: ask an admin for `quotatree bind WORKSPACE QUOTA`"
    fail(f"{SAID[what]} is missing: {more}", EXIT_BAD_INPUT)
