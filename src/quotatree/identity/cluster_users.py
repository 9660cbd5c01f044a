"""Which member is this user of a cluster? Pure: what the cluster says of a token, and the directory.

The cluster vouches for the name, so an installation decides whether to believe it, and what the name is: that of a member, or an
e-mail address. Accounts of the cluster itself (`system:…`) are nobody here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from quotatree.access.directory import Directory
from quotatree.identity.errors import Unauthenticated

OFF: Final = "off"
BY_NAME: Final = "name"
BY_EMAIL: Final = "email"
WAYS: Final = (OFF, BY_NAME, BY_EMAIL)
SYSTEM_PREFIX: Final = "system:"


@dataclass(frozen=True, slots=True)
class ClusterNames:
    """`by`: what names of the cluster are here. `prefix`: what its API server puts before names of people, such as `oidc:`."""

    by: str = OFF
    prefix: str = ""


def member_of(directory: Directory, names: ClusterNames, username: str) -> str:
    """The name of the member. Raises Unauthenticated if there is none, or several could be meant."""
    said = username.removeprefix(names.prefix)
    if username.startswith(SYSTEM_PREFIX) or not username.startswith(names.prefix) or not said:
        raise Unauthenticated(f"{username} is no person in the cluster")
    if names.by == BY_NAME:
        found = [user for user in directory.users.values() if user.name == said]
    else:
        found = [user for user in directory.users.values() if user.email.lower() == said.lower()]
    if len(found) != 1:
        raise Unauthenticated(
            f"{username} is no member here, or more than one: ask an admin (looked for by {names.by})"
        )
    if found[0].disabled:
        raise Unauthenticated("this account is disabled")
    return found[0].name
