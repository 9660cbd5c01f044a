"""How does the server log? One JSON object a line, times in UTC, and never a secret."""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from typing import Any, Final, TextIO

import structlog

SECRET_WORDS: Final = ("secret", "password", "token", "authorization", "cookie", "hash", "signature")


def configure(stream: TextIO | None = None) -> None:
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            hide_secrets,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.WriteLoggerFactory(stream or sys.stderr),
        cache_logger_on_first_use=False,
    )


def hide_secrets(_logger: object, _method: str, entry: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace by three dots the value of each field whose name contains one of SECRET_WORDS."""
    for name, value in entry.items():
        if any(word in name.lower() for word in SECRET_WORDS):
            entry[name] = "..."
        elif isinstance(value, dict):
            entry[name] = hide_secrets(_logger, _method, dict(value))
    return entry
