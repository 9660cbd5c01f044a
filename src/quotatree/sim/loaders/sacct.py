"""How is the history of a Slurm cluster read, as `sacct --parsable2` prints it?

Known from the public documentation of Slurm. Made with

    sacct --allusers --starttime 2024-01-01 -X --parsable2 \\
        -o JobID,User,Account,Partition,QOS,Priority,Submit,Start,End,ElapsedRaw,State,AllocTRES,ReqTRES,NNodes,NCPUS

JobID, Submit, ElapsedRaw and one of AllocTRES and ReqTRES are needed; the rest is used where it is there, and by a
mapping. GPUs stand in the TRES as `gres/gpu=8`, as `gres/gpu:a100=8`, or as both, when the first is the total. The
account is the team. Slurm's own Priority is not one of ours; map the QOS or the partition instead.
"""

from __future__ import annotations

import re
from typing import Final

from quotatree.sim.loaders.collect import Format, Jobs, spread
from quotatree.sim.loaders.table import Row, Table
from quotatree.sim.mapping import Mapping, column
from quotatree.sim.trace import TraceError

_AMOUNT: Final = re.compile(r"(\d+(?:\.\d+)?)([KMGTP]?)")
_MIB: Final = {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1024**2, "P": 1024**3}
"""Slurm counts memory in MiB unless a suffix says otherwise."""


def _read(table: Table, jobs: Jobs) -> None:
    if "AllocTRES" not in table.index and "ReqTRES" not in table.index:
        raise TraceError(
            table.file, 1, "AllocTRES", "", "this column is missing; sacct needs AllocTRES or ReqTRES"
        )
    for row in table.rows():
        reason = _why_not(row)
        if reason:
            jobs.skip(reason)
            continue
        tres = "ReqTRES" if row.missing("AllocTRES") else "AllocTRES"
        amounts = _amounts(row, tres)
        cpus = amounts.get("cpu", 0.0) or (0.0 if row.missing("NCPUS") else row.number("NCPUS"))
        nodes = int(amounts.get("node", 0)) or (0 if row.missing("NNodes") else row.count("NNodes"))
        request = spread(
            _gpus(row, tres, amounts),
            jobs.gpus_per_node,
            nodes,
            round(cpus * 1000),
            round(amounts.get("mem", 0.0)),
        )
        jobs.add(row, row.text("JobID"), row.moment_ms("Submit"), row.milli("ElapsedRaw"), request)


def _why_not(row: Row) -> str:
    """The reason to skip this line because it is not a finished job; "" if it is one."""
    job, state = row.name("JobID"), row.text("State")
    if "." in job:
        return "a step of a job, not a job (use sacct -X)"
    if state in ("RUNNING", "SUSPENDED", "REQUEUED", "RESIZING"):
        return "still running"
    if state == "PENDING" or "[" in job or row.missing("Submit"):
        return "never ran"
    if row.missing("ElapsedRaw") or row.number("ElapsedRaw") == 0:
        return "never ran"
    return ""


def _amounts(row: Row, tres: str) -> dict[str, float]:
    """Parse a TRES cell: "cpu=64,mem=500G,gres/gpu:a100=8" -> cpu 64, mem 512000 (MiB), gres/gpu:a100 8."""
    amounts = {}
    for part in row.text(tres).split(","):
        name, equals, text = part.strip().partition("=")
        if not name:
            continue
        if name not in ("cpu", "mem", "node") and not name.startswith("gres/gpu"):
            continue  # billing, energy, licences: placement does not use them
        found = _AMOUNT.fullmatch(text)
        if not equals or found is None:
            raise row.wrong(
                tres, f"{part.strip()} is not a resource and its amount, such as cpu=64 or mem=500G"
            )
        amounts[name] = float(found[1]) * (_MIB[found[2]] if name == "mem" else _FACTOR[found[2]])
    return amounts


_FACTOR: Final = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


def _gpus(row: Row, tres: str, amounts: dict[str, float]) -> int:
    typed = sum(amount for name, amount in amounts.items() if name.startswith("gres/gpu:"))
    gpus = amounts.get("gres/gpu", typed)
    if gpus != int(gpus):
        raise row.wrong(tres, "must name whole GPUs")
    return int(gpus)


FORMAT = Format(
    "sacct",
    ("JobID", "Submit", "ElapsedRaw"),
    Mapping(team=column("Account", required=False), user=column("User", required=False)),
    _read,
)
