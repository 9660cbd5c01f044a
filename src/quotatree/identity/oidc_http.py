"""The few HTTP calls that OIDC needs, behind one small seam."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol

import httpx2

from quotatree.identity.errors import ProviderFailed

TIMEOUT_SECONDS: Final = 10.0
LARGEST_BODY: Final = 1_000_000


class Reply(NamedTuple):
    status: int
    body: dict[str, Any]


class Http(Protocol):
    """HTTP as OIDC needs it. Both methods raise ProviderFailed if there is no answer or it is no JSON object."""

    def get(self, url: str) -> Reply: ...

    def post(self, url: str, form: Mapping[str, str], basic: tuple[str, str] | None = None) -> Reply: ...


class HttpxHttp:
    """HTTP over httpx2. Redirects are not followed: discovery tells where an endpoint has moved to."""

    def __init__(self, timeout_seconds: float = TIMEOUT_SECONDS, client: httpx2.Client | None = None) -> None:
        self._client = client or httpx2.Client(timeout=timeout_seconds, follow_redirects=False)

    def get(self, url: str) -> Reply:
        return self._send("GET", url, {}, None)

    def post(self, url: str, form: Mapping[str, str], basic: tuple[str, str] | None = None) -> Reply:
        return self._send("POST", url, form, basic)

    def close(self) -> None:
        self._client.close()

    def _send(self, method: str, url: str, form: Mapping[str, str], basic: tuple[str, str] | None) -> Reply:
        accept = {"Accept": "application/json"}
        try:
            with self._client.stream(
                method, url, data=dict(form) or None, headers=accept, auth=basic
            ) as response:
                body = b""
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > LARGEST_BODY:
                        raise ProviderFailed(f"{url} answers with more than {LARGEST_BODY} bytes")
                status = response.status_code
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ProviderFailed(f"{url} cannot be reached: {type(error).__name__}") from error
        try:
            found = json.loads(body)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise ProviderFailed(f"{url} answers {status} with something that is no JSON object")
        return Reply(status, found)
