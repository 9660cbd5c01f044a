"""Which part of QuotaTree is not installed here? The plain installation is the command line and its client alone."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

SERVER: Final = (
    "alembic", "anyio", "argon2", "fastapi", "h11", "httptools", "joserfc", "prometheus_client", "psycopg", "pydantic",
    "pynvml", "sqlalchemy", "structlog", "uvicorn", "uvloop",
)  # fmt: skip
"""What the extra `server` brings, by the names that are imported."""
HOW: Final = (
    "install it with its server: pipx install --force 'quotatree[server]', or pip install 'quotatree[server]'"
)


def missing_of_server() -> list[str]:
    """What a server, the demo, or a command on the data itself would not find here."""
    return [name for name in SERVER if find_spec(name) is None]


def told(error: ModuleNotFoundError) -> str | None:
    """What to say to the user of a command that did not find a module; None: it is none that an extra brings."""
    name = (error.name or "").partition(".")[0]
    if name not in SERVER:
        return None
    return f"this needs the server's packages, and {name} is not there; {HOW}"
