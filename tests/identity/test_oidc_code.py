"""A browser logs in by code and PKCE, against a provider that really runs."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from quotatree.identity.errors import ProviderFailed, Unauthenticated
from quotatree.identity.oidc_code import CodeLogins
from quotatree.identity.oidc_device import DeviceLogins
from quotatree.identity.oidc_http import HttpxHttp
from quotatree.identity.oidc_provider import Provider
from tests.identity.browsing import NOW_MS, browse, log_in
from tests.oidc_provider import OidcProvider


def test_a_browser_logs_in_by_code_and_pkce(ours: Provider, there: OidcProvider):
    claims = log_in(ours)
    assert claims.identity == f"{there.issuer} u-1"
    assert (claims.wanted_name, claims.display, claims.email) == ("ann@example.org", "Ann", "")
    assert claims.groups == {"ml"}


def test_a_public_client_needs_no_secret(ours: Provider, there: OidcProvider, http: HttpxHttp):
    there.public_client = True
    assert log_in(Provider(replace(ours.settings, client_secret=None), http)).display == "Ann"


def test_a_login_is_finished_once(ours: Provider):
    logins = CodeLogins(ours)
    begun = logins.begin(NOW_MS)
    answer = browse(begun.url)
    logins.finish(answer, begun.secret, NOW_MS)
    with pytest.raises(Unauthenticated, match="not begun here"):
        logins.finish(answer, begun.secret, NOW_MS)


def test_a_replayed_code_is_refused_by_the_provider(ours: Provider):
    logins = CodeLogins(ours)
    first, second = logins.begin(NOW_MS), logins.begin(NOW_MS)
    used, fresh = browse(first.url), browse(second.url)
    logins.finish(used, first.secret, NOW_MS)
    with pytest.raises(Unauthenticated, match="invalid_grant"):
        logins.finish({**fresh, "code": used["code"]}, second.secret, NOW_MS)


def test_a_stolen_code_is_useless_without_its_verifier(ours: Provider):
    logins = CodeLogins(ours)
    theirs, mine = logins.begin(NOW_MS), logins.begin(NOW_MS)
    stolen = browse(theirs.url)["code"]
    with pytest.raises(Unauthenticated, match="invalid_grant"):
        logins.finish({**browse(mine.url), "code": stolen}, mine.secret, NOW_MS)


def test_another_page_cannot_finish_the_login(ours: Provider):
    logins = CodeLogins(ours)
    mine, theirs = logins.begin(NOW_MS), logins.begin(NOW_MS)
    with pytest.raises(Unauthenticated, match="not begun here"):
        logins.finish(browse(mine.url), theirs.secret, NOW_MS)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"state": "made-up"}, "not begun here"),
        ({"iss": "https://evil.example"}, "another provider"),
        ({"error": "access_denied"}, "access_denied"),
        ({"code": ""}, "invalid_grant"),
    ],
)
def test_an_answer_that_is_not_ours_is_refused(ours: Provider, changed: dict[str, str], said: str):
    logins = CodeLogins(ours)
    begun = logins.begin(NOW_MS)
    with pytest.raises(Unauthenticated, match=said):
        logins.finish({**browse(begun.url), **changed}, begun.secret, NOW_MS)


def test_a_login_that_takes_too_long_is_over(ours: Provider):
    logins = CodeLogins(ours)
    begun = logins.begin(NOW_MS)
    with pytest.raises(Unauthenticated, match="too long"):
        logins.finish(browse(begun.url), begun.secret, NOW_MS + 600_000)


def test_the_wrong_secret_is_refused_by_the_provider(ours: Provider, http: HttpxHttp):
    wrong = Provider(replace(ours.settings, client_secret="wrong"), http)
    with pytest.raises(Unauthenticated, match="invalid_client"):
        log_in(wrong)
    with pytest.raises(ProviderFailed, match="invalid_client"):
        DeviceLogins(wrong).begin(NOW_MS)


def test_the_url_carries_what_the_standard_asks_for(ours: Provider, there: OidcProvider, http: HttpxHttp):
    query = parse_qs(urlsplit(CodeLogins(ours).begin(NOW_MS).url).query)
    assert query["scope"] == ["openid profile email"]
    assert query["code_challenge_method"] == ["S256"]
    assert len(query["state"][0]) == len(query["nonce"][0]) == 43
    real = there.discovery()[1]
    tenant = {**real, "authorization_endpoint": f"{there.issuer}/authorize?{urlencode({'tenant': 'x'})}"}
    there.discovery = lambda: (200, tenant)  # type: ignore[method-assign]
    begun = CodeLogins(Provider(ours.settings, http)).begin(NOW_MS)
    assert parse_qs(urlsplit(begun.url).query)["tenant"] == ["x"]
