"""Login in a browser: authorization code with PKCE.

A login that has begun is kept in memory for ten minutes under its `state`, and can be finished once, by the page
that began it: it holds a second secret, so that following a link cannot sign a user in to an account that is not
theirs. The secret is no cookie, since a service of a job could set one for the whole host.
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
    """A login that has begun: the page keeps `secret`, goes to `url`, and passes the secret to `finish`."""

    url: str
    secret: str


class _Waiting(NamedTuple):
    secret_hash: str
    nonce: str
    verifier: str
    expires_ms: int


class CodeLogins:
    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()
        self._lock = Lock()

    def begin(self, now_ms: int) -> Begun:
        settings = self._provider.settings
        endpoint = self._provider.metadata(now_ms).authorization_endpoint
        state, nonce, verifier, secret = (new_secret() for _ in range(4))
        waiting = _Waiting(hash_of(secret), nonce, verifier, now_ms + KEPT_MS)
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
        return Begun(f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}", secret)

    def finish(self, answer: Mapping[str, str], secret: str, now_ms: int) -> Claims:
        """End a login: who it is. `answer` is the query with which the provider sent the browser back.

        Raises Unauthenticated if the login is unknown, too old, of another page, or refused by the provider.
        """
        with self._lock:
            waiting = self._waiting.pop(answer.get("state", ""), None)
        if waiting is None or now_ms >= waiting.expires_ms or not matches(secret, waiting.secret_hash):
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
        return claims_of(self._provider, body.get("id_token"), waiting.nonce, now_ms)


def challenge_of(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")
