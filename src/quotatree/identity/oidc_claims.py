"""Is this ID token genuine, fresh and meant for us, and whom does it speak of?

Checked: the algorithm against the allow-list, the signature against the provider's keys, `iss`, `aud` (and `azp` where
there are several), `exp`, `iat`, `nbf` if given, `sub`, and the nonce of the login it must belong to.
"""

from __future__ import annotations

import hmac
import math
from typing import Any, NamedTuple, NoReturn

from joserfc import jws, jwt
from joserfc.errors import JoseError

from quotatree.identity.errors import Unauthenticated
from quotatree.identity.oidc_provider import Provider
from quotatree.identity.oidc_settings import OidcSettings


class Claims(NamedTuple):
    """What is taken from a valid ID token. `identity` is unique and lasting; `wanted_name` is neither."""

    identity: str
    wanted_name: str
    display: str
    email: str
    groups: frozenset[str]


def claims_of(provider: Provider, id_token: object, nonce: str | None, now_ms: int) -> Claims:
    """The claims of an ID token; raises Unauthenticated unless it is valid.

    `nonce` is the one sent with the login; None only for the device flow, which sends none.
    """
    settings = provider.settings
    if not isinstance(id_token, str):
        raise Unauthenticated("the provider sent no ID token")
    try:
        kid = jws.extract_compact(id_token.encode("utf-8", "replace")).headers().get("kid")
        keys = provider.keys(now_ms, kid if isinstance(kid, str) else None)
        body = jwt.decode(id_token, keys, algorithms=list(settings.algorithms)).claims
    except (JoseError, ValueError) as error:
        raise Unauthenticated(f"the ID token is not valid: {error}") from error
    _check(body, settings, nonce, now_ms)
    return Claims(
        identity=f"{settings.issuer} {body['sub']}",
        wanted_name=_text(body, settings.name_claim),
        display=_text(body, "name"),
        email=_text(body, "email"),
        groups=_groups(body.get(settings.groups_claim)),
    )


def _check(body: dict[str, Any], settings: OidcSettings, nonce: str | None, now_ms: int) -> None:
    audience = body.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    now_s, leeway_s = now_ms / 1000, settings.leeway_seconds
    if body.get("iss") != settings.issuer:
        _refuse("another issuer made it")
    if settings.client_id not in audiences:
        _refuse("it is meant for another client")
    if (len(audiences) > 1 or "azp" in body) and body.get("azp") != settings.client_id:
        _refuse("it was issued to another client")
    if not isinstance(body.get("sub"), str) or not body["sub"]:
        _refuse("it names no subject")
    if _seconds(body, "exp") + leeway_s <= now_s:
        _refuse("it has expired")
    if _seconds(body, "iat") - leeway_s > now_s or (
        "nbf" in body and _seconds(body, "nbf") - leeway_s > now_s
    ):
        _refuse("it is not valid yet")
    if nonce is not None and not hmac.compare_digest(_text(body, "nonce").encode(), nonce.encode()):
        _refuse("it belongs to another login (nonce)")


def _seconds(body: dict[str, Any], name: str) -> float:
    value = body.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        _refuse(f"{name} is missing or no number")
    return float(value)


def _refuse(why: str) -> NoReturn:
    raise Unauthenticated(f"the ID token is not valid: {why}")


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) else ""


def _groups(value: object) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset({value})
    return frozenset(one for one in value if isinstance(one, str)) if isinstance(value, list) else frozenset()
