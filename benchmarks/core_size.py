"""How large is the core that plans, and through how much of it does one plan walk?

    PYTHONPATH=<folder with the package> python -m benchmarks.core_size

counts lines, modules and numbers of `planning` and `search`, and the modules whose code runs in two plans: a start on free GPUs, and
a job that takes two GPUs from others. The table of ADR 0054 was made by it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import quotatree.core
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import Module, Priorities, Scope, SelfLevel, SelfLevels
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.planning.plan import plan
from quotatree.core.state import State

CORE = Path(quotatree.core.__file__).parent
GPUS = 8


class Size(NamedTuple):
    """Of one package. `numbers`: constants at the top of a module that are numbers: limits, and what work is counted with."""

    lines: int
    modules: int
    longest: int
    numbers: int


def size_of(package: str) -> Size:
    texts = [path.read_text(encoding="utf-8") for path in sorted((CORE / package).glob("*.py"))]
    lines = [len(text.splitlines()) for text in texts]
    modules = [count for count in lines if count > 1]
    return Size(sum(lines), len(modules), max(lines), sum(_numbers(ast.parse(text)) for text in texts))


def _numbers(module: ast.Module) -> int:
    values = [node.value for node in module.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    return sum(value is not None and _is_number(value) for value in values)


def _is_number(value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp):
        return _is_number(value.left) and _is_number(value.right)
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)


def walked(what: Callable[[], Any]) -> list[str]:
    """Return the modules of the core whose code runs, by their paths in it."""
    seen: set[str] = set()

    def note(frame: FrameType, event: str, arg: object) -> None:
        if event == "call":
            seen.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        what()
    finally:
        sys.setprofile(before)
    paths = [Path(name) for name in seen]
    return sorted(p.relative_to(CORE).as_posix() for p in paths if p.is_relative_to(CORE))


def full_of(priority: int | None) -> State:
    """Return one node and a team that may take what is lower; with a priority, jobs of it on all GPUs."""
    state = State()
    apply(state, ev.NodeJoined(NodeSpec("n0", gpus=GPUS)), 0)
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("r"), draws=(("default", Bounds(GPUS * 1000)),))), 0)
    policy = SelfLevels.of(SelfLevel(Priorities(6, 9), Priorities(1, 5), frozenset(Module), Scope.LEVEL))
    team = QuotaSpec(QuotaId("team"), QuotaId("r"), Bounds(GPUS * 1000), self_level=policy)
    apply(state, ev.QuotaCreated(team), 0)
    for number in range(GPUS if priority is not None else 0):
        submit(state, f"running-{number}", priority or 1, gpus=1)
    plan(state, 0)
    return state


def submit(state: State, name: str, priority: int, gpus: int) -> None:
    spec = JobSpec(
        JobId(name),
        "team",
        (ReplicaGroup(1, Shape(gpus * 1000, 0, 0)),),
        0,
        priority=priority,
        module=Module.DLC,
    )
    apply(state, ev.JobSubmitted(spec), 0)


def start() -> list[str]:
    """Return the modules that a plan walks through which starts one job on free GPUs."""
    state = full_of(None)
    submit(state, "new", 5, gpus=2)
    return walked(lambda: plan(state, 1_000))


def preemption() -> list[str]:
    """Return the modules that a plan walks through in which a job takes two GPUs from others."""
    state = full_of(3)
    submit(state, "new", 9, gpus=2)
    return walked(lambda: plan(state, 1_000))


def main() -> None:
    out = [f"{package}: {_table(size_of(package))}" for package in ("planning", "search")]
    for what, modules in (("a start", start()), ("a preemption of two GPUs", preemption())):
        parts = [
            sum(name.startswith(f"{package}/") for name in modules) for package in ("planning", "search")
        ]
        out.append(
            f"{what}: {len(modules)} modules of the core, {parts[0]} of planning, {parts[1]} of search"
        )
    sys.stdout.write("\n".join(out) + "\n")


def _table(size: Size) -> str:
    return ", ".join(f"{value} {name}" for name, value in size._asdict().items())


if __name__ == "__main__":
    main()
