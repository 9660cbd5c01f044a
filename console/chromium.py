"""Is there a Chromium for the tests of the console? Debian's is installed where that may be done; else it says what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL: Final = ("apt-get", "install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu-core")
INSTALL_SECONDS: Final = 600


def found() -> str | None:
    """The path of a Chromium; QUOTATREE_CHROMIUM wins over what is on PATH. None if there is none."""
    named = os.environ.get("QUOTATREE_CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


def main() -> int:
    if found() is not None:
        return 0
    may = os.name == "posix" and os.geteuid() == 0 and shutil.which("apt-get") is not None
    if may:
        print("installing Debian's chromium for the tests of the console", file=sys.stderr, flush=True)
        for command in (("apt-get", "update", "--quiet"), INSTALL):
            subprocess.run(command, timeout=INSTALL_SECONDS, check=False, stdout=subprocess.DEVNULL)
    if found() is None:
        print(
            "No Chromium: the console was not tested in a browser. Install one (Debian: apt install chromium fonts-dejavu-core),"
            " or name it: QUOTATREE_CHROMIUM=/path/to/chrome",
            file=sys.stderr,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
