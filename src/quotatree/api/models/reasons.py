"""Why something is as it is: a code for programs, a sentence for people."""

from __future__ import annotations

from typing_extensions import TypedDict

from quotatree.core import Reason


class ReasonOut(TypedDict):
    """Why, as a stable code and as a sentence. `rules` are the numbers of the rules behind it, in the rulebook.

    `facts`: what fills the sentence, by name, such as `quota`, `wanted`, `free`.
    """

    code: str
    text: str
    rules: list[str]
    facts: dict[str, str]


def reason_out(reason: Reason) -> ReasonOut:
    return {
        "code": reason.code.name,
        "text": reason.text,
        "rules": list(reason.rules),
        "facts": dict(reason.facts),
    }
