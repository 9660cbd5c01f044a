"""Every ID token that must not be believed is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from quotatree.identity.errors import Unauthenticated
from quotatree.identity.oidc_http import HttpxHttp
from quotatree.identity.oidc_provider import Provider
from tests.identity.browsing import NOW_S, log_in
from tests.oidc_provider import CLIENT, OidcProvider


@pytest.mark.parametrize(
    ("claim", "value", "said"),
    [
        ("nonce", "another", "nonce"),
        ("nonce", None, "nonce"),
        ("aud", "another-client", "another client"),
        ("aud", [CLIENT, "another-client"], "issued to another client"),
        ("aud", None, "another client"),
        ("azp", "another-client", "issued to another client"),
        ("iss", "https://evil.example", "another issuer"),
        ("exp", NOW_S - 61, "expired"),
        ("exp", None, "exp is missing"),
        ("exp", float("nan"), "exp is missing or no number"),
        ("exp", "tomorrow", "exp is missing or no number"),
        ("iat", NOW_S + 61, "not valid yet"),
        ("nbf", NOW_S + 61, "not valid yet"),
        ("sub", "", "no subject"),
        ("sub", None, "no subject"),
    ],
)
def test_an_id_token_with_a_wrong_claim_is_refused(
    ours: Provider, there: OidcProvider, claim: str, value: object, said: str
):
    there.spoil = lambda header, claims: claims.update({claim: value})
    with pytest.raises(Unauthenticated, match=said):
        log_in(ours)


@pytest.mark.parametrize(
    ("claim", "value"), [("exp", NOW_S - 59), ("iat", NOW_S + 59), ("nbf", NOW_S + 59), ("aud", [CLIENT])]
)
def test_clocks_may_differ_a_little(ours: Provider, there: OidcProvider, claim: str, value: object):
    there.spoil = lambda header, claims: claims.update({claim: value})
    assert log_in(ours).display == "Ann"


def test_an_unsigned_id_token_is_refused(ours: Provider, there: OidcProvider):
    there.spoil = lambda header, claims: header.update(alg="none")
    with pytest.raises(Unauthenticated, match="not valid"):
        log_in(ours)


def test_an_algorithm_that_is_not_on_the_list_is_refused(
    ours: Provider, there: OidcProvider, http: HttpxHttp
):
    there.spoil = lambda header, claims: header.update(alg="RS512")
    there.sign = lambda header, claims: _signed(there, header, claims)  # type: ignore[method-assign]
    with pytest.raises(Unauthenticated, match="not valid"):
        log_in(ours)
    assert log_in(Provider(replace(ours.settings, algorithms=("RS512",)), http)).display == "Ann"


def _signed(there: OidcProvider, header: dict, claims: dict) -> str:
    return jwt.encode(header, claims, there.key, algorithms=[header["alg"]])


def test_a_token_signed_with_another_key_is_refused(ours: Provider, there: OidcProvider, keys: list[RSAKey]):
    there.spoil = lambda header, claims: header.update(kid=keys[0].kid)
    there.key = keys[1]
    with pytest.raises(Unauthenticated, match="not valid"):
        log_in(ours)


def test_a_token_that_was_changed_after_signing_is_refused(ours: Provider, there: OidcProvider):
    real = there.sign

    def changed(header: dict, claims: dict) -> str:
        head, _, signature = real(header, claims).split(".")
        _, body, _ = real(header, {**claims, "sub": "u-2"}).split(".")
        return f"{head}.{body}.{signature}"

    there.sign = changed  # type: ignore[method-assign]
    with pytest.raises(Unauthenticated, match="not valid"):
        log_in(ours)


@pytest.mark.parametrize("token", ["", "a.b.c", "nonsense", "...", None, 5, "é.é.é"])
def test_what_is_no_token_is_refused(ours: Provider, there: OidcProvider, token: object):
    there.sign = lambda header, claims: token  # type: ignore[method-assign,assignment,return-value]
    with pytest.raises(Unauthenticated):
        log_in(ours)
