"""Which words of a sentence are names? A text that remembers it, so that a name can be hidden and no other word is (W2).

A reader who may not know a job or a quota is shown the sentence with that part replaced. Whoever looks for names in a
finished text instead takes ordinary words for them as soon as somebody calls a workspace `a` or `work`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import NamedTuple


class NameKind(Enum):
    """What a name in a sentence is the name of."""

    JOB = "job"
    QUOTA = "quota"
    WORKSPACE = "workspace"
    USER = "user"
    SUBJECT = "subject"  # of a limit: "workspace/user:name" or "workspace/role:name"


class Named(NamedTuple):
    kind: NameKind
    name: str


Part = str | Named


class Sentence(str):
    """A text, and the parts that it was put together of. `parts` holds texts without names, and names."""

    parts: tuple[Part, ...]

    def __new__(cls, *parts: Part | Iterable[Named]) -> Sentence:
        """Put a sentence together. Several names in one part are listed, with commas; sentences keep their own parts."""
        flat: list[Part] = []
        for part in parts:
            if isinstance(part, Sentence):
                flat += part.parts
            elif isinstance(part, str | Named):
                flat.append(part)
            else:
                for number, one in enumerate(part):
                    flat += [", ", one] if number else [one]
        made = super().__new__(cls, "".join(_plain(part) for part in flat))
        made.parts = tuple(flat)
        return made

    def shown(self, show: Callable[[Named], str]) -> str:
        """The text with each name as `show` says it; every other word stays."""
        return "".join(show(part) if isinstance(part, Named) else part for part in self.parts)


def a_job(job: str) -> Named:
    return Named(NameKind.JOB, job)


def a_quota(quota: str) -> Named:
    return Named(NameKind.QUOTA, quota)


def a_workspace(workspace: str) -> Named:
    return Named(NameKind.WORKSPACE, workspace)


def a_user(user: str) -> Named:
    return Named(NameKind.USER, user)


def a_subject(subject: str) -> Named:
    return Named(NameKind.SUBJECT, subject)


def _plain(part: Part) -> str:
    return part.name if isinstance(part, Named) else part
