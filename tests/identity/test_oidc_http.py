"""Answers of a provider are bounded, and must be JSON."""

from __future__ import annotations

import pytest

from quotatree.identity.errors import ProviderFailed
from quotatree.identity.oidc_http import HttpxHttp
from tests.oidc_provider import OidcProvider


def test_answers_are_bounded_and_must_be_json(there: OidcProvider, http: HttpxHttp):
    there.discovery = lambda: (200, {"x": "y" * 1_000_001})  # type: ignore[method-assign]
    with pytest.raises(ProviderFailed, match="more than"):
        http.get(f"{there.issuer}/.well-known/openid-configuration")
    there.discovery = lambda: (200, ["a list"])  # type: ignore[method-assign,assignment,return-value]
    with pytest.raises(ProviderFailed, match="no JSON object"):
        http.get(f"{there.issuer}/.well-known/openid-configuration")
