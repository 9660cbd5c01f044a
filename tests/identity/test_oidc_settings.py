"""Settings that are unsafe are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quotatree.core.errors import Refused
from quotatree.identity.oidc_settings import OidcSettings
from tests.oidc_provider import CLIENT, REDIRECT, SECRET


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
