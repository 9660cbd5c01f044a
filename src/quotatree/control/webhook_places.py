"""Where may a webhook's delivery go? To public addresses, and to the networks and hosts that the server's settings name.

An address is judged after it is resolved, and the delivery goes to that very address: a name that resolves to another
one a moment later changes nothing. All spellings of an address (`2130706433`, `0x7f.1`, `::ffff:127.0.0.1`) are
resolved to the same one before it is judged.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Final, NamedTuple, cast
from urllib.parse import urlsplit

from quotatree.core import Refused

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolve = Callable[[str, int], list[Any]]

NAT64: Final = IPv6Network("64:ff9b::/96")
"""Addresses that end in the IPv4 address which a gateway of the network reaches for them."""
PUBLIC_IPV6: Final = (IPv6Network("2000::/3"), NAT64)
METADATA: Final = (IPv4Network("168.63.129.16/32"), IPv4Network("192.0.0.0/24"))
"""Networks of providers' own services that may look public; the others of that kind are link-local or private."""
PORTS: Final = {"http": 80, "https": 443}


class Place(NamedTuple):
    """A webhook's address, taken apart. `target` is what the request asks for: path and query."""

    scheme: str
    host: str
    port: int
    target: str


class NotAllowed(OSError):
    """Webhooks may not go there; the message says so without the address that the host has."""


def place_of(url: str) -> Place:
    """The address taken apart. Raises Refused for one that no delivery can go to."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Refused("url", url, "E4", f"is no address: {error}") from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise Refused("url", url, "E4", "must be an http or https address")
    if parts.username is not None or parts.password is not None:
        raise Refused("url", url, "E4", "must not hold a user or a password: a delivery is signed instead")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise Refused("url", url, "E4", "must be printable ASCII without spaces")
    if port == 0:
        raise Refused("url", url, "E4", "must name a port of 1 to 65535")
    query = f"?{parts.query}" if parts.query else ""
    return Place(parts.scheme, parts.hostname, port or PORTS[parts.scheme], (parts.path or "/") + query)


@dataclass(frozen=True, slots=True)
class WebhookPlaces:
    """`networks` and `hosts` are allowed besides public addresses; a host is allowed whatever addresses it has."""

    networks: tuple[Network, ...] = ()
    hosts: frozenset[str] = frozenset()

    def addresses(self, place: Place, resolve: Resolve = socket.getaddrinfo) -> list[str]:
        """The addresses of the place that a delivery may go to. Raises NotAllowed if there are none, OSError if the
        host has no address.
        """
        found = dict.fromkeys(cast(str, entry[4][0]) for entry in _resolved(place, resolve))
        if _bare(place.host) in self.hosts:
            return list(found)
        allowed = [address for address in found if self.allows(address)]
        if not allowed:
            raise NotAllowed(
                f"webhooks may not go to {place.host}: it is not public, and the server's setting webhook_networks does "
                "not name its network"
            )
        return allowed

    def allows(self, text: str) -> bool:
        """Whether a delivery may go to this address: it is public or in a named network, and so is one inside it."""
        address = ip_address(text)
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped  # the same machine in other words
        if self._named(address):
            return True
        return _public(address) and all(self._named(one) or _public(one) for one in _inside(address))

    def _named(self, address: Address) -> bool:
        return any(address in network for network in self.networks)


def places_of(texts: Iterable[str]) -> WebhookPlaces:
    """The places that the settings name, each a network, an address or a host. Raises ValueError, which names the bad one."""
    networks: list[Network] = []
    hosts: set[str] = set()
    for text in texts:
        try:
            networks.append(ip_network(text))
        except ValueError as error:
            name = _bare(text)
            labels = name.split(".")
            if "/" in text or ":" in text or labels[-1][:1].isdigit() or not all(map(_is_label, labels)):
                raise ValueError(
                    f'must be networks such as "10.1.0.0/16", addresses or hosts; {text!r} is none ({error})'
                ) from None
            hosts.add(name)
    return WebhookPlaces(tuple(networks), frozenset(hosts))


def _is_label(text: str) -> bool:
    return 0 < len(text) <= 63 and text.isascii() and text.replace("-", "").replace("_", "").isalnum()


def _bare(host: str) -> str:
    return host.lower().removesuffix(".")


def _resolved(place: Place, resolve: Resolve) -> list[Any]:
    try:
        return resolve(place.host, place.port, type=socket.SOCK_STREAM)  # type: ignore[call-arg]  # as socket has it
    except UnicodeError:
        raise OSError(f"{place.host}: is no name of a host") from None


def _public(address: Address) -> bool:
    if not address.is_global or address.is_multicast or any(address in one for one in METADATA):
        return False
    return isinstance(address, IPv4Address) or any(address in network for network in PUBLIC_IPV6)


def _inside(address: Address) -> list[IPv4Address]:
    """The IPv4 address that is reached through this one by NAT64 or 6to4, if it is of that kind."""
    if isinstance(address, IPv4Address):
        return []
    if address in NAT64:
        return [IPv4Address(int(address) & 0xFFFFFFFF)]
    return [] if address.sixtofour is None else [address.sixtofour]
