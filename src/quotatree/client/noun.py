"""What the nouns have in common: a way to the server, and lists that turn their own pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from quotatree.client.transport import Params, Transport

PAGE = 500


class Noun:
    def __init__(self, transport: Transport) -> None:
        self._http = transport

    def _pages(self, path: str, params: Params, most: int | None) -> Iterator[Any]:
        """Yield every item, page after page, but at most `most` of them."""
        left, cursor = most, None
        while left is None or left > 0:
            limit = PAGE if left is None else min(PAGE, left)
            page = self._http.get(path, {**params, "limit": limit, "cursor": cursor})
            yield from page["items"]
            cursor = page["next"]
            if cursor is None:
                return
            if left is not None:
                left -= len(page["items"])


def name(text: str) -> str:
    """The text as one part of a path, with everything in it escaped."""
    return quote(text, safe="")
