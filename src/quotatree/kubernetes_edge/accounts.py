"""As whom does a namespace submit? As an account of its own, a developer of the workspace that the namespace belongs to.

Kubernetes does not say who made an object, only where it is: whoever may create objects in a namespace is one and the same member
here. The account is made with the first job; a workspace's owner may give it another role, or take it away, and then it stays so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from quotatree.access.directory import Directory
from quotatree.access.roles import Role
from quotatree.access.values import NAMESPACES, User
from quotatree.core import Refused
from quotatree.engines.kubernetes.adopted import DOMAIN

LONGEST: Final = 63
WORKSPACE_LABEL: Final = f"{DOMAIN}/workspace"


def is_account(user: User | None) -> bool:
    return user is not None and user.identity is not None and user.identity.startswith(f"{NAMESPACES} ")


def account_of(workspace: str, namespace: str) -> str:
    """The name of the account: both names, or where they are too long for one their beginning and a hash of them."""
    name = f"{workspace}.{namespace}"
    if len(name) <= LONGEST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:12]
    return f"{name[: LONGEST - 13]}-{digest}"


def with_account(directory: Directory, workspace: str, namespace: str) -> tuple[Directory, str]:
    """The directory with the account of the namespace, and its name. A user who has that name already is refused."""
    name, identity = account_of(workspace, namespace), f"{NAMESPACES} {workspace}/{namespace}"
    known = directory.users.get(name)
    if known is not None and known.identity != identity:
        raise Refused(
            "user",
            name,
            "E7",
            "this name is that of the namespace's account, and a user has it: rename the user",
        )
    if known is not None or workspace not in directory.workspaces:
        return directory, name
    user = User(name, display=f"jobs of namespace {namespace}", identity=identity)
    return directory.with_user(user).member_added(workspace, name, Role.DEVELOPER), name


def workspace_of(namespace: Mapping[str, Any], prefix: str) -> str:
    """The workspace that a namespace belongs to: by its label, else by its name if it begins with our prefix; "" if to none.

    Only who may change the namespace itself can change this, and that is not its users.
    """
    meta = namespace["metadata"]
    said = (meta.get("labels") or {}).get(WORKSPACE_LABEL)
    if said:
        return str(said)
    name = str(meta["name"])
    return name.removeprefix(prefix) if prefix and name.startswith(prefix) else ""
