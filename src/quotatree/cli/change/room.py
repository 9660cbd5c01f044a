"""A quota finds no room: which commands make some? Shrink a sibling that does not use its min, or
enlarge the parent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from quotatree.cli.output import fail
from quotatree.cli.remote import status_of, text_of

if TYPE_CHECKING:
    from quotatree.client import Client

FULL_PARENT: Final = re.compile(
    r"the children of (\S+) would have ([\d.]+) GPU in all, more than its own ([\d.]+) GPU"
)
FULL_POOL: Final = re.compile(r"other roots draw ([\d.]+) GPU of the ([\d.]+) GPU in this pool")
"""How the server refuses these; `tests/cli/change/test_room.py` holds both."""


@contextmanager
def room_hints(client: Client, quota: str) -> Iterator[None]:
    """If the server refuses because there is no room for this quota, tell the commands that make
    some.
    """
    from quotatree.client.errors import ApiError

    try:
        yield
    except ApiError as error:
        lines = list(_hints(client, quota, error))
        if not lines:
            raise
        fail("\n".join([text_of(error), "make room, then try again:", *lines]), status_of(error))


def _hints(client: Client, quota: str, error: Any) -> Iterator[str]:
    """Commands that help, each with its reason; none for other refusals."""
    if parent := FULL_PARENT.search(error.detail):
        yield from _below(client, quota, parent[1], float(parent[2]) - float(parent[3]), float(parent[2]))
    elif pool := FULL_POOL.search(error.detail):
        left = float(pool[2]) - float(pool[1])
        name = str(error.field or "").rpartition(".")[2] or "default"
        yield f"  quotatree scale {quota} {left:g}   # all that the pool has left"
        yield f"  quotatree create node NAME --pool {name} --gpus N   # more GPUs in the pool"


def _below(client: Client, quota: str, parent: str, missing: float, whole: float) -> Iterator[str]:
    large = [
        one
        for one in client.quotas.list()
        if one["parent"] == parent and one["id"] != quota and _gpus(one["min"]) >= missing
    ]
    idlest = sorted(large, key=lambda one: (-_unused(one), one["id"]))
    enough = [one for one in idlest if _unused(one) >= missing]
    for child in enough[:2] or idlest[:1]:
        size, unused = _gpus(child["min"]), _unused(child)
        command = f"  quotatree scale {child['id']} {size - missing:g}"
        if enough:
            yield f"{command}   # {unused:g} of its {size:g} GPU are unused"
        else:
            yield (
                f"{command} --mode lazy"
                f"   # only {unused:g} of its {size:g} GPU are unused: it shrinks as its jobs end"
            )
    yield f"  quotatree scale {parent} {whole:g}   # enlarge the parent"


def _unused(quota: Any) -> float:
    usage = quota["usage"]
    return max(0.0, _gpus(quota["min"]) - _gpus(usage["used_own"]) - _gpus(usage["used_below"]))


def _gpus(amount: Any) -> float:
    return float(amount.get("gpus", 0))
