"""How does a request get there, and when is it safe to send it again?

What changes nothing is repeated a few times when the way is bad or the server cannot write. So is a create, because it
carries a key by which the server knows the repetition. Everything else is sent once: the caller must look what became
of it.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import httpx2

from quotatree.client.errors import ApiError, BadAnswer, NotReachable, NotSent, Unavailable, error_of

PREFIX: Final = "/api/v1"
TRIES: Final = 4
FIRST_PAUSE_SECONDS: Final = 0.2
LONGEST_PAUSE_SECONDS: Final = 5.0
CONNECT_SECONDS: Final = 5.0

Params = Mapping[str, Any]


class Transport:
    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_seconds: float = 30.0,
        http: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`http` replaces the network and `sleep` the pauses, for tests."""
        self._sleep = sleep
        headers = {"Accept": "application/json"}
        if token is not None:
            _check_header("a token", token)
            headers["Authorization"] = f"Bearer {token}"
        try:
            self._http = httpx2.Client(
                base_url=url.rstrip("/"),
                headers=headers,
                timeout=httpx2.Timeout(timeout_seconds, connect=CONNECT_SECONDS),
                transport=http,
                # Certificates take a while to load, and plain HTTP has no use for them.
                verify=not url.startswith("http://"),
            )
        except httpx2.InvalidURL as error:
            raise NotReachable(f"{url}: {error}") from None
        self.url = url

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, params: Params | None = None) -> Any:
        return self._repeated("GET", path, params=params)

    def create(self, path: str, body: Any, key: str | None = None) -> Any:
        """Send a POST that is safe to repeat, by the caller's key or a new one."""
        _check_header("a key", key or "")
        headers = {"Idempotency-Key": key or secrets.token_urlsafe(18)}
        return self._repeated("POST", path, body=body, headers=headers)

    def change(
        self, method: str, path: str, body: Any = None, version: int | str | None = None,
        params: Params | None = None, headers: Mapping[str, str] | None = None,
    ) -> Any:  # fmt: skip
        """Send a request once. With `version` it succeeds only if the target still has it; "*" accepts any."""
        sent = dict(headers or {})
        if version is not None:
            sent["If-Match"] = version if isinstance(version, str) else f'"{version}"'
        return self._once(method, path, body=body, params=params, headers=sent)

    def stream(self, path: str, params: Params, headers: Mapping[str, str]) -> Any:
        """A response without end, as a context manager of httpx2."""
        timeout = httpx2.Timeout(CONNECT_SECONDS, read=60.0)
        return self._http.stream(
            "GET", PREFIX + path, params=_listed(params), headers=dict(headers), timeout=timeout
        )

    def _repeated(self, method: str, path: str, **request: Any) -> Any:
        pause = FIRST_PAUSE_SECONDS
        for tried in range(1, TRIES + 1):
            try:
                return self._once(method, path, **request)
            except (NotReachable, Unavailable) as error:
                if tried == TRIES:
                    raise
                asked = error.retry_after_seconds if isinstance(error, Unavailable) else None
                self._sleep(min(max(pause, asked or 0), LONGEST_PAUSE_SECONDS))
                pause *= 2
        raise AssertionError("unreachable")

    def _once(
        self, method: str, path: str, body: Any = None, params: Params | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:  # fmt: skip
        where = path if path in ("/healthz", "/readyz") else PREFIX + path
        sent = dict(headers or {})
        if body is not None:
            sent["Content-Type"] = "application/json"
        try:
            answer = self._http.request(
                method, where, params=_listed(params or {}), headers=sent,
                content=None if body is None else _as_json(body),
            )  # fmt: skip
        except httpx2.TransportError as error:
            said = re.sub(r"^\[Errno -?\d+\] ", "", str(error))
            raise NotReachable(f"{self.url}: {said or type(error).__name__}") from None
        return read(answer)


def read(answer: httpx2.Response) -> Any:
    """The body of a successful answer; otherwise raises the server's error.

    A 503 that is not a problem is returned too: /readyz says with it what is missing.
    """
    try:
        data = answer.json() if answer.content else None
    except ValueError:
        raise BadAnswer(f"{answer.url}: HTTP {answer.status_code}, and no JSON") from None
    if answer.is_success:
        return data
    if not isinstance(data, dict) or "code" not in data:
        if answer.status_code == 503 and isinstance(data, dict):
            return data
        raise BadAnswer(f"{answer.url}: HTTP {answer.status_code}, and not a problem of QuotaTree")
    raise _timed(error_of(answer.status_code, data), answer)


def _as_json(body: Any) -> bytes:
    """The body of a request. Raises NotSent for what JSON cannot say: no finite number, a date, a list inside itself."""
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        raise NotSent("a text contains half of a surrogate pair") from None
    except (TypeError, ValueError, RecursionError) as problem:
        raise NotSent(f"this cannot be sent as JSON: {problem}") from None


def _check_header(what: str, text: str) -> None:
    """Raise NotSent unless the text can stand in a header; it is not told, it may be a secret."""
    if not (text.isascii() and text.isprintable()):
        raise NotSent(f"{what} has only printable ASCII characters; this one has others")


def _timed(error: ApiError, answer: httpx2.Response) -> ApiError:
    text = answer.headers.get("Retry-After", "")
    if text.isdecimal():
        error.retry_after_seconds = float(text)
    return error


def _listed(params: Params) -> dict[str, Any]:
    """Query parameters without those that are None or empty; booleans as the server spells them."""
    return {
        name: {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value
        for name, value in params.items()
        if value is not None and value != ()
    }
