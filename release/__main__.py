"""Make the files of a release in dist/, and say what each is and what could not be made here.

python -m release          everything
python -m release wheel    wheel and sdist alone, for an image or an installation of your own
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from release import archive, image, packages, sources
from release.names import COMMIT, DIST, SUMS, Names, names_of
from release.sources import CannotMake, Commit


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["wheel"]):
        say(__doc__ or "")
        return 2
    try:
        with tempfile.TemporaryDirectory(prefix="quotatree-release-") as scratch:
            make(Path(scratch), everything=not arguments)
    except CannotMake as problem:
        say(str(problem))
        return 1
    return 0


def make(scratch: Path, *, everything: bool) -> None:
    commit = sources.commit_of()
    say(f"from commit {commit.name[:12]}, into {DIST.name}/")
    if commit.left_out:
        say(f"not committed, so not in it: {', '.join(commit.left_out)}")
    tree = sources.lay_out(commit, scratch / "sources")
    names = names_of(tree)
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    (DIST / COMMIT).write_text(f"{commit.name}\n", encoding="ascii")
    packages.build(commit, tree, DIST, "wheel", "sdist")
    missed = _the_rest(commit, tree, names) if everything else []
    write_sums()
    for path in sorted(DIST.iterdir()):
        say(f"  {path.stat().st_size:>12,} bytes  {path.name}")
    for what, problem in missed:
        say(f"not made: {what}: {problem}")


def _the_rest(commit: Commit, tree: Path, names: Names) -> list[tuple[str, str]]:
    """Make what is no Python package; return what cannot be made here, and why."""
    (DIST / names.chart).write_bytes(archive.pack(tree / "deploy" / "chart", "quotatree", commit.seconds))
    for plain in (names.compose, names.unit):
        shutil.copyfile(tree / "deploy" / plain, DIST / plain)
    try:
        image.build(names.tag, DIST / names.image)
    except CannotMake as problem:
        return [(names.image, str(problem))]
    return []


def write_sums() -> None:
    """SHA256SUMS, as `sha256sum --check` reads it."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(DIST.iterdir())
    ]
    (DIST / SUMS).write_text("".join(lines), encoding="ascii")


def say(text: str) -> None:
    print(f"release: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
