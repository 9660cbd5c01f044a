"""Which OIDC provider, as which client, and what do its claims mean here?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from quotatree.access.roles import WORKSPACE_ROLES, Role
from quotatree.core import Refused

ASYMMETRIC: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"}
)
"""Algorithms that may sign an ID token: never `none`, never a shared secret."""


class GroupGrant(NamedTuple):
    """Members of `group` hold `role` in `workspace`; if that is None, the role is platform-admin."""

    group: str
    role: Role
    workspace: str | None = None


@dataclass(frozen=True, slots=True)
class OidcSettings:
    issuer: str
    client_id: str
    redirect_uri: str
    client_secret: str | None = field(default=None, repr=False)
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    algorithms: tuple[str, ...] = ("RS256", "ES256", "PS256")
    name_claim: str = "preferred_username"
    groups_claim: str = "groups"
    grants: tuple[GroupGrant, ...] = ()
    create_users: bool = True
    """The first login of an unknown user makes them an account, without any role."""
    leeway_seconds: int = 60

    def __post_init__(self) -> None:
        check_url("oidc.issuer", self.issuer)
        check_url("oidc.redirect_uri", self.redirect_uri)
        if not self.client_id:
            raise Refused("oidc.client_id", self.client_id, "W2", "must not be empty")
        if "openid" not in self.scopes:
            raise Refused("oidc.scopes", list(self.scopes), "W2", "must contain openid")
        if not self.algorithms or not ASYMMETRIC.issuperset(self.algorithms):
            allowed = ", ".join(sorted(ASYMMETRIC))
            raise Refused("oidc.algorithms", list(self.algorithms), "W2", f"must be some of {allowed}")
        if not 0 <= self.leeway_seconds <= 300:
            raise Refused("oidc.leeway_seconds", self.leeway_seconds, "W2", "must be 0..300")
        for grant in self.grants:
            allowed_roles = (Role.PLATFORM_ADMIN,) if grant.workspace is None else WORKSPACE_ROLES
            if grant.role not in allowed_roles:
                names = ", ".join(role.value for role in allowed_roles)
                raise Refused("oidc.grants", grant.role.value, "W2", f"allowed here: {names}")


def check_url(name: str, url: str) -> str:
    """The URL, if it is https, or http to this machine, where nobody can listen in; else raises Refused."""
    parts = urlsplit(url)
    local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if not parts.hostname or parts.username is not None or parts.fragment:
        raise Refused(name, url, "W2", "must be a full URL without user or fragment")
    if parts.scheme != "https" and not (parts.scheme == "http" and local):
        raise Refused(name, url, "W2", "must be https (http only to localhost)")
    return url
