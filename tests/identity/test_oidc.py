"""Login by OIDC against a provider that really runs: code with PKCE, device flow, and everything that must be refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from quotatree.core.errors import Refused
from quotatree.identity.errors import LoginPending, ProviderFailed, Unauthenticated
from quotatree.identity.oidc_code import CodeLogins, Finished, local_path
from quotatree.identity.oidc_device import DeviceLogins
from quotatree.identity.oidc_http import HttpxHttp
from quotatree.identity.oidc_provider import KEPT_MS, REFETCH_MS, Provider
from quotatree.identity.oidc_settings import OidcSettings
from tests.oidc_provider import CLIENT, REDIRECT, SECRET, OidcProvider

NOW_S = 1_800_000_000
NOW_MS = NOW_S * 1000


@pytest.fixture(scope="module")
def keys() -> list[RSAKey]:
    return [RSAKey.generate_key(2048, {"kid": name}) for name in ("first", "second")]


@pytest.fixture
def there(keys: list[RSAKey]) -> Iterator[OidcProvider]:
    with OidcProvider(keys[0], NOW_S) as provider:
        provider.login("u-1", preferred_username="ann@example.org", name="Ann", groups=["ml"])
        yield provider


@pytest.fixture
def http() -> Iterator[HttpxHttp]:
    made = HttpxHttp(timeout_seconds=5)
    yield made
    made.close()


@pytest.fixture
def ours(there: OidcProvider, http: HttpxHttp) -> Provider:
    return Provider(OidcSettings(there.issuer, CLIENT, REDIRECT, SECRET), http)


def browse(url: str) -> dict[str, str]:
    """What the browser is sent back to us with."""
    response = httpx2.get(url)
    assert response.status_code == 302, response.text
    location = response.headers["Location"]
    assert location.startswith(REDIRECT + "?")
    return {key: values[0] for key, values in parse_qs(urlsplit(location).query).items()}


def log_in(ours: Provider, now_ms: int = NOW_MS) -> Finished:
    logins = CodeLogins(ours)
    begun = logins.begin(now_ms, "/console")
    return logins.finish(browse(begun.url), begun.browser, now_ms)


# -- code and PKCE -------------------------------------------------------------------------------------------------


def test_a_browser_logs_in_by_code_and_pkce(ours: Provider, there: OidcProvider):
    claims, return_to = log_in(ours)
    assert claims.identity == f"{there.issuer} u-1"
    assert (claims.wanted_name, claims.display, claims.email) == ("ann@example.org", "Ann", "")
    assert claims.groups == {"ml"}
    assert return_to == "/console"


def test_a_public_client_needs_no_secret(ours: Provider, there: OidcProvider, http: HttpxHttp):
    there.public_client = True
    assert log_in(Provider(replace(ours.settings, client_secret=None), http)).claims.display == "Ann"


def test_a_login_is_finished_once(ours: Provider):
    logins = CodeLogins(ours)
    begun = logins.begin(NOW_MS)
    answer = browse(begun.url)
    logins.finish(answer, begun.browser, NOW_MS)
    with pytest.raises(Unauthenticated, match="not begun here"):
        logins.finish(answer, begun.browser, NOW_MS)


def test_a_replayed_code_is_refused_by_the_provider(ours: Provider):
    logins = CodeLogins(ours)
    first, second = logins.begin(NOW_MS), logins.begin(NOW_MS)
    used, fresh = browse(first.url), browse(second.url)
    logins.finish(used, first.browser, NOW_MS)
    with pytest.raises(Unauthenticated, match="invalid_grant"):
        logins.finish({**fresh, "code": used["code"]}, second.browser, NOW_MS)


def test_a_stolen_code_is_useless_without_its_verifier(ours: Provider):
    logins = CodeLogins(ours)
    theirs, mine = logins.begin(NOW_MS), logins.begin(NOW_MS)
    stolen = browse(theirs.url)["code"]
    with pytest.raises(Unauthenticated, match="invalid_grant"):
        logins.finish({**browse(mine.url), "code": stolen}, mine.browser, NOW_MS)


def test_another_browser_cannot_finish_the_login(ours: Provider):
    logins = CodeLogins(ours)
    mine, theirs = logins.begin(NOW_MS), logins.begin(NOW_MS)
    with pytest.raises(Unauthenticated, match="not begun here"):
        logins.finish(browse(mine.url), theirs.browser, NOW_MS)


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
        logins.finish({**browse(begun.url), **changed}, begun.browser, NOW_MS)


def test_a_login_that_takes_too_long_is_over(ours: Provider):
    logins = CodeLogins(ours)
    begun = logins.begin(NOW_MS)
    with pytest.raises(Unauthenticated, match="too long"):
        logins.finish(browse(begun.url), begun.browser, NOW_MS + 600_000)


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/jobs?all=1", "/jobs?all=1"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("/a\r\nSet-Cookie: x", "/"),
        ("", "/"),
    ],
)
def test_after_the_login_one_stays_here(path: str, kept: str):
    assert local_path(path) == kept


# -- ID tokens -----------------------------------------------------------------------------------------------------


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
    assert log_in(ours).claims.display == "Ann"


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
    assert log_in(Provider(replace(ours.settings, algorithms=("RS512",)), http)).claims.display == "Ann"


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


# -- discovery and keys ----------------------------------------------------------------------------------------------


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


def test_answers_are_bounded_and_must_be_json(there: OidcProvider, http: HttpxHttp):
    there.discovery = lambda: (200, {"x": "y" * 1_000_001})  # type: ignore[method-assign]
    with pytest.raises(ProviderFailed, match="more than"):
        http.get(f"{there.issuer}/.well-known/openid-configuration")
    there.discovery = lambda: (200, ["a list"])  # type: ignore[method-assign,assignment,return-value]
    with pytest.raises(ProviderFailed, match="no JSON object"):
        http.get(f"{there.issuer}/.well-known/openid-configuration")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"issuer": "http://idp.example"}, "must be https"),
        ({"issuer": "https://user@idp.example"}, "without user"),
        ({"issuer": "idp.example"}, "full URL"),
        ({"redirect_uri": "http://quota.example/done"}, "must be https"),
        ({"algorithms": ("none",)}, "algorithms"),
        ({"algorithms": ("HS256",)}, "algorithms"),
        ({"algorithms": ()}, "algorithms"),
        ({"scopes": ("profile",)}, "openid"),
        ({"client_id": ""}, "empty"),
        ({"leeway_seconds": 301}, r"0\.\.300"),
    ],
)
def test_settings_that_are_unsafe_are_refused(changed: dict, said: str):
    right = OidcSettings("https://idp.example", CLIENT, REDIRECT, SECRET)
    assert SECRET not in repr(right)
    with pytest.raises(Refused, match=said):
        replace(right, **changed)


# -- device flow -----------------------------------------------------------------------------------------------------


def test_a_terminal_logs_in_by_the_device_flow(ours: Provider, there: OidcProvider):
    logins = DeviceLogins(ours)
    begun = logins.begin(NOW_MS)
    assert begun.verification_uri == f"{there.issuer}/enter"
    with pytest.raises(LoginPending) as pending:
        logins.ask(begun.handle, NOW_MS)
    assert pending.value.interval_ms == begun.interval_ms == 5000
    there.answer_device(begun.user_code)
    assert logins.ask(begun.handle, NOW_MS + 5000).display == "Ann"
    with pytest.raises(Unauthenticated, match="over"):
        logins.ask(begun.handle, NOW_MS + 10_000)


def test_the_provider_is_not_asked_more_often_than_it_wants(ours: Provider, there: OidcProvider):
    logins = DeviceLogins(ours)
    begun = logins.begin(NOW_MS)
    for wait_ms in (0, 1, 4999):
        with pytest.raises(LoginPending):
            logins.ask(begun.handle, NOW_MS + wait_ms)
    assert there.asked.count("/token") == 1
    there.answer_device(begun.user_code, "hurried")
    with pytest.raises(LoginPending) as slower:
        logins.ask(begun.handle, NOW_MS + 5000)
    assert slower.value.interval_ms == 10_000


def test_a_denied_login_is_over(ours: Provider, there: OidcProvider):
    logins = DeviceLogins(ours)
    begun = logins.begin(NOW_MS)
    there.answer_device(begun.user_code, "denied")
    with pytest.raises(Unauthenticated, match="access_denied"):
        logins.ask(begun.handle, NOW_MS)
    with pytest.raises(Unauthenticated, match="over"):
        logins.ask(begun.handle, NOW_MS + 5000)


def test_a_device_login_ends_by_itself_and_handles_cannot_be_made_up(ours: Provider):
    logins = DeviceLogins(ours)
    begun = logins.begin(NOW_MS)
    for handle, now_ms in (("made-up", NOW_MS), (begun.handle, begun.expires_ms)):
        with pytest.raises(Unauthenticated, match="over"):
            logins.ask(handle, now_ms)


def test_the_device_flow_checks_the_id_token_too(ours: Provider, there: OidcProvider):
    logins = DeviceLogins(ours)
    begun = logins.begin(NOW_MS)
    there.answer_device(begun.user_code)
    there.spoil = lambda header, claims: claims.update(aud="another-client")
    with pytest.raises(Unauthenticated, match="another client"):
        logins.ask(begun.handle, NOW_MS)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"device_code": None}, "no device_code"),
        ({"interval": 0}, "interval"),
        ({"expires_in": "x"}, "expires_in"),
    ],
)
def test_a_strange_answer_to_a_device_login_is_said_to_be_so(
    ours: Provider, there: OidcProvider, changed: dict[str, object], said: str
):
    real = there.device({})[1]
    there.device = lambda form: (200, {**real, **changed})  # type: ignore[method-assign]
    with pytest.raises(ProviderFailed, match=said):
        DeviceLogins(ours).begin(NOW_MS)


def test_a_provider_without_device_flow_says_so(ours: Provider, there: OidcProvider):
    real = there.discovery()[1]
    del real["device_authorization_endpoint"]
    there.discovery = lambda: (200, real)  # type: ignore[method-assign]
    with pytest.raises(ProviderFailed, match="no device login"):
        DeviceLogins(ours).begin(NOW_MS)


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
