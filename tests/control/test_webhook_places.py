"""Webhooks go to public addresses, and to what the settings name; however the address is spelled (E4)."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from quotatree.control.webhook_places import NotAllowed, WebhookPlaces, place_of, places_of
from quotatree.core import Refused


def resolving(*addresses: str) -> Any:
    return lambda host, port, **_: [(None, None, None, "", (address, port)) for address in addresses]


def numeric(host: str, port: int, **_: Any) -> list[Any]:
    """As the system reads a spelled address; no name is asked for."""
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.8.9.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0x7f000001", "0", "0.0.0.0",
        "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]",
        "[64:ff9b::a00:1]", "[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "10.0.0.1", "172.16.0.1", "192.168.1.1",
        "169.254.169.254", "2852039166", "100.64.0.1", "100.100.100.200", "192.0.0.192", "168.63.129.16",
        "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]",
        "[ff02::1]", "[fec0::1]", "[2001:db8::1]", "[::ffff:169.254.169.254]", "[64:ff9b:1::1]", "198.18.0.1",
    ],
)  # fmt: skip
def test_an_address_that_is_not_public_is_refused_in_each_spelling(host: str):
    with pytest.raises(NotAllowed, match="webhook_networks"):
        WebhookPlaces().addresses(place_of(f"http://{host}/"), numeric)


@pytest.mark.parametrize("host", ["8.8.8.8", "134744072", "[2606:4700::1111]", "[64:ff9b::8.8.8.8]"])
def test_a_public_address_is_allowed(host: str):
    assert WebhookPlaces().addresses(place_of(f"http://{host}/"), numeric)


def test_a_name_is_judged_by_the_addresses_it_has():
    place = place_of("http://localhost./x")
    with pytest.raises(NotAllowed) as refused:
        WebhookPlaces().addresses(place, resolving("127.0.0.1", "::1"))
    assert "127" not in str(refused.value), "what a name resolves to inside is not told"
    assert WebhookPlaces().addresses(place, resolving("127.0.0.1", "8.8.8.8")) == ["8.8.8.8"]


def test_named_networks_and_hosts_are_allowed_and_nothing_beside_them():
    places = places_of(["10.1.0.0/16", "fd00:1::/32", "127.0.0.1", "Chat.Internal."])
    assert places.addresses(place_of("http://a/"), resolving("10.1.2.3", "10.2.0.1")) == ["10.1.2.3"]
    assert places.addresses(place_of("http://[::ffff:10.1.2.3]/"), numeric)
    assert places.addresses(place_of("http://[fd00:1::5]/"), numeric)
    assert places.addresses(place_of("http://0x7f.1/"), numeric)
    assert places.addresses(place_of("http://CHAT.internal/"), resolving("192.168.0.9")) == ["192.168.0.9"]
    for host in ("127.0.0.2", "10.2.0.1", "[2002:a02:1::1]"):
        with pytest.raises(NotAllowed):
            places.addresses(place_of(f"http://{host}/"), numeric)


@pytest.mark.parametrize(
    "text", ["", "10.1.0.0/33", "10.1.0.1/16", "300.1.2.3", "a b", "http://x", "x/24", "-", "a..b", "::g"]
)
def test_what_is_neither_a_network_nor_a_host_is_refused(text: str):
    with pytest.raises(ValueError, match="must be networks"):
        places_of([text])


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://[::1", "is no address"),
        ("http://a:99999/", "is no address"),
        ("http://a:x/", "is no address"),
        ("http://a:0/", "a port"),
        ("http:///x", "http or https address"),
        ("gopher://a/", "http or https address"),
        ("http://ann:pw@a/", "must not hold a user"),
        ("http://a/b c", "printable ASCII"),
        ("http://a/é", "printable ASCII"),
    ],
)
def test_an_address_that_no_delivery_can_go_to_is_refused(url: str, said: str):
    with pytest.raises(Refused, match=said):
        place_of(url)


def test_an_address_is_taken_apart():
    assert place_of("https://[2001:db8::1]:8443/a/b?c=d#e") == ("https", "2001:db8::1", 8443, "/a/b?c=d")
    assert place_of("http://Example.org") == ("http", "example.org", 80, "/")
