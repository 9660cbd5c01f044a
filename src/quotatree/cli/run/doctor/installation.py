"""Is the command itself whole: its packages, the console, the saved logins?"""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import quotatree
from quotatree.cli import contexts, extras
from quotatree.cli.run.doctor.finding import Finding, bad, ok, warning

CONSOLE: Final = Path(quotatree.__file__).parent / "console_files" / "index.html"


def findings() -> Iterator[Finding]:
    yield ok("version", f"quotatree {quotatree.__version__}, Python {sys.version.split()[0]}")
    missing = extras.missing_of_server()
    if missing:
        yield warning("packages", f"a server cannot run here: {', '.join(missing)} missing", extras.HOW)
    else:
        yield ok("packages", "a server can run here")
        yield from _console()
    yield from _logins()


def _console() -> Iterator[Finding]:
    if CONSOLE.is_file():
        yield ok("console", str(CONSOLE.parent))
    else:
        yield warning(
            "console", "it is not built here", "run `make console`, or install the wheel of a release"
        )


def _logins() -> Iterator[Finding]:
    path = contexts.config_file()
    try:
        known = contexts.load()
    except contexts.BadContext as error:
        yield bad("logins", str(error), f"mend {path}, or remove it and log in again: quotatree login URL")
        return
    if not known.known:
        yield warning("logins", "none yet", "quotatree login URL")
    elif stat.S_IMODE(path.stat().st_mode) & 0o077:
        yield bad("logins", f"{path} can be read by others", f"chmod 600 {path}")
    else:
        yield ok("logins", f"{', '.join(sorted(known.known))}; current: {known.current}")


def logins_are_readable() -> bool:
    try:
        contexts.load()
    except contexts.BadContext:
        return False
    return True
