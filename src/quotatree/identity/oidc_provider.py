"""What does the provider say about itself? Its discovery document and its keys, fetched when needed and kept a while."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any, Final, NamedTuple
from urllib.parse import quote_plus

from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from quotatree.core import Refused
from quotatree.identity.errors import ProviderFailed
from quotatree.identity.oidc_http import Http, Reply
from quotatree.identity.oidc_settings import OidcSettings, check_url

KEPT_MS: Final = 3_600_000
"""How long discovery and keys are kept before they are fetched again."""
REFETCH_MS: Final = 30_000
"""The least time between fetches for unknown key ids: such a key may be new, but made-up ids must not cause floods."""


class Metadata(NamedTuple):
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    device_endpoint: str | None
    secret_in_form: bool
    """The provider accepts the client's secret only in the form, not as Basic authentication."""


class Provider:
    """One OIDC provider. Thread-safe; methods take the present time as an argument."""

    def __init__(self, settings: OidcSettings, http: Http) -> None:
        self.settings = settings
        self._http = http
        self._lock = Lock()
        self._metadata: tuple[int, Metadata] | None = None
        self._keys: tuple[int, KeySet] | None = None

    def metadata(self, now_ms: int) -> Metadata:
        with self._lock:
            if self._metadata is None or now_ms - self._metadata[0] >= KEPT_MS:
                self._metadata = (now_ms, self._discover())
            return self._metadata[1]

    def keys(self, now_ms: int, kid: str | None) -> KeySet:
        """The provider's keys, fetched again if they are old or `kid` is not among them."""
        uri = self.metadata(now_ms).jwks_uri
        with self._lock:
            if self._keys is not None:
                age_ms = now_ms - self._keys[0]
                known = kid is None or any(key.kid == kid for key in self._keys[1])
                if age_ms < (KEPT_MS if known else REFETCH_MS):
                    return self._keys[1]
            self._keys = (now_ms, self._fetch_keys(uri))
            return self._keys[1]

    def ask_for_token(self, form: Mapping[str, str], now_ms: int) -> Reply:
        return self._as_client(self.metadata(now_ms).token_endpoint, form, now_ms)

    def ask_for_device(self, now_ms: int) -> Reply:
        endpoint = self.metadata(now_ms).device_endpoint
        if endpoint is None:
            raise ProviderFailed(f"{self.settings.issuer} offers no device login")
        return self._as_client(endpoint, {"scope": " ".join(self.settings.scopes)}, now_ms)

    def _as_client(self, url: str, form: Mapping[str, str], now_ms: int) -> Reply:
        settings = self.settings
        if settings.client_secret is None:
            return self._http.post(url, {**form, "client_id": settings.client_id})
        if self.metadata(now_ms).secret_in_form:
            secret = {"client_id": settings.client_id, "client_secret": settings.client_secret}
            return self._http.post(url, {**form, **secret})
        return self._http.post(
            url, form, (quote_plus(settings.client_id), quote_plus(settings.client_secret))
        )

    def _discover(self) -> Metadata:
        issuer = self.settings.issuer
        url = issuer.rstrip("/") + "/.well-known/openid-configuration"
        status, body = self._http.get(url)
        if status != 200:
            raise ProviderFailed(f"{url} answers {status}")
        if body.get("issuer") != issuer:
            raise ProviderFailed(f"{url} speaks for issuer {body.get('issuer')!r}, not for {issuer!r}")
        methods = body.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        return Metadata(
            _endpoint(body, "authorization_endpoint"),
            _endpoint(body, "token_endpoint"),
            _endpoint(body, "jwks_uri"),
            _endpoint(body, "device_authorization_endpoint")
            if "device_authorization_endpoint" in body
            else None,
            "client_secret_basic" not in methods,
        )

    def _fetch_keys(self, uri: str) -> KeySet:
        status, body = self._http.get(uri)
        if status != 200 or not isinstance(body.get("keys"), list):
            raise ProviderFailed(f"{uri} answers {status} without a list of keys")
        public = [key for key in body["keys"] if isinstance(key, dict) and key.get("kty") != "oct"]
        try:
            return KeySet.import_key_set({"keys": public})
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise ProviderFailed(f"{uri} holds no key we can read: {error}") from error


def _endpoint(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise ProviderFailed(f"the discovery document has no {name}")
    try:
        return check_url(name, value)
    except Refused as refused:
        raise ProviderFailed(f"the discovery document: {refused}") from refused
