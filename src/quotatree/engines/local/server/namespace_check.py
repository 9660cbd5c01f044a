"""Can jobs be kept apart by namespaces on this machine? Tried out, since a kernel or a container may offer and not permit."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

from quotatree.engines.local.server.birth import SOURCE

TRY_SECONDS: Final = 20.0
BOOT: Final = "import sys; sys.path.insert(0, sys.argv[1]); from quotatree.engines.local.host.sandbox import main; main()"


def why_no_namespaces() -> str:
    """Why jobs cannot be kept apart by namespaces here; "" if they can."""
    try:
        tried = subprocess.run(
            [sys.executable, "-I", "-S", "-c", BOOT, SOURCE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd="/",
            env={},
            timeout=TRY_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return "" if tried.returncode == 0 else tried.stderr.strip()[-300:] or "it was not permitted"
