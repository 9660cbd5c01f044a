"""A8: all that bounds effort stands in one place, and is so little that you can know it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from benchmarks import bounds
from quotatree.core.model import effort

CORE = Path(effort.__file__).parents[1]
PRICES = {"ONE_ATTEMPT", "ONE_LOOK", "CELLS_A_UNIT"}
OF_A_PLAN = {"PLAN_AT_MOST", "PREVIEWED"}
UNITS_OF_ARITHMETIC = {"_COUNTED", "SCALE"}
"""What sums and ratios are counted in; no bounds."""


def numbers_in(path: Path) -> Iterator[str]:
    """Yield the names of a module that stand for a number."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if value is None or not all(
            isinstance(part, ast.BinOp | ast.Constant | ast.operator) for part in ast.walk(value)
        ):
            continue
        if isinstance(eval(compile(ast.Expression(value), path.name, "eval")), int):
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_there_are_at_most_fifteen_and_a_benchmark_tells_what_each_is_worth() -> None:
    found = set(numbers_in(CORE / "model" / "effort.py"))
    assert len(found) <= 15
    assert found == {*bounds.TRIED, *PRICES, *OF_A_PLAN}


def test_there_are_none_elsewhere_in_planning_and_search() -> None:
    modules = [*CORE.glob("planning/*.py"), *CORE.glob("search/*.py")]
    assert len(modules) > 40
    elsewhere = {(path.name, name) for path in modules for name in numbers_in(path)}
    assert {name for _, name in elsewhere} == UNITS_OF_ARITHMETIC, elsewhere
