"""Login in a browser: authorization code with PKCE.

A login that has begun is kept in memory for ten minutes under its `state`, and can be finished once, by the browser
that began it: it holds a second secret in a cookie (`browser`), so that following a link cannot sign a user in to an
account that is not theirs.
"""

from __future__ import annotations

import base64
import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Final, NamedTuple
from urllib.parse import urlencode

from quotatree.identity.errors import Unauthenticated
from quotatree.identity.oidc_claims import Claims, claims_of
from quotatree.identity.oidc_provider import Provider
from quotatree.identity.secret import hash_of, matches, new_secret

KEPT_MS: Final = 10 * 60_000
MOST_KEPT: Final = 10_000


class Begun(NamedTuple):
    """A login that has begun: redirect to `url`, set `browser` as a short-lived cookie, and pass it to `finish`."""

    url: str
    browser: str


class Finished(NamedTuple):
    claims: Claims
    return_to: str


class _Waiting(NamedTuple):
    browser_hash: str
    nonce: str
    verifier: str
    return_to: str
    expires_ms: int


class CodeLogins:
    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()
        self._lock = Lock()

    def begin(self, now_ms: int, return_to: str = "/") -> Begun:
        settings = self._provider.settings
        endpoint = self._provider.metadata(now_ms).authorization_endpoint
        state, nonce, verifier, browser = (new_secret() for _ in range(4))
        waiting = _Waiting(hash_of(browser), nonce, verifier, local_path(return_to), now_ms + KEPT_MS)
        with self._lock:
            self._waiting[state] = waiting
            while len(self._waiting) > MOST_KEPT:
                self._waiting.popitem(last=False)
        query = {
            "response_type": "code",
            "client_id": settings.client_id,
            "redirect_uri": settings.redirect_uri,
            "scope": " ".join(settings.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge_of(verifier),
            "code_challenge_method": "S256",
        }
        return Begun(f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}", browser)

    def finish(self, answer: Mapping[str, str], browser: str, now_ms: int) -> Finished:
        """End a login. `answer` is the query with which the provider sent the browser back; `browser` is the cookie.

        Raises Unauthenticated if the login is unknown, too old, of another browser, or refused by the provider.
        """
        with self._lock:
            waiting = self._waiting.pop(answer.get("state", ""), None)
        if waiting is None or now_ms >= waiting.expires_ms or not matches(browser, waiting.browser_hash):
            raise Unauthenticated("this login was not begun here, or it took too long; sign in again")
        settings = self._provider.settings
        if answer.get("iss", settings.issuer) != settings.issuer:
            raise Unauthenticated("another provider answered")
        if "error" in answer:
            raise Unauthenticated(f"the provider refused the login: {answer['error']}")
        form = {
            "grant_type": "authorization_code",
            "code": answer.get("code", ""),
            "redirect_uri": settings.redirect_uri,
            "code_verifier": waiting.verifier,
        }
        status, body = self._provider.ask_for_token(form, now_ms)
        if status != 200:
            raise Unauthenticated(f"the provider refused the code: {body.get('error', status)}")
        claims = claims_of(self._provider, body.get("id_token"), waiting.nonce, now_ms)
        return Finished(claims, waiting.return_to)


def challenge_of(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def local_path(path: str) -> str:
    """The path to go to after the login; "/" if it is not a path of this site."""
    ours = path.startswith("/") and path[1:2] not in ("/", "\\")
    return path if ours and path.isprintable() else "/"
