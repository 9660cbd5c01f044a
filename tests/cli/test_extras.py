"""Without the server's packages the commands that need them say what to install."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from quotatree.cli.extras import SERVER

ROOT = Path(__file__).resolve().parents[2]


def without(module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command as if this module were not installed."""
    program = (
        f"import sys; sys.modules[{module!r}] = None; from quotatree.cli import main; main({list(words)!r})"
    )
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [("demo", "--script"), ("serve",), ("migrate",)])
def test_a_command_that_needs_the_server_says_how_to_install_it(words: tuple[str, ...]):
    """`demo` of a plain `pipx install quotatree` ended with a traceback."""
    done = without("structlog", *words)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "pipx install --force 'quotatree[server]'" in done.stderr


def test_another_missing_module_is_a_fault_and_shows_where():
    assert "Traceback" in without("quotatree.cli.demo.stage", "demo", "--script").stderr


def test_the_names_are_those_of_the_extra():
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = {
        re.match(r"[\w-]+", one)[0].lower()  # type: ignore[index]  # every requirement begins with a name
        for one in pyproject["project"]["optional-dependencies"]["server"]
    }
    of = packages_distributions()
    assert {name.lower().replace("_", "-") for module in SERVER for name in of[module]} == wanted
