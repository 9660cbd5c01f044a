"""Install into this virtual environment what the project pins, and the project itself.

    python requirements/install.py

uv does it, which takes seconds where pip takes two minutes. pip brings uv, and what your pip is told about indexes, certificates
and proxies is told to uv. Where uv cannot be had, pip does all of it.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
PIP: Final = (sys.executable, "-m", "pip")
UV: Final = (sys.executable, "-m", "uv", "pip")

SAME: Final = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "client-cert": ("SSL_CLIENT_CERT", " "),
    "proxy": ("ALL_PROXY", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
    "no-index": ("UV_NO_INDEX", " "),
}
"""Settings of pip, each with the variable by which uv is told the same, and what uv puts between several values."""


def main() -> int:
    tool = (*UV, "install", "--quiet") if _uv_is_here() else (*PIP, "install", "--quiet")
    environment = os.environ | for_uv(pip_settings(_pip_config()), os.environ)
    for arguments in (
        ("--require-hashes", "-r", str(HERE / "dev.txt")),
        ("--no-deps", "--no-build-isolation", "--editable", str(HERE.parent)),
    ):
        ended = subprocess.run([*tool, *arguments], env=environment, check=False)
        if ended.returncode:
            return ended.returncode
    return 0


def pip_settings(listing: str) -> dict[str, str]:
    """The settings that `pip config list` printed, by name. Variables go before [install], which goes before [global]."""
    found: dict[str, str] = {}
    for section in ("global", "install", ":env:"):
        for line in listing.splitlines():
            key, sign, value = line.partition("=")
            where, dot, name = key.rpartition(".")
            if sign and dot and where == section:
                found[name] = str(ast.literal_eval(value))
    return found


def for_uv(settings: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that tell uv what pip is told. What is set for uv already stays.

    pip takes the best version of all indexes, and uv by default that of the first: every file is held to its hash.
    """
    told = {"UV_INDEX_STRATEGY": "unsafe-best-match"}
    for name, (variable, between) in SAME.items():
        if settings.get(name):
            told[variable] = between.join(settings[name].split())
    return {variable: value for variable, value in told.items() if variable not in environment}


def _uv_is_here() -> bool:
    pinned = str(HERE / "uv.txt")
    if subprocess.run([*PIP, "install", "--quiet", "--require-hashes", "-r", pinned], check=False).returncode:
        sys.stderr.write("uv cannot be installed here; pip does the work, which takes some minutes\n")
        return False
    return True


def _pip_config() -> str:
    return subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
