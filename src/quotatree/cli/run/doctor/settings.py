"""Can a server start with the settings: do they hold, is its address free, does its certificate work, may it write?"""

from __future__ import annotations

import errno
import os
import socket
import ssl
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from quotatree.cli.run.data import DATABASE_FILE, default_directory
from quotatree.cli.run.doctor.finding import Finding, bad, ok, warning

if TYPE_CHECKING:
    from quotatree.api.settings import ServerSettings

SETTINGS_FILE: Final = "quotatree.toml"
SOON_DAYS: Final = 14
DAY_SECONDS: Final = 86_400
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


def read(data: Path | None, database: str | None, config: Path | None) -> ServerSettings | Finding:
    """The settings as `serve` would read them, or what is wrong with them."""
    from quotatree.api.settings import BadSettings, read_settings

    usual = (data or Path(os.environ.get("QUOTATREE_DATA") or default_directory())) / SETTINGS_FILE
    file = config or (usual if os.path.isfile(usual) else None)
    try:
        found = read_settings(file, os.environ)
    except BadSettings as error:
        return bad("settings", str(error), "mend it; docs/reference/settings.md lists all settings")
    where = data or found.data or default_directory()
    return replace(found, data=where, database=database or found.database or str(where / DATABASE_FILE))


def findings(settings: ServerSettings) -> Iterator[Finding]:
    yield ok("settings", "they hold")
    yield from _address(settings)
    yield from _certificate(settings)
    yield from _directory(settings)


def _address(settings: ServerSettings) -> Iterator[Finding]:
    """Try to bind the address. A server of ours that has it already is what `server` tells."""
    host, _, port = settings.listen.rpartition(":")
    host = host.strip("[]")
    exposed = host not in LOOPBACK and settings.tls_cert is None and not settings.https
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
    except (OSError, ValueError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            what = "a program listens there already: your server, or another program"
            yield warning(
                "listen", f"{settings.listen}: {what}", "if it is another, choose another port with --listen"
            )
        else:
            yield bad("listen", f"{settings.listen}: {error}", "set listen to HOST:PORT of this machine")
        return
    if exposed:
        yield warning(
            "listen",
            f"{settings.listen} may be reached from elsewhere, and without TLS tokens can be read on the way",
            "set tls_cert and tls_key, or https where a proxy does it",
        )
    else:
        yield ok("listen", f"{settings.listen} is free")


def _certificate(settings: ServerSettings) -> Iterator[Finding]:
    certificate, key = settings.tls_cert, settings.tls_key
    if certificate is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
        days = (_ends(certificate) - time.time()) / DAY_SECONDS
    except (OSError, ValueError) as error:
        yield bad(
            "certificate",
            f"{certificate}: {error}",
            "name a PEM file with tls_cert, and its key with tls_key",
        )
        return
    if days < 0:
        yield bad("certificate", f"{certificate} ended {-days:.0f} day(s) ago", "put a new one in its place")
    elif days < SOON_DAYS:
        yield warning("certificate", f"{certificate} ends in {days:.0f} day(s)", "put a new one in its place")
    else:
        yield ok("certificate", f"{certificate}, for {days:.0f} more days")


def _ends(certificate: Path) -> float:
    from cryptography import x509

    return x509.load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc.timestamp()


def _directory(settings: ServerSettings) -> Iterator[Finding]:
    """May the server write its data? One that is not there yet is made in the nearest directory above that is."""
    assert settings.data is not None
    nearest = settings.data.absolute()
    while not os.path.exists(nearest) and nearest != nearest.parent:
        nearest = nearest.parent
    if not os.path.isdir(nearest):
        yield bad("directory", f"{nearest} is no directory", "name another one with --data")
    elif not os.access(nearest, os.W_OK | os.X_OK):
        yield bad(
            "directory",
            f"{nearest} cannot be written to by you",
            "name another one with --data, or change its owner",
        )
    else:
        yield ok("directory", str(settings.data))
