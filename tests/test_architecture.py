"""Which packages may import what (rule A1), and what the pins must look like (ADR 0002).

`.importlinter` lists what the core must not import; here it is the other way round: what is not named as
allowed fails, including modules and third parties nobody thought of.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "quotatree"

# What the core may use of the standard library. It gets `now` as an argument, returns decisions and says nothing
# (A1), so nothing that reads, writes, waits, guesses or looks at a clock belongs here.
PURE = {
    "__future__", "abc", "array", "bisect", "collections", "contextlib", "copy", "dataclasses", "enum", "fractions",
    "functools", "hashlib", "heapq", "itertools", "json", "math", "numbers", "operator", "re", "statistics", "string",
    "textwrap", "types", "typing", "weakref",
}  # fmt: skip
REPORTS = "quotatree/sim/report/"
LOCAL = "quotatree.engines.local"
KUBERNETES = "quotatree.engines.kubernetes"
MOST_POSITIONAL = 6
# A table is a list of columns, each with its name in it; there is nothing to mistake one for.
LISTS = {"Table", "create_table", "Sentence"}
# The same as builtins.
IMPURE_BUILTINS = {"__import__", "breakpoint", "eval", "exec", "input", "open", "print"}


def test_core_imports_only_itself_and_the_pure_part_of_the_standard_library():
    faults = [
        f"{where}: {name}"
        for where, name in imports_of("core")
        if not within(name, "quotatree.core") and top(name) not in PURE
    ]
    assert faults == []


def test_core_calls_no_builtin_that_reads_prints_or_evaluates():
    faults = [
        f"{place(path, node)}: {node.func.id}()"
        for path in modules_of("core")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_BUILTINS
    ]
    assert faults == []


def test_access_imports_only_itself_the_core_and_the_pure_part_of_the_standard_library():
    faults = [
        f"{where}: {name}"
        for where, name in imports_of("access")
        if not within(name, "quotatree.access")
        and not within(name, "quotatree.core")
        and top(name) not in PURE
    ]
    assert faults == []


def test_scenario_imports_only_itself_the_core_and_the_standard_library():
    faults = [
        f"{where}: {name}"
        for where, name in imports_of("scenario")
        if not within(name, "quotatree.scenario")
        and not within(name, "quotatree.core")
        and top(name) not in sys.stdlib_module_names
    ]
    assert faults == []


def test_sim_imports_only_itself_the_core_and_the_standard_library():
    """And matplotlib, an extra that only reports need and only their package may import; nobody needs the package."""
    faults = [
        f"{where}: {name}"
        for where, name in imports_of("sim")
        if not within(name, "quotatree.sim")
        and not within(name, "quotatree.core")
        and name != "quotatree.__version__"
        and top(name) not in sys.stdlib_module_names
        and not (REPORTS in where and top(name) == "matplotlib")
    ]
    faults += [
        f"{where}: {name}"
        for where, name in imports_of("sim")
        if REPORTS not in where and within(name, "quotatree.sim.report")
    ]
    assert faults == []


def test_an_engine_imports_the_seam_the_core_and_no_other_engine():
    faults = [
        f"{where}: {name}"
        for where, name in imports_of("engines")
        if within(name, "quotatree")
        and not within(name, "quotatree.core")
        and not within(name, "quotatree.engines.base")
        and not ("quotatree/engines/local/" in where and within(name, LOCAL))
        and not ("quotatree/engines/kubernetes/" in where and within(name, KUBERNETES))
        and not ("quotatree/engines/local/server/birth.py" in where and name == "quotatree")  # where we lie
    ]
    assert faults == []


def test_a_supervisor_needs_nothing_but_the_standard_library():
    """It runs without site-packages, and what it does not import costs no start and no memory."""
    imported = list(imports_of("engines"))
    todo, seen, faults = ["supervisor/supervisor"], set[str](), []
    while todo:
        module = todo.pop()
        seen.add(module)
        for where, name in imported:
            if f"quotatree/engines/local/{module}.py:" not in where:
                continue
            if within(name, LOCAL):
                used = "/".join(name.removeprefix(LOCAL).strip(".").split(".")[:2])
                todo += [used] if "/" in used and used not in seen else []
            elif top(name) not in sys.stdlib_module_names or top(name) in {
                "asyncio",
                "dataclasses",
                "subprocess",
            }:
                faults.append(f"{where}: {name}")
    assert {
        "supervisor/service",
        "supervisor/notebook",
        "supervisor/training",
        "files/journal",
        "host/cgroups",
    } <= seen
    assert faults == []


@pytest.mark.parametrize("name", ["dev.txt", "uv.txt", "docs.txt", "release.txt"])
def test_every_pin_is_exact_and_hashed_and_names_no_registry(name: str):
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    lines = text.replace("\\\n", " ").splitlines()
    pins = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    assert pins
    exact = re.compile(r"[a-z0-9-]+==\S+( ;[^#]+?)?(\s+--hash=sha256:[0-9a-f]{64})+\s*")
    assert [pin for pin in pins if not exact.fullmatch(pin)] == []
    assert "://" not in text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import os.path, json", ["os.path", "json"]),
        ("from time import monotonic", ["time.monotonic"]),
        ("from quotatree import cli", ["quotatree.cli"]),
        ("def f():\n    import random", ["random"]),
        ("if TYPE_CHECKING:\n    from rich import table", ["rich.table"]),
        ("from . import job", [".job"]),
    ],
)
def test_the_reader_of_imports_sees_every_form(source: str, expected: list[str]):
    assert [name for _, name in names_imported(ast.parse(source))] == expected


def test_no_call_passes_more_than_six_arguments_by_position():
    """Of seven values in a row nobody sees that two are swapped: name them, or pass one value that carries them."""
    faults = [
        f"{place(path, call)}: {len(call.args)} to {ast.unparse(call.func)}"
        for path in PACKAGE.rglob("*.py")
        for call in ast.walk(parsed(path))
        if isinstance(call, ast.Call) and len(call.args) > MOST_POSITIONAL and name_of(call) not in LISTS
    ]
    assert faults == []


def name_of(call: ast.Call) -> str:
    """The last name of what is called."""
    return ast.unparse(call.func).rpartition(".")[2]


def imports_of(part: str) -> Iterator[tuple[str, str]]:
    """Every import below quotatree.`part`, as (file:line, dotted name), also those inside functions."""
    for path in modules_of(part):
        for node, name in names_imported(parsed(path)):
            yield place(path, node), name


def names_imported(tree: ast.AST) -> Iterator[tuple[ast.stmt, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name
        elif isinstance(node, ast.ImportFrom):
            # A relative import keeps its dots, so it is neither ours nor the standard library: it is refused.
            origin = "." * node.level + (f"{node.module}." if node.module else "")
            for alias in node.names:
                yield node, origin + alias.name


def modules_of(part: str) -> list[Path]:
    """A part is a package or a single module; one that does not exist has nothing to answer for."""
    return sorted([*(PACKAGE / part).rglob("*.py"), *PACKAGE.glob(f"{part}.py")])


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def place(path: Path, node: ast.stmt | ast.expr) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno}"


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def top(name: str) -> str:
    return name.partition(".")[0]


def test_one_module_alone_knows_the_client_library_of_kubernetes():
    faults = [
        f"{where}: {name}"
        for package in ("engines", "server", "cli", "control", "api")
        for where, name in imports_of(package)
        if top(name) == "kubernetes" and "quotatree/engines/kubernetes/client.py" not in where
    ]
    assert faults == []
