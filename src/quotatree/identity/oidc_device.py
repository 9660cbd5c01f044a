"""Login from a terminal: the device flow (RFC 8628).

The terminal shows a code and an address; the person confirms in any browser; the terminal keeps asking us, and we keep
asking the provider, never more often than it wants. What the provider gave us to ask with stays here; the terminal
gets a handle of ours.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any, Final, NamedTuple

from quotatree.identity.errors import LoginPending, ProviderFailed, Unauthenticated
from quotatree.identity.oidc_claims import Claims, claims_of
from quotatree.identity.oidc_provider import Provider
from quotatree.identity.secret import hash_of, new_secret

GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
DEFAULT_INTERVAL_SECONDS: Final = 5
SLOWER_MS: Final = 5_000
MOST_KEPT: Final = 1_000


class DeviceBegun(NamedTuple):
    """What the terminal shows, and the handle with which it asks for the result."""

    handle: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str | None
    interval_ms: int
    expires_ms: int


class _Waiting(NamedTuple):
    device_code: str
    interval_ms: int
    next_ms: int
    expires_ms: int


class DeviceLogins:
    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()
        self._lock = Lock()

    def begin(self, now_ms: int) -> DeviceBegun:
        status, body = self._provider.ask_for_device(now_ms)
        if status != 200:
            raise ProviderFailed(f"the provider refuses device logins: {body.get('error', status)}")
        complete = body.get("verification_uri_complete")
        begun = DeviceBegun(
            new_secret(),
            _text(body, "user_code"),
            _text(body, "verification_uri"),
            complete if isinstance(complete, str) else None,
            1000 * _whole(body, "interval", DEFAULT_INTERVAL_SECONDS),
            now_ms + 1000 * _whole(body, "expires_in", 600),
        )
        waiting = _Waiting(_text(body, "device_code"), begun.interval_ms, now_ms, begun.expires_ms)
        with self._lock:
            self._waiting[hash_of(begun.handle)] = waiting
            while len(self._waiting) > MOST_KEPT:
                self._waiting.popitem(last=False)
        return begun

    def ask(self, handle: str, now_ms: int) -> Claims:
        """The claims of a confirmed login, once. Raises LoginPending until the user has answered."""
        key = hash_of(handle)
        waiting = self._take_turn(key, now_ms)
        form = {"grant_type": GRANT, "device_code": waiting.device_code}
        status, body = self._provider.ask_for_token(form, now_ms)
        error = body.get("error")
        if status != 200 and error in ("authorization_pending", "slow_down"):
            interval_ms = waiting.interval_ms + (SLOWER_MS if error == "slow_down" else 0)
            with self._lock:
                if key in self._waiting:
                    next_ms = now_ms + interval_ms
                    self._waiting[key] = waiting._replace(interval_ms=interval_ms, next_ms=next_ms)
            raise LoginPending(interval_ms)
        with self._lock:
            ours = self._waiting.pop(key, None) is not None
        if status != 200 or not ours:
            raise Unauthenticated(f"the provider refused the login: {error or status}")
        return claims_of(self._provider, body.get("id_token"), None, now_ms)

    def _take_turn(self, key: str, now_ms: int) -> _Waiting:
        """The login of this handle, if it may be asked for now. Raises LoginPending before its interval has passed."""
        with self._lock:
            waiting = self._waiting.get(key)
            if waiting is not None and now_ms >= waiting.expires_ms:
                del self._waiting[key]
                waiting = None
            if waiting is None:
                raise Unauthenticated("this login is over or took too long; begin again")
            if now_ms < waiting.next_ms:
                raise LoginPending(waiting.next_ms - now_ms)
            self._waiting[key] = waiting._replace(next_ms=now_ms + waiting.interval_ms)
            return waiting


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise ProviderFailed(f"the provider's answer to a device login has no {name}")
    return value


def _whole(body: dict[str, Any], name: str, default: int) -> int:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 86_400:
        raise ProviderFailed(f"the provider's answer to a device login has a strange {name}: {value!r}")
    return value
