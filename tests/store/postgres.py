"""A real PostgreSQL for the tests: on a socket in a directory of its own, gone when they end."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

TEMPLATE = "empty_store"
OWNER = "quotatree"


def binaries() -> Path | None:
    """Where initdb and pg_ctl are: on PATH, Debian's place, or inside the PyPI package pgserver."""
    found = shutil.which("initdb")
    if found and (Path(found).resolve().parent / "pg_ctl").exists():
        return Path(found).resolve().parent
    for place in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (place / "initdb").exists():
            return place
    package = importlib.util.find_spec("pgserver")
    if package is not None and package.origin is not None:
        for place in Path(package.origin).parent.rglob("initdb"):
            return place.parent
    return None


@contextmanager
def server(where: Path) -> Iterator[str]:
    """The directory of its socket, while it runs. PostgreSQL refuses root, so root lends it to `nobody`."""
    home = Path(tempfile.mkdtemp(prefix="qtpg"))
    user = "nobody" if os.geteuid() == 0 else None
    if user is not None:
        shutil.chown(home, user)

    def run(*command: str) -> None:
        done = subprocess.run(
            command, user=user, cwd=home, capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "LC_ALL": "C", "HOME": str(home)},
        )  # fmt: skip
        assert done.returncode == 0, f"{command[0]}: {done.stdout}{done.stderr}"

    data = str(home / "data")
    options = f"-k {home} -c listen_addresses='' -c fsync=off -c full_page_writes=off -c max_connections=200"
    try:
        run(str(where / "initdb"), "-D", data, "-U", OWNER, "-A", "trust", "-E", "UTF8", "--no-sync")
        run(str(where / "pg_ctl"), "-D", data, "-w", "-l", str(home / "log"), "-o", options, "start")
        try:
            yield str(home)
        finally:
            run(str(where / "pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)


def url_of(home: str, database: str) -> str:
    return f"postgresql://{OWNER}@/{database}?host={home}"


def create(home: str, database: str, template: str = "template1") -> str:
    with psycopg.connect(url_of(home, "postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {database} TEMPLATE {template}".encode())
    return url_of(home, database)


def drop(home: str, database: str) -> None:
    with psycopg.connect(url_of(home, "postgres"), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {database} WITH (FORCE)".encode())
