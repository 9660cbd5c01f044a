"""Where is JupyterLab, and how is it started? The command of a notebook that names none."""

from __future__ import annotations

import os
import sys

from quotatree.engines.local.host.environment import PATH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "jupyter-lab"


def find(env: Mapping[str, str] | None) -> str | None:
    """Path of JupyterLab, looked for in the notebook's own PATH, then beside the server's interpreter; None if absent."""
    path = (env or {}).get("PATH") or PATH
    for directory in [*path.split(os.pathsep), os.path.dirname(sys.executable)]:
        found = os.path.join(directory, NAME)
        if os.path.isabs(found) and os.path.isfile(found) and os.access(found, os.X_OK):
            return found
    return None


def command(env: Mapping[str, str] | None, *, as_root: bool) -> str:
    """Shell command that starts it. The token goes by a variable: every user of the machine can read command lines."""
    quoted = "'" + (find(env) or NAME).replace("'", "'\\''") + "'"
    return (
        f'JUPYTER_TOKEN="$QUOTATREE_TOKEN" exec {quoted} --no-browser --ServerApp.ip=127.0.0.1 '
        '--ServerApp.port="$QUOTATREE_PORT" --ServerApp.port_retries=0 --ServerApp.root_dir="$PWD"'
        + (" --allow-root" if as_root else "")
    )
