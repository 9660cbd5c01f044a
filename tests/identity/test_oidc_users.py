"""Which user an ID token speaks of, and which roles his groups give him."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quotatree.access.directory import Directory
from quotatree.access.roles import Role
from quotatree.access.values import User
from quotatree.core.errors import Refused
from quotatree.identity.errors import Unauthenticated
from quotatree.identity.oidc_claims import Claims
from quotatree.identity.oidc_settings import GroupGrant, OidcSettings
from quotatree.identity.oidc_users import signed_in

SETTINGS = OidcSettings(
    "https://idp.example",
    "quotatree",
    "https://quota.example/done",
    grants=(
        GroupGrant("admins", Role.PLATFORM_ADMIN),
        GroupGrant("ml", Role.DEVELOPER, "vision"),
        GroupGrant("ml-leads", Role.OWNER, "vision"),
        GroupGrant("ml", Role.VIEWER, "not-yet-made"),
    ),
)
ANN = Claims("https://idp.example 1", "ann@a.example", "Ann", "ann@a.example", frozenset({"ml"}))
START = (
    Directory()
    .with_user(User("root", platform_admin=True))
    .with_user(User("olga"))
    .with_workspace("vision", owners=["olga"])
)


def test_the_first_login_makes_a_user_with_the_roles_of_his_groups():
    people, name = signed_in(START, SETTINGS, ANN)
    assert name == "ann"
    user = people.user("ann")
    assert (user.display, user.email, user.identity) == ("Ann", "ann@a.example", ANN.identity)
    assert not user.platform_admin
    assert people.workspace("vision").roles_of("ann") == (Role.DEVELOPER,)


def test_the_same_login_again_changes_nothing():
    once, _ = signed_in(START, SETTINGS, ANN)
    assert signed_in(once, SETTINGS, ANN) == (once, "ann")


def test_who_leaves_a_group_loses_its_roles_and_keeps_those_given_by_hand():
    people, _ = signed_in(START, SETTINGS, ANN._replace(groups=frozenset({"ml", "admins"})))
    assert people.user("ann").platform_admin
    people = people.member_added("vision", "ann", Role.VIEWER)
    left, _ = signed_in(people, SETTINGS, ANN._replace(groups=frozenset()))
    assert left.workspace("vision").roles_of("ann") == (Role.VIEWER,)
    assert not left.user("ann").platform_admin


def test_the_last_owner_and_the_last_platform_admin_stay():
    both = frozenset({"admins", "ml-leads"})
    alone = Directory().with_user(User("root", platform_admin=True)).with_workspace("vision")
    people, _ = signed_in(alone, SETTINGS, ANN._replace(groups=both))
    people = people.with_user(User("root"))
    stayed, _ = signed_in(people, SETTINGS, ANN._replace(groups=frozenset()))
    assert stayed.user("ann").platform_admin
    assert stayed.workspace("vision").roles_of("ann") == (Role.OWNER,)


def test_without_a_tied_group_platform_admins_are_made_by_hand():
    people, _ = signed_in(START, SETTINGS, ANN)
    people = people.with_user(replace(people.user("ann"), platform_admin=True))
    by_hand = replace(SETTINGS, grants=())
    assert signed_in(people, by_hand, ANN)[0].user("ann").platform_admin


def test_a_known_subject_keeps_its_user_whatever_the_name_claim_says_now():
    people, _ = signed_in(START, SETTINGS, ANN)
    married = ANN._replace(wanted_name="anna", display="Anna")
    after, name = signed_in(people, SETTINGS, married)
    assert name == "ann"
    assert after.user("ann").display == "Anna"


@pytest.mark.parametrize("name", ["root", "root@elsewhere.example", "olga"])
def test_nobody_becomes_an_existing_user_by_choosing_his_name(name: str):
    with pytest.raises(Unauthenticated, match="belongs to another account"):
        signed_in(START, SETTINGS, ANN._replace(wanted_name=name))


def test_another_subject_with_the_same_name_is_another_person():
    people, _ = signed_in(START, SETTINGS, ANN)
    with pytest.raises(Unauthenticated, match="another account"):
        signed_in(people, SETTINGS, ANN._replace(identity="https://idp.example 2"))


@pytest.mark.parametrize("name", ["", "@a.example", "a b", "-ann", "a/b"])
def test_a_claim_that_is_no_name_is_refused(name: str):
    with pytest.raises(Unauthenticated, match="preferred_username is no name"):
        signed_in(START, SETTINGS, ANN._replace(wanted_name=name))


def test_a_disabled_account_stays_out_and_strangers_do_where_accounts_are_made_by_hand():
    people, _ = signed_in(START, SETTINGS, ANN)
    disabled = people.with_user(replace(people.user("ann"), disabled=True))
    with pytest.raises(Unauthenticated, match="disabled"):
        signed_in(disabled, SETTINGS, ANN)
    by_hand = replace(SETTINGS, create_users=False)
    with pytest.raises(Unauthenticated, match="no account"):
        signed_in(START, by_hand, ANN)
    assert signed_in(people, by_hand, ANN)[1] == "ann"


@pytest.mark.parametrize(
    "grant",
    [GroupGrant("g", Role.OWNER), GroupGrant("g", Role.PLATFORM_ADMIN, "w"), GroupGrant("g", Role.USER, "w")],
)
def test_a_grant_that_makes_no_sense_is_refused(grant: GroupGrant):
    with pytest.raises(Refused, match="allowed here"):
        replace(SETTINGS, grants=(grant,))
