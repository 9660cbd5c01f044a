"""Which job do you mean? Say its id, `job/ID` as `-o name` prints it, or the name that its owner
gave it.
"""

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
    """The ids that these names mean. Each may be as `-o name` prints it; jobs may also be given by
    their names.
    """
    return tuple(job_id(client, name) if noun == "job" else bare(name, noun) for name in names)


def job_id(client: Client, text: str) -> str:
    """Id of the job with this id or name: the one that is not over, or if all are, the newest.

    If none has that name, or several that are not over have it, the command ends.
    """
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
