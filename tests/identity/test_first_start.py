"""The first start makes an admin with one token."""

from __future__ import annotations

from quotatree.access.check import PLATFORM, may
from quotatree.access.directory import Directory
from quotatree.access.roles import Action
from quotatree.identity.first_start import first_start
from quotatree.identity.tokens import authenticate_token

NOW_MS = 1_800_000_000_000


def test_the_first_start_makes_an_admin_with_one_token():
    made = first_start(Directory(), NOW_MS)
    assert made is not None
    token = authenticate_token(made.directory, made.token, NOW_MS)
    assert token.user == made.user
    assert may(made.directory, made.user, Action.MANAGE_USERS, PLATFORM)
    assert made.directory.user(made.user).password is None
    assert first_start(made.directory, NOW_MS) is None
