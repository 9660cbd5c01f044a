"""Does the server answer, does it write, does it know the token, and is its clock ours?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from quotatree.cli.run.doctor.finding import Finding, bad, ok, warning

if TYPE_CHECKING:
    from quotatree.cli.contexts import Target
    from quotatree.client import Client

PATIENCE_SECONDS: Final = 5.0
CLOCK_SECONDS: Final = 30.0
ANOTHER: Final = "another program or a proxy answers there"
ADDRESS: Final = "name another address: --server URL, or QUOTATREE_URL"


def findings(target: Target) -> Iterator[Finding]:
    from quotatree.client import Client
    from quotatree.client.errors import BadAnswer, ClientError

    with Client(target.url, target.token, timeout_seconds=PATIENCE_SECONDS, sleep=lambda _: None) as client:
        try:
            health = client.health()
        except BadAnswer as error:
            yield bad("server", str(error), f"{ANOTHER}: {ADDRESS}")
            return
        except ClientError as error:
            yield bad("server", str(error), f"start one (`quotatree serve`), or {ADDRESS}")
            return
        if not _is_health(health):
            yield bad("server", f"{target.url}: what answers is not QuotaTree", f"{ANOTHER}: {ADDRESS}")
            return
        told = f"{target.url}: {health['mode']}, {health['waiting']} request(s) waiting"
        if health["writable"]:
            yield ok("server", told)
        else:
            why = health.get("detail") or "another server leads, or its store cannot be reached"
            yield bad("server", told, f"{why}: look into its log, and into that of the server that leads")
        yield from _clock(target.url)
        yield from _token(client, target)


def _is_health(answer: object) -> bool:
    """Whether it is what our server answers, and not some JSON of another program."""
    return isinstance(answer, dict) and {"mode", "writable", "waiting"} <= set(answer)


def _clock(url: str) -> Iterator[Finding]:
    """Compare the date of an answer with the time here: OIDC and certificates fail where they are apart."""
    import httpx2

    try:
        sent = httpx2.get(f"{url}/healthz", timeout=PATIENCE_SECONDS).headers.get("date", "")
        apart = parsedate_to_datetime(sent).timestamp() - time.time()
    except (httpx2.HTTPError, ValueError):
        return  # a server that names no date, or an end between the two questions, says nothing about clocks
    if abs(apart) > CLOCK_SECONDS:
        direction = "ahead of" if apart > 0 else "behind"
        yield warning(
            "clock", f"the server's is {abs(apart):.0f} s {direction} this machine's", "let both follow NTP"
        )
    else:
        yield ok("clock", "the server's is this machine's")


def _token(client: Client, target: Target) -> Iterator[Finding]:
    from quotatree.client.errors import ClientError

    if target.token is None:
        yield warning("token", "none for this server", f"quotatree login {target.url}")
        return
    try:
        yield ok("token", f"of {client.whoami()['user']['name']}")
    except ClientError as error:
        yield bad("token", str(error), f"log in again: quotatree login {target.url}")
