"""The console's own checks: its types are those of the API, its code is sound, and its component tests pass.

They need the JavaScript packages, which `make setup` brings where they can be had; without them these tests are skipped.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from console import build

needs_packages = pytest.mark.skipif(
    not build.PACKAGES_STAMP.is_file(), reason="the JavaScript packages are not there: make console"
)


@needs_packages
def test_the_consoles_types_are_those_of_the_described_api(tmp_path):
    build.write_types(tmp_path / "schema.d.ts")
    now = (tmp_path / "schema.d.ts").read_text()
    assert now == build.TYPES.read_text(), "make pages writes console/src/api/schema.d.ts anew"


@needs_packages
def test_the_consoles_code_is_sound_and_its_component_tests_pass():
    done = subprocess.run(
        [sys.executable, str(build.HERE / "build.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_build_looks_at_every_source_but_the_tests(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    (tmp_path / "package.json").write_text("{}")
    page = tmp_path / "src" / "page.tsx"
    page.write_text("one")
    monkeypatch.setattr(build, "HERE", tmp_path)
    before = build.sources_digest()
    (tmp_path / "src" / "page.test.tsx").write_text("a test")
    assert build.sources_digest() == before
    page.write_text("two")
    assert build.sources_digest() != before


def test_where_the_console_cannot_be_built_a_tolerant_build_says_so_and_is_no_failure(monkeypatch, capsys):
    def missing() -> None:
        raise build.CannotBuild("the JavaScript packages cannot be had")

    monkeypatch.setattr(build, "build", missing)
    assert build.main(["--tolerant"]) == 0
    assert "cannot be had" in capsys.readouterr().err
    assert build.main([]) == 1


def test_no_file_of_the_lock_names_a_registry():
    assert '"resolved"' not in Path(build.LOCK).read_text()
