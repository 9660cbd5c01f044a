"""Writes docs/reference/roles.md from `quotatree.access.roles`: run it after a change of the table of rights.

    .venv/bin/python docs/generate_roles.py

Who has which right comes from TABLE; what each action means is said here, in MEANS. An action without a line there, or
a line without an action, is an error, and tests/docs fails when the page is not up to date.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from quotatree.access.roles import TABLE, Action, Role, TargetKind

PAGE: Final = Path(__file__).parent / "reference" / "roles.md"

HEAD: Final = """\
# Roles and rights

This page is written by `docs/generate_roles.py` from the table that the server itself asks
([ADR 0018](../adr/0018-rights-are-one-table.md)).

A user may hold several roles; what any of them allows is allowed. Every role but the first and the last is held towards
something: an owner owns one workspace, a quota admin has one quota and everything below it (W2).

| role | who it is |
|---|---|
| `platform-admin` | runs the cluster and may do everything |
| `quota-admin` | re-divides what is below one quota, and never enlarges that quota itself |
| `owner`, `admin` | look after a workspace: members, bound quotas, the scheduling centre; only an owner makes owners and admins |
| `operator` | looks after all jobs of a workspace and their priorities |
| `developer` | submits jobs to a workspace and looks after their own |
| `viewer` | sees a workspace and its jobs |
| `user` | anybody who is signed in, towards themselves |

In the tables, **yes** means the right, **own** the right for one's own jobs or account, **below** the right for the
quotas below one's own, not for that one. A dash means no.

Who may not even see the target is an outsider and is told that there is no such thing (404), in the words that
something missing would get. Who may see it and lacks the right is told which roles have it (403).
"""

HEADINGS: Final = {
    TargetKind.PLATFORM: ("The platform", "Towards the platform everybody who is quota admin of any quota holds that role."),
    TargetKind.QUOTA: (
        "Quotas",
        (
            "Members of a workspace hold their roles towards the quotas bound to it: they see these with their figures. Of the "
            "quotas above they read the names and the figures that explain a wait; of others nothing."
        ),
    ),
    TargetKind.BINDING: (
        "Binding a workspace to a quota",
        (
            "Both sides must be visible. Once a binding stands, the admin of the quota knows of the workspace, though not what "
            "is in it."
        ),
    ),
    TargetKind.WORKSPACE: ("Workspaces", "Nothing of a workspace is visible to anybody else."),
    TargetKind.JOB: (
        "Jobs",
        (
            "Of other teams' jobs a reader sees, in explanations, previews and the ledger, the priority, the size and the level "
            "of the quota: `[job of priority 7, 8 GPU, level 3]`."
        ),
    ),
    TargetKind.USER: ("Users", "A user's name is known to those who share a workspace with them; their account is not."),
}  # fmt: skip

MEANS: Final = {
    "see-pools": "list the pools and the GPU models in them",
    "see-nodes": "list the nodes, their sizes and states",
    "manage-nodes": "declare pools; add, cordon and drain nodes",
    "create-root-quota": "make a quota that draws on pools",
    "create-workspace": "make a workspace",
    "manage-users": "make and disable users, make platform admins",
    "see-audit": "read who changed what, everywhere",
    "see-metrics": "be told by `/metrics` what names quotas, nodes and jobs",
    "name-priorities": "give priorities names, for the whole installation (W6)",
    "operate": "settings, backup, snapshot, webhooks of the whole platform",
    "see-quota": "its policies, figures, queue and history",
    "see-ledger": "the preemptions that touched it",
    "see-quota-admins": "who may re-divide it, and which workspaces are bound to it",
    "create-child-quota": "make a quota below it",
    "update-quota": "change its strategy, policies and protections",
    "scale-quota": "change its min, or transfer between it and a sibling (needs the right for both)",
    "delete-quota": "delete it",
    "return-loan": "hand its loan back by hand (P15)",
    "simulate": "replay the stored jobs of a whole tree with other policies or another tree",
    "appoint-quota-admin": "name and dismiss its quota admins",
    "bind-quota": "let a workspace's jobs into a quota",
    "unbind-quota": "end that; refused while such jobs are active (W1)",
    "see-workspace": "its members, bound quotas, scheduling centre, jobs and events",
    "see-workspace-audit": "read who changed what in it",
    "update-workspace": "change its description",
    "delete-workspace": "delete it; refused while jobs are active",
    "manage-members": "give and take the roles operator, developer and viewer",
    "manage-owners": "give and take the roles owner and admin",
    "set-centre": "set the scheduling centre (W3)",
    "manage-webhooks": "have its events sent somewhere",
    "submit-job": "submit a job, or preview that; the scheduling centre may allow fewer roles",
    "see-job": "everything about it, except what it prints and its secrets",
    "explain-job": "why it waits, who took it (X1, X2)",
    "see-exposure": "who could take it (X4)",
    "see-endpoint": "where its notebook or service answers",
    "see-logs": "what it prints, which may be more than its owner wants to show to the whole team",
    "open-job": "the token of its notebook: with it one can do whatever the job can, so a read-only token does not get it",
    "cancel-job": "stop it for good",
    "stop-job": "stop it so that it can be started again",
    "hold-job": "keep it from starting, and release it again",
    "resize-job": "change its `replicas`, `min_replicas` and `max_replicas` (P12)",
    "restart-job": "start a stopped job again; replace the replicas of a running service one by one",
    "checkpoint-job": "report a checkpoint",
    "set-priority": "change its priority while it waits (W5), up to one's own ceiling (W4)",
    "see-user": "the account",
    "update-user": "change name and e-mail address shown",
    "change-password": "set a new password",
    "see-tokens": "list the API tokens, without their secrets",
    "manage-tokens": "make and revoke API tokens, end sessions",
}

TAIL: Final = """
## The scheduling centre

For each bound quota a workspace may set (W3): which modules and which roles may submit; how many GPUs the jobs of a role
or a member may use at once, for a range of priorities; the highest priority that a role or a member may ask for; the
longest run and the longest wait.

Every rule that fits binds, so the strictest wins: with 100 GPUs at priorities 1-7 and 10 GPUs at 7-9, jobs of priority 7
use at most 10. Who holds two roles is bound by the rules of both. An amount for a role is shared by all who hold it. Two
workspaces bound to the same quota have limits of their own. A job keeps the roles that its owner held when it was
submitted.

A request over a ceiling is refused; a job over an amount waits, with that reason (W4).

## Tokens

A token has the rights of its user. One made read-only may do only what begins with `see` or `explain`, whatever its user
may do.
"""


def page() -> str:
    _check_names()
    parts = [HEAD]
    for kind, (heading, intro) in HEADINGS.items():
        columns = [role for role in Role if any(role in r.needed for r in TABLE.values() if r.kind is kind)]
        parts.append(f"\n## {heading}\n\n{intro}\n\n| action | what it is | ")
        parts.append(
            " | ".join(role.value for role in columns) + " |\n|---|---|" + "---|" * len(columns) + "\n"
        )
        for action, row in TABLE.items():
            if row.kind is kind:
                grants = " | ".join(row.of(role).value.replace("-", "–") for role in columns)
                parts.append(f"| `{action.value}` | {MEANS[action.value]} | {grants} |\n")
    parts.append(TAIL)
    return "".join(parts)


def _check_names() -> None:
    names = [action.value for action in Action]
    missing = [name for name in names if name not in MEANS]
    superfluous = [name for name in MEANS if name not in names]
    if missing or superfluous:
        raise ValueError(f"MEANS in docs/generate_roles.py: missing {missing}, no longer there {superfluous}")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
