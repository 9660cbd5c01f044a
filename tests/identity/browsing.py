"""What a browser does in a login, and when."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import httpx2

from quotatree.identity.oidc_claims import Claims
from quotatree.identity.oidc_code import CodeLogins
from quotatree.identity.oidc_provider import Provider
from tests.oidc_provider import REDIRECT

NOW_S = 1_800_000_000
NOW_MS = NOW_S * 1000


def browse(url: str) -> dict[str, str]:
    """What the browser is sent back to us with."""
    response = httpx2.get(url)
    assert response.status_code == 302, response.text
    location = response.headers["Location"]
    assert location.startswith(REDIRECT + "?")
    return {key: values[0] for key, values in parse_qs(urlsplit(location).query).items()}


def log_in(ours: Provider, now_ms: int = NOW_MS) -> Claims:
    logins = CodeLogins(ours)
    begun = logins.begin(now_ms)
    return logins.finish(browse(begun.url), begun.secret, now_ms)
