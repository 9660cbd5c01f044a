"""A login link signs in once, soon, and its secret is kept nowhere."""

from __future__ import annotations

import pytest

from quotatree.identity.errors import Unauthenticated
from quotatree.identity.login_links import LIFETIME_MS, MOST, LoginLink, LoginLinks

NOW_MS = 1_800_000_000_000


def code_of(link: LoginLink) -> str:
    return link.path.partition("#link=")[2]


def test_a_link_works_once():
    links = LoginLinks()
    code = code_of(links.make("ann", NOW_MS))
    assert links.take(code, NOW_MS) == "ann"
    with pytest.raises(Unauthenticated, match="ask for another"):
        links.take(code, NOW_MS)


def test_a_link_that_is_tried_too_late_is_void_for_ever():
    links = LoginLinks()
    link = links.make("ann", NOW_MS)
    assert link.expires_ms == NOW_MS + LIFETIME_MS
    for now_ms in (link.expires_ms, NOW_MS):
        with pytest.raises(Unauthenticated):
            links.take(code_of(link), now_ms)


def test_wrong_codes_use_nothing_up_and_no_secret_is_kept():
    links = LoginLinks()
    code = code_of(links.make("ann", NOW_MS))
    for wrong in ("", code[:-1], code.upper(), code + " "):
        with pytest.raises(Unauthenticated):
            links.take(wrong, NOW_MS)
    assert code not in repr(vars(links))
    assert links.take(code, NOW_MS) == "ann"


def test_no_more_links_are_kept_than_the_newest_ones():
    links = LoginLinks()
    made = [code_of(links.make(f"u{number}", NOW_MS)) for number in range(MOST + 1)]
    with pytest.raises(Unauthenticated):
        links.take(made[0], NOW_MS)
    assert (links.take(made[1], NOW_MS), links.take(made[-1], NOW_MS)) == ("u1", f"u{MOST}")
