"""What is counted of the core is there."""

from __future__ import annotations

from benchmarks.core_size import CORE, preemption, size_of, start


def test_a_preemption_walks_through_more_modules_than_a_start() -> None:
    plain, taking = start(), preemption()
    assert len(plain) < len(taking)
    assert "planning/plan.py" in plain
    assert {"planning/applying.py", "search/victims.py"} <= set(taking)
    assert "search/victims.py" not in plain
    assert all((CORE / name).exists() for name in taking)


def test_modules_lines_and_numbers_are_counted() -> None:
    size = size_of("planning")
    assert size.modules == len(list((CORE / "planning").glob("*.py"))) - 1
    assert size.longest < size.lines / 5
    assert size.numbers == 0, "they stand in model/effort.py"
    assert size_of("model").numbers > 10
