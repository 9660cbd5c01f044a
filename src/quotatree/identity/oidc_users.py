"""Which user is this, and which roles do their groups give them? Pure: a directory in, a directory out.

A user is known by issuer and subject, never by a name or an e-mail address: these can be given to somebody else. Of the
roles that the settings tie to groups, a login gives those whose group the user is in and takes the others away.
"""

from __future__ import annotations

import re
from dataclasses import replace

from quotatree.access.directory import Directory
from quotatree.access.names import NAME
from quotatree.access.roles import Role
from quotatree.access.values import User
from quotatree.core import Refused
from quotatree.identity.errors import Unauthenticated
from quotatree.identity.oidc_claims import Claims
from quotatree.identity.oidc_settings import OidcSettings


def signed_in(directory: Directory, settings: OidcSettings, claims: Claims) -> tuple[Directory, str]:
    """The directory after this login, and the user's name. A repeated login changes nothing."""
    known = next((u for u in directory.users.values() if u.identity == claims.identity), None)
    if known is None:
        known = _new_user(directory, settings, claims)
    elif known.disabled:
        raise Unauthenticated("this account is disabled")
    display, email = claims.display or known.display, claims.email or known.email
    user = replace(known, display=display, email=email)
    if user != directory.users.get(user.name):
        directory = directory.with_user(user)
    directory = _with_platform_role(directory, settings, claims, user.name)
    return _with_groups(directory, settings, claims, user.name), user.name


def _new_user(directory: Directory, settings: OidcSettings, claims: Claims) -> User:
    if not settings.create_users:
        raise Unauthenticated("there is no account for you here; ask an admin to make one")
    name = claims.wanted_name.partition("@")[0]
    if re.fullmatch(NAME, name) is None:
        raise Unauthenticated(
            f"the claim {settings.name_claim} is no name for a user: {claims.wanted_name!r}"
        )
    if name in directory.users:
        raise Unauthenticated(f"the user name {name!r} belongs to another account; ask an admin")
    return User(name, identity=claims.identity)


def _with_platform_role(directory: Directory, settings: OidcSettings, claims: Claims, name: str) -> Directory:
    """Give or take the role platform-admin as the groups say.

    It stays as it is if no group is tied to it, and the last platform admin keeps it.
    """
    groups = {grant.group for grant in settings.grants if grant.role is Role.PLATFORM_ADMIN}
    user = directory.user(name)
    wanted = bool(groups & claims.groups) if groups else user.platform_admin
    if wanted == user.platform_admin:
        return directory
    try:
        return directory.with_user(replace(user, platform_admin=wanted))
    except Refused:
        return directory


def _with_groups(directory: Directory, settings: OidcSettings, claims: Claims, user: str) -> Directory:
    """Give and take the workspace roles that are tied to groups.

    Workspaces that do not exist are skipped; the last owner of a workspace keeps the role.
    """
    tied = {(g.workspace, g.role) for g in settings.grants if g.workspace is not None}
    given = {
        (g.workspace, g.role) for g in settings.grants if g.workspace is not None and g.group in claims.groups
    }
    for workspace, role in sorted(tied, key=str):
        found = directory.workspaces.get(workspace)
        if found is None:
            continue
        if (workspace, role) in given:
            directory = directory.member_added(workspace, user, role)
        elif role in found.roles_of(user):
            try:
                directory = directory.member_removed(workspace, user, role)
            except Refused:
                continue
    return directory
