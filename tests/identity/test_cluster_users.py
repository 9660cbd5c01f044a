"""Users of a cluster are members by name or by e-mail, if an installation says so."""

from __future__ import annotations

import pytest

from quotatree.access.directory import Directory
from quotatree.access.values import User
from quotatree.identity.cluster_users import ClusterNames, member_of
from quotatree.identity.errors import Unauthenticated

PEOPLE = Directory()
for one in (
    User("ann", email="Ann@Example.com"),
    User("bob", email="x@y"),
    User("eve", email="x@y"),
    User("gone", disabled=True),
    User("none"),
):
    PEOPLE = PEOPLE.with_user(one)


def test_a_name_or_an_address_leads_to_the_member():
    assert member_of(PEOPLE, ClusterNames("name"), "ann") == "ann"
    assert member_of(PEOPLE, ClusterNames("name", "oidc:"), "oidc:ann") == "ann"
    assert member_of(PEOPLE, ClusterNames("email"), "ann@example.com") == "ann"


@pytest.mark.parametrize(
    ("names", "username"),
    [
        (ClusterNames("name"), "nobody"),
        (ClusterNames("name"), "gone"),
        (ClusterNames("name"), "system:serviceaccount:ns:ann"),
        (ClusterNames("name", "oidc:"), "ann"),
        (ClusterNames("name", "oidc:"), "oidc:"),
        (ClusterNames("email"), "x@y"),
        (ClusterNames("email"), ""),
    ],
)
def test_who_is_nobody_or_several_is_refused(names: ClusterNames, username: str):
    with pytest.raises(Unauthenticated):
        member_of(PEOPLE, names, username)
