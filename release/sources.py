"""What is a release made from? The files of the newest commit, laid out anew, with the time of that commit.

Nothing of the working tree gets in: what is not committed is told, and not released.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGES: Final = Path("console", "node_modules")


class CannotMake(Exception):
    """The release cannot be made; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Commit:
    """`seconds` is when it was made, since 1970: the time of every file of the release."""

    name: str
    seconds: int
    left_out: tuple[str, ...]

    @property
    def environment(self) -> dict[str, str]:
        """What makes the tools that build write the same bytes each time."""
        return {"SOURCE_DATE_EPOCH": str(self.seconds), "QUOTATREE_CONSOLE": "required", "TZ": "UTC"}


def commit_of(name: str = "HEAD") -> Commit:
    name, seconds = _git("log", "-1", "--format=%H %ct", name).split()
    changed = _git("status", "--porcelain", "--untracked-files=normal").splitlines()
    return Commit(name, int(seconds), tuple(line[3:] for line in changed))


def lay_out(commit: Commit, directory: Path) -> Path:
    """Write the files of the commit below the directory, with the console's packages, and return it."""
    directory.mkdir(parents=True)
    packed = subprocess.run(
        ["git", "archive", commit.name], cwd=ROOT, stdout=subprocess.PIPE, check=True
    ).stdout
    subprocess.run(["tar", "-x", "-C", str(directory)], input=packed, check=True)
    give_packages(directory)
    return directory


def give_packages(directory: Path) -> None:
    """Copy the JavaScript packages that `make console` brought; without them the build brings them itself."""
    if (ROOT / PACKAGES).is_dir():
        shutil.copytree(ROOT / PACKAGES, directory / PACKAGES, symlinks=True)


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "") or error
        raise CannotMake(f"a release is made from a git checkout, and git says: {said}") from None
    return done.stdout.strip("\n")
