"""What can the API of a cluster answer instead of what was asked for?

ClusterError             the API server refused, or could not be reached
├── Missing              404: no such object, or no such kind
├── Clash                409: it exists already, or was changed in between
├── Denied               401 or 403: this account may not
└── Expired              410: a watch or list from so long ago cannot be continued
NoClient                 the client library is not installed, or finds no cluster to talk to
"""

from __future__ import annotations

import json
from typing import Final

from quotatree.core import QuotaTreeError

UNREACHED: Final = 0
LONGEST_MESSAGE: Final = 2_000


class ClusterError(QuotaTreeError):
    """The API server said no, or nothing. `status` is that of HTTP, 0 if there was no answer; `reason` the API's word."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        self.status = status
        self.reason = reason
        self.message = message[:LONGEST_MESSAGE]
        super().__init__(self.message or reason or f"HTTP {status}")

    @property
    def transient(self) -> bool:
        """Whether the same request may succeed later: no answer, too many requests, or a fault of the server."""
        return self.status in (UNREACHED, 408, 429) or self.status >= 500


class Missing(ClusterError):
    pass


class Clash(ClusterError):
    pass


class Denied(ClusterError):
    pass


class Expired(ClusterError):
    pass


class NoClient(QuotaTreeError):
    """There is no way to talk to a cluster; the message says what to do."""


_CLASSES: Final = {401: Denied, 403: Denied, 404: Missing, 409: Clash, 410: Expired}


def error_of(status: int, body: bytes) -> ClusterError:
    """The error that an answer of the API server stands for; its body is a Status object, or plain text from a proxy."""
    reason, message = "", body.decode("utf-8", "replace").strip()
    try:
        said = json.loads(body)
    except ValueError:
        said = None
    if isinstance(said, dict):
        reason, message = str(said.get("reason") or ""), str(said.get("message") or "")
    return _CLASSES.get(status, ClusterError)(status, reason, message)
