"""Users, tokens and logins. Hashes and secrets are never part of an answer, except a new token, once."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from quotatree.access.values import TokenInfo, User
from quotatree.api.models.fields import Body, Duration, Name

Text = Annotated[str, StringConstraints(max_length=253)]
Password = Annotated[str, StringConstraints(min_length=10, max_length=1024)]


class UserIn(Body):
    """A new account. Without a password it signs in by token, or by the identity provider."""

    name: Name
    display: Text = ""
    email: Text = ""
    platform_admin: bool = False
    password: Password | None = Field(default=None, repr=False)


class UserChange(Body):
    """What is left out stays. Display and e-mail are one's own business; the rest is a platform admin's."""

    display: Text = ""
    email: Text = ""
    platform_admin: bool = False
    disabled: bool = False

    def changes(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.model_fields_set}


class PasswordIn(Body):
    """`current` is needed to change one's own, if one has one: a session left open must not be enough."""

    password: Password = Field(repr=False)
    current: Annotated[str, StringConstraints(max_length=1024)] | None = Field(default=None, repr=False)


class TokenIn(Body):
    """`lasts`: until it expires; without it, until it is revoked. `user`: for somebody else (platform admins)."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    lasts: Duration | None = None
    read_only: bool = False
    user: Name | None = None


class ClusterTokenIn(Body):
    """The bearer token of a user of the cluster, as their kubeconfig has it."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=20_000)] = Field(repr=False)


class DeviceIn(Body):
    handle: Annotated[str, StringConstraints(min_length=1, max_length=200)] = Field(repr=False)


class LoginIn(Body):
    user: Annotated[str, StringConstraints(max_length=63)]
    password: Annotated[str, StringConstraints(max_length=1024)] = Field(repr=False)


class TokenLoginIn(Body):
    token: Annotated[str, StringConstraints(min_length=1, max_length=200)] = Field(repr=False)


class LinkIn(Body):
    """`code`: what stands behind `#link=` in a login link."""

    code: Annotated[str, StringConstraints(min_length=1, max_length=200)] = Field(repr=False)


class OidcAnswerIn(Body):
    """`answer`: the query with which the provider sent the browser back. `secret`: what the page got when it began."""

    answer: Annotated[str, StringConstraints(max_length=8000)] = Field(repr=False)
    secret: Annotated[str, StringConstraints(max_length=200)] = Field(repr=False)


class UserOut(TypedDict):
    name: str
    display: str
    email: str
    platform_admin: bool
    disabled: bool
    has_password: bool
    identity: str | None
    version: int


class Users(TypedDict):
    items: list[UserOut]


class TokenOut(TypedDict):
    id: str
    user: str
    name: str
    created_ms: int
    expires_ms: int | None
    revoked_ms: int | None
    read_only: bool


class Tokens(TypedDict):
    items: list[TokenOut]


class NewTokenOut(TypedDict):
    """`token` is shown this once and never again."""

    id: str
    token: str
    expires_ms: int | None


class MembershipOut(TypedDict):
    workspace: str
    roles: list[str]


class WhoAmI(TypedDict):
    """`signed_in_by`: token or session. `allowed`: what they may do on the platform as a whole."""

    user: UserOut
    signed_in_by: str
    token: TokenOut | None
    workspaces: list[MembershipOut]
    quota_admin_of: list[str]
    allowed: list[str]


class SessionOut(TypedDict):
    """`key` goes into every request: `Authorization: Bearer qs_…`. Keep it for your origin, never in a cookie."""

    user: str
    key: str
    expires_ms: int


class OidcBegunOut(TypedDict):
    """Keep `secret` in the page, then send the browser to `url`."""

    url: str
    secret: str


class LoginWays(TypedDict):
    """Which ways in are open. `oidc`: begin with `POST /api/v1/oidc/login`."""

    password: bool
    token: bool
    link: bool
    oidc: bool
    oidc_issuer: str | None


class LoginLinkOut(TypedDict):
    """`path` belongs behind the server's address; it works once, until `expires_ms`."""

    path: str
    expires_ms: int


class DeviceOut(TypedDict):
    """Show the code and the address; ask with the handle, not more often than `interval_ms`."""

    handle: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str | None
    interval_ms: int
    expires_ms: int


class DeviceTokenOut(TypedDict):
    user: str
    token: str
    expires_ms: int | None


class QuotaAdmins(TypedDict):
    users: list[str]


def user_out(user: User) -> UserOut:
    return {
        "name": user.name,
        "display": user.display,
        "email": user.email,
        "platform_admin": user.platform_admin,
        "disabled": user.disabled,
        "has_password": user.password is not None,
        "identity": user.identity,
        "version": user.version,
    }


def token_out(token: TokenInfo) -> TokenOut:
    return {
        "id": token.id,
        "user": token.user,
        "name": token.name,
        "created_ms": token.created_ms,
        "expires_ms": token.expires_ms,
        "revoked_ms": token.revoked_ms,
        "read_only": token.read_only,
    }
