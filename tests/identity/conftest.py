"""A provider that really runs, and we as its client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from joserfc.jwk import RSAKey

from quotatree.identity.oidc_http import HttpxHttp
from quotatree.identity.oidc_provider import Provider
from quotatree.identity.oidc_settings import OidcSettings
from tests.identity.browsing import NOW_S
from tests.oidc_provider import CLIENT, REDIRECT, SECRET, OidcProvider


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
