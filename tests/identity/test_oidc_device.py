"""A terminal logs in by the device flow, against a provider that really runs."""

from __future__ import annotations

import pytest

from quotatree.identity.errors import LoginPending, ProviderFailed, Unauthenticated
from quotatree.identity.oidc_device import DeviceLogins
from quotatree.identity.oidc_provider import Provider
from tests.identity.browsing import NOW_MS
from tests.oidc_provider import OidcProvider


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
