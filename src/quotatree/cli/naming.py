"""Which job is meant? One may say its id, `job/ID` as `-o name` prints it, or the name its owner gave it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from quotatree.cli.output import EXIT_BAD_INPUT, fail
from quotatree.cli.remote import bare

if TYPE_CHECKING:
    from quotatree.client import Client

_ID: Final = re.compile(r"(dlc|dsw|eas)-[0-9a-z]{10}")
MOST_TOLD: Final = 5


def meant(client: Client, noun: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """What `-o name` prints is understood for every noun, and of jobs also their names."""
    return tuple(job_id(client, name) if noun == "job" else bare(name, noun) for name in names)


def job_id(client: Client, text: str) -> str:
    """Of several jobs with that name the one that is not over; if all are, the newest. Two that are not: say which."""
    name = bare(text, "job")
    if _ID.fullmatch(name):
        return name
    active = [job["id"] for job in client.jobs.list(name=[name], active=True, most=MOST_TOLD + 1)]
    if len(active) > 1:
        told = ", ".join(active[:MOST_TOLD]) + (", …" if len(active) > MOST_TOLD else "")
        fail(f"{name}: several jobs have this name, say which: {told}", EXIT_BAD_INPUT)
    if active:
        return active[0]
    over = [job["id"] for job in client.jobs.list(name=[name], most=1)]
    return over[0] if over else name
