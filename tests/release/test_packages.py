"""Wheel and sdist hold what they should and nothing else, in the same bytes each time."""

from __future__ import annotations

import hashlib
import json
import tarfile
import tomllib
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

import pytest

from release import archive, packages
from release.names import DIST, SUMS, Names
from release.sources import ROOT, Commit, give_packages

WHEEL_BYTES = 3_000_000
SDIST_BYTES = 5_000_000
CONSOLE = "quotatree/console_files/"


@pytest.fixture(scope="module")
def wheel(names: Names) -> ZipFile:
    return ZipFile(DIST / names.wheel)


def test_the_wheel_has_the_console_the_rules_and_every_licence(wheel: ZipFile):
    files = set(wheel.namelist())
    assert {f"{CONSOLE}index.html", f"{CONSOLE}licences.txt", "quotatree/rules.md"} <= files
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in files)
    told = wheel.read(f"{CONSOLE}licences.txt").decode()
    for name, version in json.loads((ROOT / "console" / "package.json").read_text())["dependencies"].items():
        assert f"\n{name} {version} (" in told


def test_the_wheel_is_the_package_and_nothing_else(wheel: ZipFile, names: Names):
    places = {name.split("/")[0] for name in wheel.namelist()}
    assert places == {"quotatree", f"quotatree-{names.version}.dist-info"}
    assert [
        name for name in wheel.namelist() if "node_modules" in name or name.endswith((".pyc", ".ts", ".tsx"))
    ] == []
    assert (DIST / names.wheel).stat().st_size < WHEEL_BYTES


def test_the_wheel_needs_what_the_sources_say(wheel: ZipFile, names: Names):
    about = message_from_string(wheel.read(f"quotatree-{names.version}.dist-info/METADATA").decode())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert about["Version"] == names.version
    assert about["License-Expression"] == "Apache-2.0"
    assert set(about.get_all("Provides-Extra") or ()) == set(project["optional-dependencies"])


def test_the_sdist_has_what_the_commit_has_of_it(names: Names, sources: Path):
    with tarfile.open(DIST / names.sdist) as packed:
        files = {name.partition("/")[2] for name in packed.getnames()}
    assert (DIST / names.sdist).stat().st_size < SDIST_BYTES
    assert {"PKG-INFO", "LICENSE", "pyproject.toml", "hatch_build.py", "console/package-lock.json"} <= files
    assert [name for name in files if "node_modules" in name or "console_files/" in name] == []
    assert [name for name in files - {"PKG-INFO"} if not (sources / name).exists()] == []
    parts = [
        path
        for top in ("src", "deploy", "tests", "docs", "console/src")
        for path in (sources / top).rglob("*")
    ]
    assert [path for path in parts if path.is_file() and str(path.relative_to(sources)) not in files] == []


def test_two_builds_in_two_places_have_the_same_bytes(
    commit: Commit, sources: Path, names: Names, tmp_path: Path
):
    for path in packages.build(commit, sources, tmp_path, "wheel", "sdist"):
        assert _sum(path) == _sum(DIST / path.name), path.name
    chart = archive.pack(sources / "deploy" / "chart", "quotatree", commit.seconds)
    assert chart == (DIST / names.chart).read_bytes()


def test_the_sdist_builds_the_same_wheel(commit: Commit, names: Names, tmp_path: Path):
    with tarfile.open(DIST / names.sdist) as packed:
        packed.extractall(tmp_path, filter="data")
    unpacked = tmp_path / f"quotatree-{names.version}"
    give_packages(unpacked)
    (tmp_path / "made").mkdir()
    (made,) = packages.build(commit, unpacked, tmp_path / "made", "wheel")
    assert _sum(made) == _sum(DIST / names.wheel)


def test_the_sums_are_those_of_the_files():
    lines = [line.split("  ") for line in (DIST / SUMS).read_text().splitlines()]
    told = {name: digest for digest, name in lines}
    assert told == {path.name: _sum(path) for path in DIST.iterdir() if path.name != SUMS}


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
