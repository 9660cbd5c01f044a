"""How does text become HTML? Everything that is not ours is escaped, in one place.

`Html` marks what is markup already; whatever is a plain string is text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NewType

Html = NewType("Html", str)


def text(value: str) -> Html:
    return Html(escape(value, quote=True))


def tag(name: str, *inside: Html, **attributes: str) -> Html:
    """An HTML element. In attribute names a trailing underscore is dropped (`class_`) and others become hyphens."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value, quote=True)}"'
        for key, value in attributes.items()
    )
    return Html(f"<{name}{told}>{''.join(inside)}</{name}>")


def joined(parts: Iterable[Html]) -> Html:
    return Html("\n".join(parts))


def bullets(items: Sequence[str]) -> Html:
    return tag("ul", *(tag("li", text(item)) for item in items))


def table(header: Sequence[Html], rows: Iterable[Html], class_: str = "") -> Html:
    """An HTML table that scrolls when it is too wide. `header` are cells, `rows` are whole `tr` elements."""
    head = tag("thead", tag("tr", *header))
    body = tag("tbody", joined(rows))
    return tag("div", tag("table", head, body, class_=class_), class_="scroll")


def head_cell(value: str, number: bool = False, **attributes: str) -> Html:
    return tag("th", text(value), scope="col", class_="number" if number else "words", **attributes)


def row_head(*inside: Html, **attributes: str) -> Html:
    return tag("th", *inside, scope="row", **attributes)
