"""Who must wait after wrong passwords? Those who guess, and not the right user at another address.

Wrong guesses are slowed down in three ways, and none of them locks out the right user at another address:

- of one name from one address after 5, each time twice as long, up to 15 minutes;
- of all names from one address after 100, up to a minute. Those who signed in from there before are not slowed down;
- of one name from all addresses after 50: then each further address has one try at once and not 5.

Addresses of IPv6 count by their first 64 bits, which one machine may have all of.
"""

from __future__ import annotations

from collections import OrderedDict
from ipaddress import IPv6Address, IPv6Network, ip_address
from threading import Lock
from typing import Final

from quotatree.identity.backoff import Backoff

FREE: Final = 5
FREE_OF_A_GUESSED_NAME: Final = 1
GUESSES_OF_A_NAME: Final = 50
GUESSES_OF_AN_ADDRESS: Final = 100
LONGEST_WAIT_OF_AN_ADDRESS_MS: Final = 60_000
NEVER: Final = 1 << 60
MOST_KNOWN: Final = 10_000
"""How many names with addresses are kept that a user has signed in by."""


class Guesses:
    """Counts wrong passwords by name and address. A try counts as wrong until it is known to be right."""

    def __init__(self) -> None:
        self._by_both = Backoff(FREE)
        self._by_address = Backoff(GUESSES_OF_AN_ADDRESS, LONGEST_WAIT_OF_AN_ADDRESS_MS)
        self._by_name = Backoff(NEVER)
        self._known: OrderedDict[str, None] = OrderedDict()
        self._lock = Lock()

    def begin(self, name: str, address: str, now_ms: int) -> None:
        """Count a try. Raises TooManyFailures, and counts nothing, while the name must wait at this address."""
        place = _place(address)
        both = f"{name}\n{place}"
        known = self._knows(both)
        if not known:
            self._by_address.check(place, now_ms)
        guessed = self._by_name.tries(name) >= GUESSES_OF_A_NAME
        self._by_both.begin(both, now_ms, FREE_OF_A_GUESSED_NAME if guessed and not known else FREE)
        if not known:
            self._by_address.begin(place, now_ms)
        self._by_name.begin(name, now_ms)

    def succeeded(self, name: str, address: str) -> None:
        """The password was right. What was guessed of other names from there stays counted."""
        place = _place(address)
        both = f"{name}\n{place}"
        self._by_both.succeeded(both)
        self._by_name.succeeded(name)
        if not self._knows(both):
            self._by_address.take_back(place)
        with self._lock:
            self._known[both] = None
            self._known.move_to_end(both)
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)

    def _knows(self, both: str) -> bool:
        with self._lock:
            return both in self._known


def _place(address: str) -> str:
    """The address; of IPv6 the network of its first 64 bits."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Network((int(found), 64), strict=False))
