"""How requests write amounts, durations, names and ranges: as scenario files do, and refused with what is allowed.

gpus, cpu    a number such as 8 or 0.5, in steps of 0.001
memory       "512Mi", "64Gi", "2Ti"
durations    "90s", "10m", "1h30m"
priorities   4 or "6-9", or names of priorities
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Annotated, Any, Final, Literal

from fastapi import Path, Query
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
)

from quotatree.access.names import NAME
from quotatree.core import (
    Bounds,
    Priorities,
    PriorityNames,
    Refused,
    Resources,
    in_numbers,
    name_of,
    parse_priorities,
)
from quotatree.scenario.amounts import Unreadable, span_text
from quotatree.scenario.limits import (
    MOST_CPUS,
    MOST_GPUS,
    Reader,
    bounded_cpu_milli,
    bounded_duration_ms,
    bounded_gpu_milli,
    bounded_memory_mib,
)

WHOLE_NAME: Final = f"^{NAME}$"
JOB_LABEL: Final = "^([a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?)?$"
WHO: Final = "^(role|user):.{1,63}$"
TOKEN_ID: Final = "^[A-Za-z0-9_-]{10}$"
JOB_ID: Final = "^(dlc|dsw|eas)-[0-9a-z]{10}$"


PRIORITY_NAMES: ContextVar[PriorityNames] = ContextVar("priority_names")
"""Names of priorities as of the request that is being read (W6). Routes for signed-in callers set it before the body."""


def _number(value: object) -> object:
    found = in_numbers("priority", value, PRIORITY_NAMES.get({}))
    if isinstance(found, bool) or not isinstance(found, int):
        raise ValueError("must be a priority, 1 to 9, or the name of one")
    return found


def priority_name(priority: int) -> str | None:
    """The name of a priority, as of the request that is being answered; None if it has none."""
    return name_of(priority, PRIORITY_NAMES.get({}))


class Body(BaseModel):
    """A request: unknown fields are refused, and nothing is turned into something else."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _reader(read: Reader) -> PlainValidator:
    def checked(value: object) -> int:
        try:
            return read(value)
        except Unreadable as error:
            raise ValueError(str(error)) from None

    return PlainValidator(checked)


def _priorities(value: object) -> Priorities:
    if not isinstance(value, int | str) or isinstance(value, bool) or len(str(value)) > 100:
        raise ValueError('must be one priority, a range such as "6-9", or names of priorities')
    try:
        said = in_numbers("priorities", value, PRIORITY_NAMES.get({}))
        return parse_priorities("priorities", said if isinstance(said, int) else str(said))
    except Refused as refused:
        raise ValueError(refused.message) from None


Gpus = Annotated[
    int,
    _reader(bounded_gpu_milli),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": MOST_GPUS, "examples": [8, 0.5]}),
]
Cpus = Annotated[
    int,
    _reader(bounded_cpu_milli),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": MOST_CPUS, "examples": [16]}),
]
Memory = Annotated[
    int,
    _reader(bounded_memory_mib),
    WithJsonSchema(
        {"type": "string", "pattern": r"^[0-9]{1,9}(\.[0-9]{1,3})?(Mi|Gi|Ti)$", "examples": ["64Gi"]}
    ),
]
Duration = Annotated[
    int,
    _reader(bounded_duration_ms),
    WithJsonSchema(
        {"type": "string", "pattern": r"^([0-9]{1,9}(\.[0-9]{1,3})?(ms|s|m|h|d))+$", "examples": ["1h30m"]}
    ),
]
Range = Annotated[
    Priorities,
    PlainValidator(_priorities),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": 9},
                {"type": "string", "pattern": "^[1-9](-[1-9])?$"},
                {"type": "string", "maxLength": 100, "description": "names of priorities (W6)"},
            ],
            "examples": ["6-9"],
        }
    ),
]
PriorityName = Annotated[
    str,
    StringConstraints(max_length=40),
    Field(description="the name of a priority (W6)", examples=["production"]),
]
Priority = Annotated[
    int,
    Field(ge=1, le=9, examples=[5]),
    BeforeValidator(
        _number, json_schema_input_type=Annotated[int, Field(ge=1, le=9, examples=[5])] | PriorityName
    ),
]
ReplicaCount = Annotated[int, Field(ge=1, le=100_000)]
Name = Annotated[str, StringConstraints(pattern=WHOLE_NAME, max_length=63), Field(examples=["vision"])]
Title = Annotated[str, StringConstraints(max_length=253)]
Line = Annotated[str, StringConstraints(max_length=1000)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=253)]
Labels = dict[Label, Annotated[str, StringConstraints(max_length=253)]]
ModuleName = Literal["DLC", "DSW", "EAS"]

InPath = Annotated[str, Path(pattern=WHOLE_NAME, max_length=63)]
JobInPath = Annotated[str, Path(pattern=JOB_ID, examples=["dlc-8k2m0qz4xa"])]
Names = Annotated[list[Annotated[str, StringConstraints(pattern=WHOLE_NAME)]] | None, Query(max_length=100)]
Limit = Annotated[int, Query(ge=1, le=500, description="at most so many on a page")]
Cursor = Annotated[
    str | None,
    Query(
        max_length=500,
        pattern="^[A-Za-z0-9_-]*$",
        description="`next` of the page before, with the same filter",
    ),
]
Moment = Annotated[int | None, Query(ge=0, lt=1 << 53, description="milliseconds since the epoch")]


class Amounts(Body):
    """An amount of each resource; one that is left out is not named, and so not bounded (Q3)."""

    gpus: Gpus | None = None
    cpu: Cpus | None = None
    memory: Memory | None = None

    def bounds(self) -> Bounds:
        return Bounds(self.gpus, self.cpu, self.memory)

    def resources(self) -> Resources:
        return Resources(self.gpus or 0, self.cpu or 0, self.memory or 0)


def number(milli: int) -> int | float:
    """Thousandths as a number: 8000 -> 8, 500 -> 0.5."""
    return milli // 1000 if milli % 1000 == 0 else milli / 1000


def memory_text(mib: int) -> str:
    return f"{mib // 1024}Gi" if mib % 1024 == 0 else f"{mib}Mi"


def span(ms: int | None) -> str | None:
    return None if ms is None else span_text(ms)


def amounts(of: Bounds | Resources) -> dict[str, Any]:
    """The amounts as `Amounts` reads them; a resource that is not named is left out."""
    gpu, cpu, memory = of
    found: dict[str, Any] = {}
    if gpu is not None:
        found["gpus"] = number(gpu)
    if cpu is not None:
        found["cpu"] = number(cpu)
    if memory is not None:
        found["memory"] = memory_text(memory)
    return found
