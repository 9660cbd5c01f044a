"""What can be wrong with what is applied, before a server is asked."""

from __future__ import annotations

from quotatree.core import QuotaTreeError


class WrongManifest(QuotaTreeError):
    """What is said cannot be read; the message names the place and what is allowed."""
