"""The files of a release that `make release` has made, and the wheel installed from them as its users do it."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from release.names import COMMIT, DIST, Names, names_of
from release.sources import ROOT, Commit, commit_of, lay_out


@pytest.fixture(scope="session")
def names() -> Names:
    found = names_of(ROOT)
    assert (DIST / found.wheel).is_file(), "dist/ holds no release: make release"
    return found


@pytest.fixture(scope="session")
def commit() -> Commit:
    return commit_of((DIST / COMMIT).read_text(encoding="ascii").strip())


@pytest.fixture(scope="session")
def sources(commit: Commit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources again, below another path than those that the release was made from."""
    return lay_out(commit, tmp_path_factory.mktemp("again") / "some" / "where else")


@dataclass(frozen=True)
class Installed:
    """QuotaTree as pipx installed it, and nothing of this checkout in its way."""

    programs: Path
    empty: Path

    @property
    def command(self) -> str:
        return str(self.programs / "quotatree")

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "QUOTATREE"))
        }
        return {**kept, "XDG_CONFIG_HOME": str(self.empty / ".config"), "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}

    def run(
        self, *words: str, env: Mapping[str, str] | None = None, seconds: float = 300
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.command, *words],
            cwd=self.empty,
            env={**self.environment, **(env or {})},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )


@pytest.fixture(scope="session")
def installed(names: Names, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    home = tmp_path_factory.mktemp("pipx")
    venv.create(home / "tool", with_pip=True)
    _done(
        [
            str(home / "tool" / "bin" / "pip"),
            "install",
            "--quiet",
            "--require-hashes",
            "-r",
            "requirements/release.txt",
        ]
    )
    places = {
        "PIPX_HOME": str(home / "home"),
        "PIPX_BIN_DIR": str(home / "bin"),
        "PIPX_MAN_DIR": str(home / "man"),
    }
    wheel = f"{DIST / names.wheel}[server]"
    _done([str(home / "tool" / "bin" / "pipx"), "install", "--python", sys.executable, wheel], places)
    empty = tmp_path_factory.mktemp("empty")
    return Installed(home / "bin", empty)


def _done(command: list[str], environment: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
