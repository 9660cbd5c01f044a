"""A small OIDC provider on loopback, for tests: discovery, keys, code flow with PKCE, device flow, RS256.

It checks what a real one checks: the client and its secret, the redirect URI, the challenge, that a code is used once
and in time. The person at the browser is `login(...)`: whoever it names is signed in without being asked. Tests spoil
its ID tokens with `spoil`, which gets the header and the claims just before they are signed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

CLIENT, SECRET = "quotatree", "s3cret & more"
REDIRECT = "http://localhost:8700/api/v1/login/oidc/done"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"

Spoil = Callable[[dict[str, Any], dict[str, Any]], None]


class OidcProvider:
    """Use as a context manager. `now_s` is its clock."""

    def __init__(self, key: RSAKey, now_s: int = 1_800_000_000) -> None:
        self.now_s = now_s
        self.key = self.published = key
        self.person: dict[str, Any] = {"sub": "u-1"}
        self.public_client = False
        self.redirect = REDIRECT
        self.spoil: Spoil = lambda header, claims: None
        self.asked: list[str] = []
        self._codes: dict[str, dict[str, str]] = {}
        self._devices: dict[str, dict[str, Any]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> OidcProvider:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def login(self, sub: str, **claims: Any) -> None:
        """From now on this is who sits at the browser."""
        self.person = {"sub": sub, **claims}

    def answer_device(self, user_code: str, answer: str = "approved") -> None:
        """The person types the code in and says yes, or no ("denied")."""
        device = next(d for d in self._devices.values() if d["user_code"] == user_code)
        device["answer"] = answer

    # -- endpoints -------------------------------------------------------------------------------------------

    def discovery(self) -> tuple[int, dict[str, Any]]:
        names = {
            "authorization_endpoint": "authorize",
            "token_endpoint": "token",
            "jwks_uri": "jwks",
            "device_authorization_endpoint": "device",
        }
        return 200, {"issuer": self.issuer} | {name: f"{self.issuer}/{path}" for name, path in names.items()}

    def jwks(self) -> tuple[int, dict[str, Any]]:
        keys = KeySet([self.published]).as_dict(private=False)
        return 200, dict(keys)

    def authorize(self, query: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """A redirect, as (302, {"location": …})."""
        if query.get("client_id") != CLIENT or query.get("redirect_uri") != self.redirect:
            return 400, {"error": "invalid_request"}
        if query.get("response_type") != "code" or query.get("code_challenge_method") != "S256":
            answer = {"error": "invalid_request"}
        else:
            code = secrets.token_urlsafe(16)
            self._codes[code] = {**query, "until": str(self.now_s + 60)}
            answer = {"code": code, "iss": self.issuer}
        location = f"{self.redirect}?{urlencode({**answer, 'state': query.get('state', '')})}"
        return 302, {"location": location}

    def device(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        device_code, user_code = secrets.token_urlsafe(16), secrets.token_hex(4).upper()
        self._devices[device_code] = {"user_code": user_code, "answer": None, "until": self.now_s + 300}
        return 200, {
            "device_code": device_code,
            "user_code": user_code,
            "verification_uri": f"{self.issuer}/enter",
            "expires_in": 300,
            "interval": 5,
        }

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if form.get("grant_type") == DEVICE_GRANT:
            return self._token_for_device(form)
        code = self._codes.pop(form.get("code", ""), None)
        if code is None or int(code["until"]) < self.now_s or form.get("redirect_uri") != self.redirect:
            return 400, {"error": "invalid_grant"}
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != code["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        return 200, self._tokens({"nonce": code["nonce"]})

    def _token_for_device(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        device = self._devices.get(form.get("device_code", ""))
        if device is None or device["until"] < self.now_s:
            return 400, {"error": "expired_token"}
        if device["answer"] is None:
            return 400, {"error": "authorization_pending"}
        if device["answer"] == "hurried":
            device["answer"] = None
            return 400, {"error": "slow_down"}
        del self._devices[form["device_code"]]
        return (
            (200, self._tokens({})) if device["answer"] == "approved" else (400, {"error": "access_denied"})
        )

    def _tokens(self, extra: dict[str, str]) -> dict[str, Any]:
        times = {"iat": self.now_s, "exp": self.now_s + 300}
        claims = {"iss": self.issuer, "aud": CLIENT, **times, **self.person, **extra}
        header = {"alg": "RS256", "kid": self.key.kid}
        self.spoil(header, claims)
        return {"access_token": "opaque", "token_type": "Bearer", "id_token": self.sign(header, claims)}

    def sign(self, header: dict[str, Any], claims: dict[str, Any]) -> str:
        if header["alg"] == "none":
            parts = (base64.urlsafe_b64encode(json.dumps(p).encode()).rstrip(b"=") for p in (header, claims))
            return b".".join(parts).decode() + "."
        return jwt.encode(header, claims, self.key)

    # -- HTTP ------------------------------------------------------------------------------------------------

    def _client_is_known(self, form: dict[str, str], authorization: str) -> bool:
        if self.public_client:
            return form.get("client_id") == CLIENT
        user, _, password = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
        return (unquote_plus(user), unquote_plus(password)) == (CLIENT, SECRET)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                query = {key: values[0] for key, values in parse_qs(parts.query).items()}
                provider.asked.append(parts.path)
                if parts.path == "/.well-known/openid-configuration":
                    self._answer(*provider.discovery())
                elif parts.path == "/jwks":
                    self._answer(*provider.jwks())
                elif parts.path == "/authorize":
                    self._answer(*provider.authorize(query))
                else:
                    self._answer(404, {"error": "not_found"})

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                form = {key: values[0] for key, values in parse_qs(body).items()}
                provider.asked.append(self.path)
                if not provider._client_is_known(form, self.headers.get("Authorization", "")):
                    self._answer(401, {"error": "invalid_client"})
                elif self.path == "/token":
                    self._answer(*provider.token(form))
                elif self.path == "/device":
                    self._answer(*provider.device(form))
                else:
                    self._answer(404, {"error": "not_found"})

            def _answer(self, status: int, body: dict[str, Any]) -> None:
                content = json.dumps(body).encode()
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", body["location"])
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                """A test prints nothing."""

        return Handler
