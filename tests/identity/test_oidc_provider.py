"""What a provider says about itself: discovery and keys, asked for seldom and believed with care."""

from __future__ import annotations

import pytest
from joserfc.jwk import RSAKey

from quotatree.identity.errors import ProviderFailed, Unauthenticated
from quotatree.identity.oidc_code import CodeLogins
from quotatree.identity.oidc_http import HttpxHttp
from quotatree.identity.oidc_provider import KEPT_MS, REFETCH_MS, Provider
from quotatree.identity.oidc_settings import OidcSettings
from tests.identity.browsing import NOW_MS, NOW_S, log_in
from tests.oidc_provider import CLIENT, REDIRECT, SECRET, OidcProvider


def test_discovery_and_keys_are_asked_for_once_an_hour(ours: Provider, there: OidcProvider):
    for now_ms in (NOW_MS, NOW_MS + 1000, NOW_MS + 2000):
        log_in(ours, now_ms)
    assert there.asked.count("/jwks") == there.asked.count("/.well-known/openid-configuration") == 1
    there.now_s = NOW_S + KEPT_MS // 1000
    log_in(ours, NOW_MS + KEPT_MS)
    assert there.asked.count("/jwks") == there.asked.count("/.well-known/openid-configuration") == 2


def test_a_new_key_is_fetched_when_it_is_first_seen(ours: Provider, there: OidcProvider, keys: list[RSAKey]):
    log_in(ours)
    there.key = there.published = keys[1]
    log_in(ours, NOW_MS + REFETCH_MS)
    assert there.asked.count("/jwks") == 2


def test_made_up_key_ids_do_not_make_us_ask_all_the_time(ours: Provider, there: OidcProvider):
    log_in(ours)
    there.spoil = lambda header, claims: header.update(kid="made-up")
    for _ in range(3):
        with pytest.raises(Unauthenticated):
            log_in(ours, NOW_MS + 1)
    assert there.asked.count("/jwks") == 1


def test_a_provider_that_speaks_for_somebody_else_is_not_believed(there: OidcProvider, http: HttpxHttp):
    settings = OidcSettings(there.issuer + "/", CLIENT, REDIRECT, SECRET)
    with pytest.raises(ProviderFailed, match="speaks for issuer"):
        Provider(settings, http).metadata(NOW_MS)


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        ({"token_endpoint": None}, "no token_endpoint"),
        ({"jwks_uri": "http://evil.example/jwks"}, "must be https"),
        ({"authorization_endpoint": "not a url"}, "full URL"),
    ],
)
def test_a_strange_discovery_document_is_said_to_be_so(
    ours: Provider, there: OidcProvider, spoilt: dict[str, object], said: str
):
    real = there.discovery()[1]
    there.discovery = lambda: (200, {**real, **spoilt})  # type: ignore[method-assign]
    with pytest.raises(ProviderFailed, match=said):
        ours.metadata(NOW_MS)


def test_a_provider_that_is_away_is_said_to_be_away(ours: Provider, there: OidcProvider, http: HttpxHttp):
    gone = OidcSettings("http://127.0.0.1:9", CLIENT, REDIRECT)
    with pytest.raises(ProviderFailed, match=r"127\.0\.0\.1:9.* cannot be reached"):
        CodeLogins(Provider(gone, http)).begin(NOW_MS)
    there.discovery = lambda: (503, {})  # type: ignore[method-assign]
    with pytest.raises(ProviderFailed, match="answers 503"):
        ours.metadata(NOW_MS)


@pytest.mark.parametrize("keys_found", [None, [], [{"kty": "oct", "k": "AAAA"}], [{"kty": "RSA"}], ["key"]])
def test_keys_that_cannot_be_used_are_a_failure_of_the_provider(
    ours: Provider, there: OidcProvider, keys_found: object
):
    there.jwks = lambda: (200, {"keys": keys_found})  # type: ignore[method-assign]
    with pytest.raises(ProviderFailed, match="key"):
        log_in(ours)
