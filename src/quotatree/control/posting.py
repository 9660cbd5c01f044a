"""How is one delivery posted? To an address that was judged just before, within a time that no receiver can stretch.

Only the status of the answer is read. No proxy is used, whatever the environment says: the proxy would choose where the
delivery goes. No redirect is followed. What a receiver says besides its status is not told: it may be what another
service of that network answers.
"""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections.abc import Callable
from http.client import HTTPConnection
from typing import Final

from quotatree.control.webhook_places import Place, WebhookPlaces, place_of

TIMEOUT_SECONDS: Final = 10.0
LONGEST_STATUS_LINE: Final = 4096
_STATUS_LINE: Final = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9])(?: |\r|\n|$)")

Addresses = Callable[[Place], list[str]]


class NoAnswer(OSError):
    """The receiver took the connection and did not answer by HTTP in time."""


class Posting:
    """Posts deliveries. `seconds`: how long one may take in all after its host is resolved."""

    def __init__(
        self,
        places: WebhookPlaces,
        *,
        seconds: float = TIMEOUT_SECONDS,
        addresses: Addresses | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._addresses = addresses or places.addresses
        self._seconds = seconds
        self._clock = clock

    def post(self, url: str, body: bytes, headers: dict[str, str]) -> int:
        """The status that the receiver answers. Raises OSError, or Refused for an address that is none."""
        place = place_of(url)
        addresses = self._addresses(place)
        until = self._clock() + self._seconds
        connection = HTTPConnection(place.host, place.port)
        connection.sock = self._connected(place, addresses, until)
        try:
            connection.sock.settimeout(self._left(until))
            connection.request(
                "POST", place.target, body, {**headers, "Host": _host(place), "Connection": "close"}
            )
            return self._status(connection.sock, until)
        finally:
            connection.close()

    def _connected(self, place: Place, addresses: list[str], until: float) -> socket.socket:
        """A connection to the first of the addresses that takes one, within TLS for https."""
        failed: OSError | None = None
        for address in addresses:
            try:
                found = socket.create_connection((address, place.port), self._left(until))
            except OSError as error:
                failed = error
                continue
            if place.scheme == "http":
                return found
            try:
                found.settimeout(self._left(until))
                return ssl.create_default_context().wrap_socket(found, server_hostname=place.host)
            except BaseException:
                found.close()
                raise
        raise failed or NoAnswer("the host has no address")

    def _status(self, answering: socket.socket, until: float) -> int:
        heard = b""
        while b"\n" not in heard and len(heard) < LONGEST_STATUS_LINE:
            answering.settimeout(self._left(until))
            part = answering.recv(LONGEST_STATUS_LINE)
            if not part:
                break
            heard += part
        found = _STATUS_LINE.match(heard)
        if found is None:
            raise NoAnswer(
                "the receiver does not speak HTTP" if heard else "the receiver closed without an answer"
            )
        return int(found[1])

    def _left(self, until: float) -> float:
        left = until - self._clock()
        if left <= 0:
            raise NoAnswer(f"the receiver took longer than {self._seconds:g} s")
        return left


def _host(place: Place) -> str:
    """The Host header: a port is named unless it is the usual one of the scheme."""
    host = f"[{place.host}]" if ":" in place.host else place.host
    return host if place.port == (80 if place.scheme == "http" else 443) else f"{host}:{place.port}"
