"""The wheel and the sdist, built with the pinned tools of this virtual environment and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from release.sources import CannotMake, Commit


def build(commit: Commit, sources: Path, target: Path, *kinds: str) -> list[Path]:
    """Build these kinds (`wheel`, `sdist`) from the sources into the directory; return the files."""
    before = set(target.glob("*"))
    words = [word for kind in kinds for word in ("-t", kind)]
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *words, "-d", str(target.resolve())],
        cwd=sources,
        env={**os.environ, **commit.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise CannotMake(f"hatchling cannot build {' and '.join(kinds)}:\n{done.stdout}{done.stderr}")
    return sorted(set(target.glob("*")) - before)
