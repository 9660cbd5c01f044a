"""Do two versions of the core plan the same? Both take the same random walks, and what they tell is compared, event by event.

    python -m tests.property.same_plans COMMIT --walks 500

compares the package as it lies here with that of a commit (or in a folder): decisions, victims, costs, reasons, and when to plan again, with
no bound on effort. Take it for every change of the planner that should change nothing. A walk ends being compared at its first difference,
which is printed; `--without VictimCost.rule` leaves out a field that only one of the two has.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from subprocess import PIPE, Popen, run
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from tests.property.planned_walks import KINDS

ROOT: Final = Path(__file__).resolve().parents[2]
HERE: Final = ROOT / "src"


class Line(NamedTuple):
    """What a package told of one walk: how many plans and decisions of each kind, and of each event or plan a digest."""

    number: int
    counts: Counter[str]
    told: list[str]


class Difference(NamedTuple):
    """Where a walk went apart, and what both told there."""

    kind: str
    number: int
    old: str
    new: str


def compare(
    old: Path, new: Path, kind: str, first: int, count: int, without: str = ""
) -> tuple[Counter[str], list[Difference]]:
    """Return what was compared, by kind of decision, and every walk of these numbers that went apart."""
    counts, differences = Counter[str](), list[Difference]()
    one, other = (_lines(source, kind, first, count, without) for source in (old, new))
    for mine, theirs in zip_longest(one, other):
        if mine is None or theirs is None:
            raise RuntimeError(f"one of the two did not come to the end of {count} walks of the kind {kind}")
        counts += theirs.counts
        counts["walks"] += 1
        if mine.told != theirs.told:
            differences.append(_first_difference(old, new, kind, mine.number, without))
    return counts, differences


def _first_difference(old: Path, new: Path, kind: str, number: int, without: str) -> Difference:
    one, other = (_told(source, kind, number, without) for source in (old, new))
    pairs = zip_longest(one, other, fillvalue="nothing more")
    mine, theirs = next((a, b) for a, b in pairs if a != b)
    return Difference(kind, number, mine, theirs)


def _lines(source: Path, kind: str, first: int, count: int, without: str) -> Iterator[Line]:
    with _walks(source, kind, first, count, without) as process:
        assert process.stdout is not None
        for text in process.stdout:
            number, counts, *told = text.rstrip("\n").split(" ")
            named = (part.split(":") for part in counts.split(",") if part)
            yield Line(int(number), Counter({name: int(value) for name, value in named}), told)
    if process.returncode:
        raise RuntimeError(f"the walks of {source} ended with {process.returncode}")


def _told(source: Path, kind: str, number: int, without: str) -> list[str]:
    with _walks(source, kind, number, 1, without, "--told") as process:
        return process.communicate()[0].splitlines()[1:]


def _walks(source: Path, kind: str, first: int, count: int, without: str, *more: str) -> Popen[str]:
    words = [str(source), kind, str(first), str(count), f"--without={without}", *more]
    program = [sys.executable, "-m", "tests.property.planned_walks", *words]
    where = os.pathsep.join([str(source), str(ROOT)])
    return Popen(program, stdout=PIPE, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": where})


def source_of(version: str, stack: ExitStack) -> Path:
    """Return the folder that holds the package: this one, or one with the files of a commit of this repository, while `stack` is open."""
    if Path(version, "quotatree").is_dir():
        return Path(version).resolve()
    folder = Path(stack.enter_context(TemporaryDirectory()))
    archive = Popen(["git", "archive", version, "src/quotatree"], stdout=PIPE, cwd=ROOT)
    run(["tar", "-x", "-C", str(folder)], stdin=archive.stdout, check=True)
    if archive.wait():
        raise SystemExit(f"{version} is neither a folder with the package nor a commit")
    return folder / "src"


def main() -> int:
    parser = ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("old", help="a commit, or a folder that holds the package")
    parser.add_argument(
        "--new", default=str(HERE), help="what it is compared with; without it: the package as it lies here"
    )
    parser.add_argument("--kinds", default=",".join(KINDS), help="which walks, separated by commas")
    parser.add_argument("--first", type=int, default=0, help="the number of the first walk of each kind")
    parser.add_argument("--walks", type=int, default=100, help="how many walks of each kind")
    parser.add_argument("--without", default="", help="fields that are not compared, separated by commas")
    return _compare_all(parser.parse_args())


def _compare_all(args: Namespace) -> int:
    apart = 0
    with ExitStack() as stack:
        old, new = source_of(args.old, stack), source_of(args.new, stack)
        for kind in args.kinds.split(","):
            counts, differences = compare(old, new, kind, args.first, args.walks, args.without)
            apart += len(differences)
            seen = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
            _say(f"{kind} {args.first}+{args.walks}: {len(differences)} differ; {seen}")
            for one in differences:
                _say(f"  {one.kind} {one.number}\n    old {one.old}\n    new {one.new}")
    return 1 if apart else 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
