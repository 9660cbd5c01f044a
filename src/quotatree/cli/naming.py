"""Which job is meant? One may say its id, `job/ID` as `-o name` prints it, or the name its owner gave it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from quotatree.cli.output import EXIT_BAD_INPUT, EXIT_NOT_FOUND, fail
from quotatree.cli.remote import bare

if TYPE_CHECKING:
    from quotatree.client import Client

_ID: Final = re.compile(r"(dlc|dsw|eas)-[0-9a-z]{10}")
NOT_OVER: Final = ("Waiting", "Held", "Running", "Stopped", "OnHold")
MOST_TOLD: Final = 5


def meant(client: Client, noun: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """What `-o name` prints is understood for every noun, and of jobs also their names."""
    return tuple(job_id(client, name) if noun == "job" else bare(name, noun) for name in names)


def job_id(client: Client, text: str) -> str:
    """Of several jobs with that name the one that is not over; if all are, the newest. Two that are not: say which."""
    name = bare(text, "job")
    if _ID.fullmatch(name):
        return name
    goes_on = [job["id"] for job in client.jobs.list(name=[name], phase=NOT_OVER, most=MOST_TOLD + 1)]
    if len(goes_on) > 1:
        told = ", ".join(goes_on[:MOST_TOLD]) + (", …" if len(goes_on) > MOST_TOLD else "")
        fail(f"{name}: several jobs have this name, say which: {told}", EXIT_BAD_INPUT)
    newest = goes_on or [job["id"] for job in client.jobs.list(name=[name], most=1)]
    if not newest:
        fail(f"there is no job {name}", EXIT_NOT_FOUND)
    return newest[0]
