"""How does the server log? One JSON object a line, times in UTC, and never a secret.

JSON is ASCII here: what others wrote can neither begin a line nor steer the terminal of those who read the log.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, Final, TextIO

import structlog

SECRET_WORDS: Final = ("secret", "password", "token", "authorization", "cookie", "hash", "signature")


class _AsJson(logging.Handler):
    """Has records of Python's own logging, which parts and libraries use, written as the others."""

    def emit(self, record: logging.LogRecord) -> None:
        said = structlog.get_logger(record.name)
        said.log(record.levelno, record.getMessage(), logger=record.name, exc_info=record.exc_info)


def configure(stream: TextIO | None = None) -> None:
    if not any(isinstance(handler, _AsJson) for handler in logging.root.handlers):
        logging.root.addHandler(_AsJson())
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
