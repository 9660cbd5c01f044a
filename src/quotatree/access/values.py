"""Who is there: users, workspaces, quota admins, tokens and sessions, as frozen values checked when made.

`version` is set by the directory: 1 when a value first comes in, one more with every change.
Secrets never stand here, only their hashes, and these stay out of every repr.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from quotatree.access.names import check_name
from quotatree.access.roles import WORKSPACE_ROLES, Role
from quotatree.core import Refused

NAMESPACES: Final = "kubernetes"
"""Issuer of the accounts of namespaces; their subject is WORKSPACE/NAMESPACE."""


@dataclass(frozen=True, slots=True)
class User:
    """An account. It is never deleted, only disabled: its name stays on its jobs and in the audit.

    `password` is an argon2 hash; `identity` is "issuer subject" of an account that signs in by OIDC, or of one of a namespace.
    """

    name: str
    display: str = ""
    email: str = ""
    platform_admin: bool = False
    disabled: bool = False
    password: str | None = field(default=None, repr=False)
    identity: str | None = None
    version: int = 0

    def __post_init__(self) -> None:
        check_name("user", self.name)

    def submits_for(self, workspace: str) -> bool:
        """Whether this is the account of a namespace of the workspace."""
        return (self.identity or "").startswith(f"{NAMESPACES} {workspace}/")


class Member(NamedTuple):
    """One role of one user in a workspace."""

    user: str
    role: Role


@dataclass(frozen=True, slots=True)
class Workspace:
    """A team: its members, and the quotas that its jobs may name (W1). Both are sorted."""

    id: str
    description: str = ""
    members: tuple[Member, ...] = ()
    quotas: tuple[str, ...] = ()
    version: int = 0

    def __post_init__(self) -> None:
        check_name("workspace", self.id)
        for member in self.members:
            if member.role not in WORKSPACE_ROLES:
                allowed = ", ".join(role.value for role in WORKSPACE_ROLES)
                raise Refused(
                    "role", member.role.value, "W2", f"is not a role in a workspace; allowed: {allowed}"
                )

    def roles_of(self, user: str) -> tuple[Role, ...]:
        return tuple(member.role for member in self.members if member.user == user)


class QuotaAdmin(NamedTuple):
    """The role of `user` as an admin of `quota`: they may re-divide what is below it (W2)."""

    user: str
    quota: str


@dataclass(frozen=True, slots=True)
class TokenInfo:
    """An API token without its secret. A `read_only` token allows only what changes nothing."""

    id: str
    user: str
    name: str
    secret_hash: str = field(repr=False)
    created_ms: int
    expires_ms: int | None = None
    revoked_ms: int | None = None
    read_only: bool = False

    def valid(self, now_ms: int) -> bool:
        return self.revoked_ms is None and (self.expires_ms is None or now_ms < self.expires_ms)


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A signed-in browser. `id_hash`, under which the session is found, is the hash of the key that its page has.

    If it was opened with a token, the token's id and a dot stand before the hash. `csrf_hash` is empty: only the
    sessions of older versions have one. They were cookies, and no key finds them.
    """

    id_hash: str = field(repr=False)
    user: str
    csrf_hash: str = field(repr=False)
    created_ms: int
    expires_ms: int

    @property
    def token(self) -> str | None:
        """Id of the token that it was opened with; None: by another way."""
        return self.id_hash.rpartition(".")[0] or None
